import { ApiError, isTransientStatus, requestId } from '../http/errors.js';
import type { Answer, Request } from '../http/exchange.js';
import { retryAfter } from '../http/retry-after.js';
import { isAbsent, isObject, isText, type Json, parseJson, TooNested, textOf } from '../text/json.js';
import { plain } from '../text/plain.js';
import { Misshapen } from './records.js';

/** Reads the needed fields of a body. Throws `UnexpectedShapeError` if one is missing. */
export type Take<T> = (body: Json, answer: Answer) => T;

/** Returns the decoded response, or throws the error that the response is. `date`: milliseconds since 1970. */
export function read<T>(request: Request, answer: Answer, date: number, take: Take<T>): T {
  const { status } = answer;
  const isPage = isHtml(answer);
  const told = (said: string, transient = isTransientStatus(status)) =>
    new ApiError(`${request.method} ${plain(request.url.pathname)}: ${said}${withId(answer)}`, {
      status,
      transient,
      retryAfter: retryAfter(answer.headers, date),
      // An HTML page may come from a proxy, so its status does not prove that the request had no effect.
      unclear: isPage || answer.isToRepeat === true || !isRefusal(status),
      isPage,
    });

  if (status >= 300 && status < 400 && status !== 304) {
    throw told(`${status}, a redirect ${target(request, answer)}, which is not followed`);
  }
  if (status === 206) throw told('status 206, a part of an answer that was asked for as a whole', false);
  if (status < 200 || status >= 300) throw told(`status ${status}${said(request, answer)}`);
  let body: Json;
  try {
    // The documentation does not describe the response to a DELETE, so an empty body is accepted.
    body = request.method === 'DELETE' && answer.body.trim() === '' ? null : parseJson(answer.body);
  } catch (error) {
    // The error of JSON.parse quotes the text, which may contain a key.
    const isNested = error instanceof TooNested;
    const unusable = isHtml(answer)
      ? pageInPlace(answer)
      : answer.body.trim() === ''
        ? 'an empty body'
        : `a body that is ${isNested ? 'nested too deeply' : 'not JSON'}`;
    throw told(`status ${status} with ${unusable}`, !isNested);
  }
  try {
    return take(body, answer);
  } catch (error) {
    if (!(error instanceof Misshapen)) throw error;
    // A repeated GET or DELETE would get the same response. A repeated POST creates something new.
    throw told(`status ${status} with an unusable answer: ${error.message}`, request.method === 'POST');
  }
}

/** A service that sends one of these statuses did not carry out the request. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 425;
}

/** The message and code of an error response. Its format is not documented, so several field names are tried. */
function said({ method }: Request, answer: Answer): string {
  if (isHtml(answer)) return ` with ${pageInPlace(answer)}`;
  let body: Json;
  try {
    body = parseJson(answer.body);
  } catch {
    // Even a part of a POST response can contain the new key.
    return answer.body.trim() === '' || method === 'POST' ? '' : `: ${plain(answer.body)}`;
  }
  if (!isObject(body)) return typeof body === 'string' && method !== 'POST' ? `: ${plain(body)}` : '';
  const inner = isObject(body['error']) ? body['error'] : body;
  // A POST response can contain the new key. So only text is shown, and nothing in it that is as long as a key.
  const isShown = (value: Json | undefined) => !isAbsent(value) && value !== '' && (method !== 'POST' || isText(value));
  const first = (names: string[]) => {
    const value = names.map((name) => inner[name]).find(isShown);
    return method === 'POST' && value !== undefined ? textOf(value).replace(/[\w+/=.-]{24,}/g, '***') : value;
  };
  const message = first(['message', 'detail', 'error', 'error_description', 'title']);
  const code = first(['code', 'error_code', 'type']);
  return `${message === undefined ? '' : `: ${plain(textOf(message))}`}${code === undefined ? '' : ` (code ${plain(textOf(code), 60)})`}`;
}

function isHtml(answer: Answer): boolean {
  return (
    /^\s*<(!doctype|html|head|body|\?xml)/i.test(answer.body.slice(0, 1_000)) ||
    /\bhtml\b/i.test(answer.headers['content-type'] ?? '')
  );
}

function pageInPlace(answer: Answer): string {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(answer.body.slice(0, 20_000))?.[1];
  return `an HTML page${title === undefined ? '' : ` “${plain(title, 80)}”`} in place of JSON (a proxy's or a login page?)`;
}

/** Origin and path only, because a query can contain a token. */
function target(request: Request, answer: Answer): string {
  const location = answer.headers['location'];
  if (location === undefined || !URL.canParse(location, request.url.href)) return 'without a usable target';
  const { origin, pathname } = new URL(location, request.url);
  return `to ${plain(origin + pathname, 200)}`;
}

function withId(answer: Answer): string {
  const id = requestId(answer) ?? idInBody(answer);
  return id === undefined ? '' : ` [request id ${plain(id, 80)}]`;
}

function idInBody({ body }: Answer): string | undefined {
  return /"request_?id"\s*:\s*"([^"\\]{1,80})"/i.exec(body.slice(0, 4_000))?.[1];
}
