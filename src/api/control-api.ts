import { RequestError, requestId } from '../http/errors.js';
import { type Exchange, type HttpRequest, type HttpResponse, TransportError } from '../http/exchange.js';
import { type RequestPolicy, withRetries } from '../http/retry.js';
import { parseDateHeader } from '../http/retry-after.js';
import { isObject } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import type { Clock } from '../time/clock.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { type KeyList, type MintedKey, parseKeyList, parseMintedKey, parseRevoked } from './keys.js';
import type { Log } from './log.js';
import { type Page, pageSize, pages } from './paging.js';
import { type Decode, parseResponse } from './parse-response.js';
import {
  type ApiRecord,
  type Operation,
  parseCursor,
  parseList,
  parseOperation,
  parseProject,
  unexpectedShape,
} from './records.js';
import { redactSecret } from './redacting-exchange.js';

/** Bytes, each far more than such a body needs. 256 MiB hold 670,000 projects of 400 bytes (see `bench/lists.ts`). */
const maxRecordBytes = 2 ** 20;
const maxListBytes = 64 * 2 ** 20;
const maxProjectsBytes = 256 * 2 ** 20;

interface Access {
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds for one exchange, response body included. */
  readonly requestTimeout: number;
  /** The name of the input that sets it, for the error message. */
  readonly requestTimeoutInput?: string | undefined;
}

interface Call {
  readonly method: HttpRequest['method'];
  /** Relative to the base URL, query included. */
  readonly path: string;
  readonly maxBytes: number;
  readonly body?: string;
}

/** The client of the control API, with one method for each endpoint. */
export class ControlApi {
  readonly #exchange: Exchange;
  /** Like `#exchange`, but removes the key from responses. */
  readonly #redactedExchange: Exchange;
  readonly #access: Access;
  readonly #base: string;
  readonly #log: Log;
  /** Milliseconds by which the service's clock is ahead of the runner's, from the last response with a `Date`. */
  #clockSkew = 0;
  #warnedOfPages = false;

  constructor(exchange: Exchange, access: Access, log: Log) {
    this.#exchange = exchange;
    this.#redactedExchange = redactSecret(access.apiKey, exchange);
    this.#access = access;
    this.#base = access.baseUrl.href.replace(/(?<!\/)\/+$/, '');
    this.#log = log;
  }

  /** The same client with at most `ms` milliseconds for one exchange. */
  withRequestTimeout(ms: number): ControlApi {
    const requestTimeout = Math.min(ms, this.#access.requestTimeout);
    return new ControlApi(this.#exchange, { ...this.#access, requestTimeout }, this.#log);
  }

  /** The current time on the service's clock, in milliseconds since 1970. Before the first response: on the runner's. */
  serviceEpochMs(clock: Clock): number {
    return clock.epochMs() + this.#clockSkew;
  }

  async operation(projectId: string, id: string, policy: RequestPolicy): Promise<Operation> {
    const path = `projects/${encodeURIComponent(projectId)}/operations/${encodeURIComponent(id)}`;
    return this.#get(path, maxRecordBytes, policy, (body) => {
      const operation = parseOperation(isObject(body) ? body['operation'] : body, 'operation', projectId);
      // The status of another operation proves nothing about this one.
      if (operation.id !== id) throw unexpectedShape('operation.id', sanitizeId(id), operation.id);
      return operation;
    });
  }

