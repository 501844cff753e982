import { isObject, type Json, parseJson, textOf } from '../text/json.js';
import { plain } from '../text/plain.js';
import { ApiError, isTransientStatus, requestId } from './errors.js';
import type { Answer, Request } from './exchange.js';
import { Misshapen } from './records.js';
import { retryAfter } from './retry-after.js';

/** What `take` finds in a whole answer, or the error that the answer is. */
export function read<T>(request: Request, answer: Answer, date: number, take: (body: Json) => T): T {
  const { status } = answer;
  const told = (said: string, transient = isTransientStatus(status)) =>
    new ApiError(`${request.method} ${request.url.pathname}: ${said}${withId(answer)}`, {
      status,
      transient,
      retryAfter: retryAfter(answer.headers, date),
    });

  if (status >= 300 && status < 400 && status !== 304) {
    throw told(`${status}, a redirect ${target(request, answer)}, which is not followed`);
  }
  if (status < 200 || status >= 300) throw told(`status ${status}${said(answer)}`);
  let body: Json;
  try {
    body = parseJson(answer.body);
  } catch {
    // The parser's own error quotes the text, which may hold a key.
    const unusable = isHtml(answer)
      ? pageInPlace(answer)
      : answer.body.trim() === ''
        ? 'an empty body'
        : 'a body that is not JSON';
    throw told(`status ${status} with ${unusable}`, request.method === 'GET');
  }
  try {
    return take(body);
  } catch (error) {
    throw error instanceof Misshapen
      ? told(`status ${status} with an unusable answer: ${error.message}`, false)
      : error;
  }
}

/** The message and the code, wherever the service puts them: the shape of its errors is not documented. */
function said(answer: Answer): string {
  if (isHtml(answer)) return ` with ${pageInPlace(answer)}`;
  let body: Json;
  try {
    body = parseJson(answer.body);
  } catch {
    return answer.body.trim() === '' ? '' : `: ${plain(answer.body)}`;
  }
  if (!isObject(body)) return typeof body === 'string' ? `: ${plain(body)}` : '';
  const inner = isObject(body['error']) ? body['error'] : body;
  const first = (names: string[]) =>
    names.map((name) => inner[name]).find((value) => value !== undefined && value !== null && value !== '');
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

/** Only the place: a query can carry a token. */
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
