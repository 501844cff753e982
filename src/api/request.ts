import { RequestError, TransportError } from '../http/errors.js';
import type { Exchange, HttpRequest, HttpResponse } from '../http/exchange.js';
import type { Rate } from '../http/rate.js';
import type { Attempt } from '../http/retry.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { errorMessage } from '../text/sentences.js';
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
  /** Sends all requests of the step. */
  readonly rate: Rate;
}

/** A request of the user's own: its path and query are relative to the base URL. */
export interface Change {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string | undefined;
}

export interface Call extends Omit<HttpRequest, 'url' | 'headers'> {
  /** Path and query, relative to the base URL. */
  readonly path: string;
  /** Gets the body of any response before anything can print it. */
  readonly onBody?: (body: string) => void;
}

export function createRequest({ path, onBody: _, ...call }: Call, { baseUrl, apiKey }: Connection): HttpRequest {
  return {
    ...call,
    url: new URL(`${baseUrl.href.replace(/(?<!\/)\/+$/, '')}/${path}`),
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: 'application/json',
      // A cache on the way could answer with a state that is over.
      ...(call.method === 'GET' ? { 'cache-control': 'no-cache' } : {}),
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  };
}

/** Sends a request and logs its outcome. */
export async function sendRequest(
  request: HttpRequest,
  { deadline, patience }: Attempt,
  { exchange, log }: Connection,
): Promise<HttpResponse> {
  const { method, url } = request;
  const { clock } = deadline;
  const began = clock.now();
  const logOutcome = (outcome: string) =>
    log.debug(
      `${method} ${sanitizeLine(url.pathname + url.search)} ${outcome} (${Math.round(clock.now() - began)} ms)`,
    );

  let isConnecting = false;
  const onConnecting = (is: boolean) => {
    isConnecting = is;
  };
  try {
    const response = await deadline.raceFor(patience, (onCancel) => exchange({ ...request, onConnecting }, onCancel));
    if (response === undefined) {
      const what = `No ${isConnecting ? 'connection' : 'complete response'} within ${formatDuration(patience)}`;
      throw new TransportError(what, { isSilence: true, mayHaveTakenEffect: !isConnecting });
    }
    // In the response to a create, even the request id can be the new key.
    const id = request.makesKey ? '' : `, request id ${sanitizeId(requestId(response) ?? 'unknown')}`;
    logOutcome(`status ${response.status}${id}`);
    return response;
  } catch (error) {
    logOutcome(errorMessage(error));
    if (!(error instanceof TransportError)) throw error;
    throw new RequestError(`${method} ${sanitizeLine(url.pathname)}: ${error.message}`, error, { cause: error });
  }
}
