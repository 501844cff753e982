import { RequestError, TransportError } from '../http/errors.js';
import type { Exchange, HttpRequest, HttpResponse } from '../http/exchange.js';
import type { Rate } from '../http/rate.js';
import type { Attempt } from '../http/retry.js';
import { secretEncodings } from '../text/encodings.js';
import { parseJsonOrUndefined, printJson } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';
import { requestId } from './parse-response.js';

/** The API client and the modes write their log lines here. */
export interface Log {
  info(line: string): void;
  warning(line: string): void;
  debug(line: string): void;
}

/** How a client reaches the service. */
export interface Connection {
  readonly exchange: Exchange;
  readonly log: Log;
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Keys that other requests of the step send. They are removed from responses, too. */
  readonly otherKeys?: readonly string[];
  /** Sends all requests of the step. */
  readonly rate: Rate;
}

/** A request of the user's own: its path and query are relative to the base URL. */
export interface Change {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string | undefined;
}

export interface Call extends Pick<HttpRequest, 'method' | 'maxBytes' | 'onNewConnection' | 'makesKey' | 'mayBeEmpty'> {
  /** Path and query, relative to the base URL. */
  readonly path: string;
  readonly body?: string | undefined;
  /** Gets the body of any response before anything can print it. */
  readonly onBody?: (body: string) => void;
}

export function createRequest({ path, body, onBody: _, ...call }: Call, { baseUrl, apiKey }: Connection): HttpRequest {
  return {
    ...call,
    ...(body === undefined ? {} : { body }),
    url: new URL(`${baseUrl.href.replace(/(?<!\/)\/+$/, '')}/${path}`),
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      // A cache on the way could answer with a state that is over.
      ...(call.method === 'GET' ? { 'cache-control': 'no-cache' } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  };
}

/** Sends a request and logs its outcome. Removes the API key from the response. */
export async function sendRequest(
  request: HttpRequest,
  { deadline, patience }: Attempt,
  connection: Connection,
): Promise<HttpResponse> {
  const { exchange, log } = connection;
  const { method } = request;
  const { pathname, search } = request.url;
  const { clock } = deadline;
  const began = clock.now();
  const logOutcome = (outcome: string) =>
    log.debug(`${method} ${sanitizeLine(pathname + search)} ${outcome} (${Math.round(clock.now() - began)} ms)`);

  let response: HttpResponse | undefined;
  try {
    response = await deadline.raceFor(patience, (onCancel) => exchange(request, onCancel));
    if (response === undefined)
      throw new TransportError(`No complete response within ${formatDuration(patience)}`, { isSilence: true });
    response = redactResponse(response, connection);
  } catch (error) {
    logOutcome(error instanceof Error ? error.message : String(error));
    if (!(error instanceof TransportError)) throw error;
    throw new RequestError(`${method} ${sanitizeLine(pathname)}: ${error.message}`, error, { cause: error });
  }
  // In the response to a create, even the request id can be the new key.
  const id = request.makesKey ? '' : `, request id ${sanitizeId(requestId(response) ?? 'unknown')}`;
  logOutcome(`status ${response.status}${id}`);
  return response;
}

/** Removes all API keys that the response repeats. The runner would not mask part of a key in a shortened message. */
function redactResponse(response: HttpResponse, { apiKey, otherKeys = [] }: Connection): HttpResponse {
  const encodings = [apiKey, ...otherKeys].flatMap(secretEncodings);
  const redact = (text: string) => encodings.reduce((rest, form) => rest.replaceAll(form, '***'), text);
  // Node returns `set-cookie` as an array. This header is not needed.
  const textHeaders = Object.entries(response.headers).filter(([, value]) => typeof value === 'string');
  // A URL parser drops tabs, so a key split by tabs would become whole again.
  const redactHeader = (text: string) => redact(text.replaceAll('\t', ' '));
  const headers = Object.fromEntries(textHeaders.map(([name, value = '']) => [name, redactHeader(value)]));
  return { ...response, headers, body: redactBody(response.body, redact) };
}

/** JSON can escape any character of a secret. Parsing and printing the body removes these escapes. */
function redactBody(body: string, redact: (text: string) => string): string {
  if (!body.includes('\\') || !/\\(\/|u00[2-7])/i.test(body)) return redact(body);
  const json = parseJsonOrUndefined(body);
  if (json !== undefined) return redact(printJson(json));
  const unescaped = body
    .replaceAll('\\/', '/')
    .replace(/\\u00([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const redacted = redact(unescaped);
  // A body that is not JSON is only shown to users. The prefix keeps the redacted body from being parsed as JSON.
  return redacted === unescaped ? body : `… ${redacted}`;
}
