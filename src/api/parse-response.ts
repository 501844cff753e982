import { RequestError } from '../http/errors.js';
import { type HttpHeaders, type HttpRequest, type HttpResponse, parseRetryAfter } from '../http/exchange.js';
import { isTransientStatus } from '../http/retry.js';
import { hasContent, isObject, isText, type Json, parseJsonOrUndefined, toText } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';

/** Returns the decoded body, or throws an error that describes the response. `nowMs`: milliseconds since 1970. */
export function parseResponse<T>(request: HttpRequest, response: HttpResponse, nowMs: number, decode: Decode<T>): T {
  const { method } = request;
  const { status, headers, body: text } = response;
  const quote = quoting(request, status);
  const isPage = isHtml(response);
  const failure = (what: string, transient: boolean) => {
    const [, inHeader] = Object.entries(headers).find(([name]) => name.endsWith('request-id')) ?? [];
    const inBody = /"request_?id"\s*:\s*"([^"\\]{1,80})"/i.exec(text.slice(0, 4_000))?.[1];
    const id = sanitizeId(quote(inHeader ?? inBody ?? ''));
    return new RequestError(what + (id && ` [request id ${id}]`), {
      status,
      transient,
      retryAfterMs: parseRetryAfter(headers, nowMs),
      // Every 4xx but these two proves that the service did not carry out the request. Of pages, only these three do.
      mayHaveTakenEffect: isPage
        ? ![407, 423, 429].includes(status)
        : status < 400 || status >= 500 || status === 408 || status === 409,
      isPage,
    });
  };

  if (status === 206) throw failure('status 206 (partial content)', true);
  if (status < 200 || status >= 400) {
    // A proxy may have sent the page, for example with a 502. Only its 407 (login needed) is final.
    const isProxyFailure = isPage && status !== 407;
    const said = isPage ? ` with ${aPage}` : serviceMessage(text, quote);
    throw failure(`status ${status}${said}`, isProxyFailure || isTransientStatus(status));
  }
  if (status >= 300) throw failure(`status ${status}: the redirect was not followed`, false);
  const isEmpty = text.trim() === '';
  // A change may have an empty response. To a create, it has no key.
  const body = isEmpty && method !== 'GET' ? {} : parseJsonOrUndefined(text);
  const shape = isPage ? aPage : isEmpty ? 'an empty body' : 'a body that is not JSON';
  if (body === undefined) throw failure(`status ${status} with ${shape}`, true);
  try {
    return decode(body, headers);
  } catch (error) {
    if (!(error instanceof UnexpectedShapeError)) throw error;
    const said = method === 'GET' && hasError(body) ? serviceMessage(text, quote) : '';
    throw failure(`status ${status} with an unusable response: ${error.message}${said}`, method !== 'DELETE');
  }
}

type Quote = (text: string) => string;

/** The response to a create can contain the new key. So only a 4xx is quoted, and words that may be a key are hidden. */
function quoting({ method, url }: HttpRequest, status: number): Quote {
  if (method !== 'POST' || !url.pathname.endsWith('/api_keys')) return (text) => text;
  if (status < 400 || status >= 500) return () => '';
  const mayBeKey = (word: string) => word.length >= 16 || (/[a-z]/i.test(word) && /\d/.test(word));
  return (text) => text.replace(/[\x21-\x7e]{8,}/g, (word) => (mayBeKey(word) ? '***' : word));
}

/** The message and code of an error response. Their field names are not documented, so common ones are tried. */
function serviceMessage(text: string, quote: Quote): string {
  const json = parseJsonOrUndefined(text);
  // A cut body may hold a secret with JSON's escapes.
  const isPlain = json === undefined && !/^\s*["{[]/.test(text);
  const body = isObject(json) ? json : { message: isPlain ? text : null };
  const fields = isObject(body['error']) ? body['error'] : body;
  const first = (names: string[], max?: number) => {
    const value = names.map((name) => fields[name]).find((each) => isText(each) || typeof each === 'number') ?? '';
    return sanitizeLine(quote(toText(value)), max);
  };
  const message = first(['message', 'detail', 'error', 'error_description', 'title']);
  const code = first(['code', 'error_code', 'type'], 60);
  return `${message && `: ${message}`}${code && ` (code ${code})`}`;
}

const aPage = 'an HTML page instead of JSON (from a proxy or a login page?)';

function isHtml({ headers, body }: HttpResponse): boolean {
  const hasTag = /^\s*<(!doctype|html|head|body|\?xml)/i.test(body.slice(0, 1_000));
  return hasTag || /\bhtml\b/i.test(headers['content-type'] ?? '');
}

/** Reads the required fields of a body. Throws `UnexpectedShapeError` if one is missing or invalid. */
export type Decode<T> = (body: Json, headers: HttpHeaders) => T;

export class UnexpectedShapeError extends Error {}

export function unexpectedShape(place: string, expected: string, value: Json | undefined): UnexpectedShapeError {
  const shown = Array.isArray(value) ? 'an array' : isObject(value) ? 'an object' : toText(value ?? 'missing');
  return new UnexpectedShapeError(`\`${place}\` should be ${expected}, but is ${sanitizeLine(shown, 60) || 'empty'}`);
}

/** Some services report an internal error as a 200 with an `error`. */
export function hasError(body: Json): boolean {
  return isObject(body) && (hasContent(body['error']) || hasContent(body['errors']));
}