  /** Pages of operations, newest first, `max` operations in all. */
  operations(projectId: string, max: number, policy: RequestPolicy): AsyncGenerator<Operation[]> {
    const path = `projects/${encodeURIComponent(projectId)}/operations`;
    return this.#pages(max, (cursor) => {
      const query = new URLSearchParams({ limit: String(pageSize), ...(cursor === undefined ? {} : { cursor }) });
      return this.#get(`${path}?${query}`, maxListBytes, policy, (body) => ({
        records: parseList(body, 'operations').map((item, index) =>
          parseOperation(item, `operations[${index}]`, projectId),
        ),
        cursor: parseCursor(body),
      }));
    });
  }

  /** Projects of the account. The first request has no parameters, as documented. Pages follow if the response has a cursor. */
  projects(policy: RequestPolicy): AsyncGenerator<ApiRecord[]> {
    return this.#pages(Number.POSITIVE_INFINITY, (cursor) => {
      const query = cursor === undefined ? '' : `?${new URLSearchParams({ limit: String(pageSize), cursor })}`;
      return this.#get(`projects${query}`, maxProjectsBytes, policy, (body) => ({
        records: parseList(body, 'projects').map((item, index) => parseProject(item, `projects[${index}]`)),
        cursor: parseCursor(body),
      }));
    });
  }

  /** Warns once per step, even if it reads many lists. */
  #pages<T extends ApiRecord>(
    max: number,
    fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
  ): AsyncGenerator<T[]> {
    return pages(max, fetchPage, () => {
      if (this.#warnedOfPages) return;
      this.#warnedOfPages = true;
      this.#log.warning(
        'A list may be incomplete: a page contained no new records, so the service may ignore the cursor. Compare the result with the console.',
      );
    });
  }

  /** Sends one attempt. Before a retry, the caller must find out whether the last attempt took effect. */
  createKey(name: string, deadline: Deadline): Promise<MintedKey> {
    const body = JSON.stringify({ key_name: name });
    return this.#attempt(
      { method: 'POST', path: 'api_keys', maxBytes: maxRecordBytes, body },
      deadline,
      parseMintedKey,
    );
  }

  keys(policy: RequestPolicy): Promise<KeyList> {
    return this.#get('api_keys', maxListBytes, policy, parseKeyList);
  }

  /** Sends one attempt. Returns whether the response explicitly says that the key is revoked. */
  revokeKey(id: string, deadline: Deadline): Promise<boolean> {
    return this.#attempt({ method: 'DELETE', path: `api_keys/${id}`, maxBytes: maxRecordBytes }, deadline, (body) =>
      parseRevoked(body, id),
    );
  }

  /** Decodes the response as part of the attempt, so an unusable response is a failed attempt. */
  #get<T>(path: string, maxBytes: number, policy: RequestPolicy, decode: Decode<T>): Promise<T> {
    return withRetries(() => this.#attempt({ method: 'GET', path, maxBytes }, policy.deadline, decode), policy);
  }

  async #attempt<T>({ method, path, maxBytes, body }: Call, deadline: Deadline, decode: Decode<T>): Promise<T> {
    const { apiKey, requestTimeout } = this.#access;
    const { clock } = deadline;
    const request: HttpRequest = {
      method,
      url: new URL(`${this.#base}/${path}`),
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      maxBytes,
    };
    const began = clock.now();
    const logOutcome = (outcome: string) => {
      const { pathname, search } = request.url;
      this.#log.debug(
        `${method} ${sanitizeLine(pathname + search)} ${outcome} after ${Math.round(clock.now() - began)} ms`,
      );
    };

    const requestDeadline = deadline.within(requestTimeout);
    let response: HttpResponse;
    try {
      response = await requestDeadline.race((onCancel) => this.#redactedExchange(request, onCancel));
    } catch (error) {
      const failure =
        error instanceof DeadlineExceeded && requestDeadline.expiresAt < deadline.expiresAt
          ? requestTimedOut(this.#access)
          : error;
      logOutcome(failure instanceof Error ? failure.message : String(failure));
      if (!(failure instanceof TransportError)) throw failure;
      throw new RequestError(`${method} ${sanitizeLine(request.url.pathname)}: ${failure.message}`, failure, {
        cause: error,
      });
    }
    const serviceNow = parseDateHeader(response.headers);
    if (serviceNow !== undefined) this.#clockSkew = serviceNow - clock.epochMs();
    if (response.wasResent) logOutcome('hit a closed connection and was retried on a new one');
    logOutcome(`status ${response.status}, request id ${sanitizeId(requestId(response) ?? 'unknown')}`);
    const result = parseResponse(request, response, clock.epochMs(), decode);
    // A deadline cannot interrupt the parser, so this line checks it afterwards.
    if (deadline.isExpired) throw new DeadlineExceeded();
    return result;
  }
}

function requestTimedOut({ requestTimeout, requestTimeoutInput }: Access): TransportError {
  const input = requestTimeoutInput === undefined ? '' : ` (${requestTimeoutInput})`;
  return new TransportError(`No complete response within ${formatDuration(requestTimeout)}${input}`);
}
