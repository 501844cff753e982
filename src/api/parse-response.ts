import { RequestError } from '../http/errors.js';
import type { HttpRequest, HttpResponse } from '../http/exchange.js';
import { isTransientStatus } from '../http/retry.js';
import { parseRetryAfter } from '../http/retry-after.js';
import {
  hasContent,
  isObject,
  isText,
  type Json,
  NestingTooDeep,
  parseJson,
  parseJsonOrUndefined,
  toText,
} from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';

/** Returns the decoded body, or throws an error that describes the response. `nowMs`: milliseconds since 1970. */
export function parseResponse<T>(request: HttpRequest, response: HttpResponse, nowMs: number, decode: Decode<T>): T {
  const { status } = response;
  const page = describePage(request, response);
  const isPage = page !== undefined;
  const isEmpty = response.body.trim() === '';
  // A proxy may have sent the page, for example with a 502. Only its 407 (login needed) is final.
  const isProxyFailure = isPage && status >= 400 && status !== 407;
  // Every 4xx but these two proves that the service did not carry out the request.
  const isRejected = status >= 400 && status < 500 && status !== 408 && status !== 409;
  const toError = (message: string, transient = isProxyFailure || isTransientStatus(status)) => {
    const id = sanitizeId(quotable(requestId(response) ?? '', request, response));
    const suffix = id && ` [request id ${id}]`;
    return new RequestError(`${request.method} ${sanitizeLine(request.url.pathname)}: ${message}${suffix}`, {
      status,
      transient,
      retryAfterMs: parseRetryAfter(response.headers, nowMs),
      // A proxy may have sent an HTML page, so the status of a page does not prove that the request had no effect.
      mayHaveTakenEffect: isPage || !isRejected,
      isPage,
    });
  };

  if (status >= 300 && status < 400 && status !== 304)
    throw toError(`status ${status}: the redirect ${redirectTarget(request, response)} was not followed`);
  if (status === 206) throw toError('status 206 (partial content), but the whole response was requested', false);
  if (status < 200 || status >= 300)
    throw toError(`status ${status}${page === undefined ? serviceMessage(request, response) : ` with ${page}`}`);
  let body: Json;
  try {
    body = request.mayBeEmpty && isEmpty ? null : parseJson(response.body);
  } catch (error) {
    // JSON.parse's error is dropped, because it quotes the body, which may contain a key.
    const isNested = error instanceof NestingTooDeep;
    const other = isEmpty ? 'an empty body' : `a body that is ${isNested ? 'nested too deeply' : 'not JSON'}`;
    throw toError(`status ${status} with ${page ?? other}`, !isNested);
  }
  try {
    return decode(body, response);
  } catch (error) {
    if (!(error instanceof UnexpectedShapeError)) throw error;
    const said = !request.makesKey && hasError(body) ? serviceMessage(request, response) : '';
    throw toError(`status ${status} with an unusable response: ${error.message}${said}`, request.method !== 'DELETE');
  }
}

/** The response to a create can contain the new key. So only a 4xx is quoted, and words that may be a key are hidden. */
function quotable(text: string, { makesKey }: HttpRequest, { status }: HttpResponse): string {
  if (!makesKey) return text;
  if (status < 400 || status >= 500) return '';
  const mayBeKey = (word: string) => word.length >= 16 || (/[a-z]/i.test(word) && /\d/.test(word));
  return text.replace(/[\x21-\x7e]{8,}/g, (word) =>
    mayBeKey(word) ? `***${/[.,;:!?]$/.exec(word)?.[0] ?? ''}` : word,
  );
}

/** Returns the message and code of an error response. Their field names are not documented, so common ones are tried. */
function serviceMessage(request: HttpRequest, response: HttpResponse): string {
  const json = parseJsonOrUndefined(response.body);
  const body = isObject(json) ? json : { message: json === undefined ? response.body : isText(json) ? json : '' };
  const fields = isObject(body['error']) ? body['error'] : body;
  const first = (names: string[], max?: number) => {
    const value = names.map((name) => fields[name]).find((each) => (each ?? '') !== '') ?? '';
    return sanitizeLine(quotable(toText(value), request, response), max);
  };
  const message = first(['message', 'detail', 'error', 'error_description', 'title']);
  const code = first(['code', 'error_code', 'type'], 60);
  return `${message && `: ${message}`}${code && ` (code ${code})`}`;
}

/** Describes an HTML page. Returns undefined for any other response. */
function describePage(request: HttpRequest, response: HttpResponse): string | undefined {
  const { headers, body } = response;
  const hasTag = /^\s*<(!doctype|html|head|body|\?xml)/i.test(body.slice(0, 1_000));
  if (!hasTag && !/\bhtml\b/i.test(headers['content-type'] ?? '')) return undefined;
  const title = quotable(/<title[^>]*>([^<]{1,200})/i.exec(body.slice(0, 20_000))?.[1] ?? '', request, response);
  return `an HTML page${title && ` “${sanitizeLine(title, 80)}”`} instead of JSON (from a proxy or a login page?)`;
}

/** Shows only the origin and path of the redirect target, because the query may contain a token. */
function redirectTarget(request: HttpRequest, response: HttpResponse): string {
  const location = response.headers['location'];
  if (location === undefined || !URL.canParse(location, request.url.href)) return 'without a usable target';
  const { protocol, host, pathname } = new URL(location, request.url);
  const origin = host === '' ? protocol : `${protocol}//${host}`;
  // The host can contain the new key, too.
  const shownOrigin = origin === request.url.origin ? origin : quotable(origin, request, response) || 'another host';
  return `to ${sanitizeLine(shownOrigin + quotable(pathname, request, response), 200)}`;
}

export function requestId({ headers, body }: HttpResponse): string | undefined {
  const inHeaders = ['x-request-id', 'request-id', 'x-correlation-id'].map((name) => headers[name]).find(Boolean);
  return inHeaders ?? /"request_?id"\s*:\s*"([^"\\]{1,80})"/i.exec(body.slice(0, 4_000))?.[1];
}

/** Reads the required fields of a body. Throws `UnexpectedShapeError` if a required field is missing or invalid. */
export type Decode<T> = (body: Json, response: HttpResponse) => T;

/** A required field is missing or has an unexpected value. The message names the field. */
export class UnexpectedShapeError extends Error {}

export function unexpectedShape(place: string, expected: string, value: Json | undefined): UnexpectedShapeError {
  const got =
    value === undefined
      ? 'missing'
      : sanitizeLine(Array.isArray(value) ? 'an array' : isObject(value) ? 'an object' : toText(value), 60);
  return new UnexpectedShapeError(`\`${place}\` should be ${expected}, but is ${got || 'empty'}`);
}

/** Some services report an internal error as a 200 with an `error`. */
export function hasError(body: Json): boolean {
  return isObject(body) && (hasContent(body['error']) || hasContent(body['errors']));
}
