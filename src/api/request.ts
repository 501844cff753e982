import { RequestError, requestId } from '../http/errors.js';
import { type Exchange, type HttpRequest, type HttpResponse, TransportError } from '../http/exchange.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import type { Log } from './log.js';
import { redactResponse } from './redact-response.js';

export interface Access {
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds for one exchange, response body included. */
  readonly requestTimeout: number;
  /** The name of the input that sets it, for the error message. */
  readonly requestTimeoutInput?: string | undefined;
}

export interface Connection {
  readonly exchange: Exchange;
  readonly access: Access;
  readonly log: Log;
}

export interface Call extends Pick<HttpRequest, 'method' | 'body' | 'maxBytes'> {
  /** Relative to the base URL, query included. */
  readonly path: string;
}

export function createRequest({ path, ...call }: Call, { baseUrl, apiKey }: Access): HttpRequest {
  return {
    ...call,
    url: new URL(`${baseUrl.href.replace(/(?<!\/)\/+$/, '')}/${path}`),
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  };
}

/** Sends one attempt and logs its outcome. No response contains the key of the request. */
export async function sendRequest(
  request: HttpRequest,
  deadline: Deadline,
  { exchange, access, log }: Connection,
): Promise<HttpResponse> {
  const { method } = request;
  const { pathname, search } = request.url;
  const { clock } = deadline;
  const began = clock.now();
  const logOutcome = (outcome: string) =>
    log.debug(`${method} ${sanitizeLine(pathname + search)} ${outcome} after ${Math.round(clock.now() - began)} ms`);

  const requestDeadline = deadline.within(access.requestTimeout);
  let response: HttpResponse;
  try {
    response = redactResponse(await requestDeadline.race((onCancel) => exchange(request, onCancel)), access.apiKey);
  } catch (error) {
    const failure =
      error instanceof DeadlineExceeded && requestDeadline.expiresAt < deadline.expiresAt
        ? requestTimedOut(access)
        : error;
    logOutcome(failure instanceof Error ? failure.message : String(failure));
    if (!(failure instanceof TransportError)) throw failure;
    throw new RequestError(`${method} ${sanitizeLine(pathname)}: ${failure.message}`, failure, { cause: error });
  }
  if (response.wasResent) logOutcome('hit a closed connection and was retried on a new one');
  logOutcome(`status ${response.status}, request id ${sanitizeId(requestId(response) ?? 'unknown')}`);
  return response;
}

function requestTimedOut({ requestTimeout, requestTimeoutInput }: Access): TransportError {
  const input = requestTimeoutInput === undefined ? '' : ` (${requestTimeoutInput})`;
  return new TransportError(`No complete response within ${formatDuration(requestTimeout)}${input}`);
}
