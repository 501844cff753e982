import { ApiError, requestId } from '../http/errors.js';
import { type Answer, Broken, type Exchange, type Request } from '../http/exchange.js';
import { type Manner, withRetries } from '../http/retry.js';
import { serviceEpochMs } from '../http/retry-after.js';
import { isObject } from '../text/json.js';
import { plain } from '../text/plain.js';
import type { Clock } from '../time/clock.js';
import { formatDuration } from '../time/duration.js';
import { type Limit, TimeUp } from '../time/limit.js';
import { read, type Take } from './answers.js';
import { type KeyList, type MintedKey, mintedIn, parseKeyList, saysRevoked } from './keys.js';
import type { Log } from './log.js';
import { type Page, pageSize, pages } from './paging.js';
import { cursorIn, listIn, misshapen, type Operation, operationOf, projectOf, type Recorded } from './records.js';
import { forgetting } from './secrecy.js';

/** Bytes, each far more than such a body needs. 256 MiB hold 670,000 projects of 400 bytes (see `bench/lists.ts`). */
const oneRecord = 2 ** 20;
const oneList = 64 * 2 ** 20;
const allProjects = 256 * 2 ** 20;

export interface Access {
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds for one exchange, response body included. */
  readonly requestTimeout: number;
  /** The name of the input that sets it, for the error message. */
  readonly requestTimeoutInput?: string | undefined;
}

interface Call {
  readonly method: Request['method'];
  /** Relative to the base URL, query included. */
  readonly path: string;
  readonly mostBytes: number;
  readonly body?: string;
}

/** The client of the control API, with one method for each endpoint. */
export class ControlApi {
  readonly #exchange: Exchange;
  /** Like `#exchange`, but removes the key from responses. */
  readonly #ask: Exchange;
  readonly #access: Access;
  readonly #base: string;
  readonly #log: Log;
  /** Milliseconds by which the service's clock is ahead of the runner's, from the last response with a `Date`. */
  #clockSkew = 0;
  #warnedOfPages = false;

  constructor(exchange: Exchange, access: Access, log: Log) {
    this.#exchange = exchange;
    this.#ask = forgetting(access.apiKey, exchange);
    this.#access = access;
    this.#base = access.baseUrl.href.replace(/(?<!\/)\/+$/, '');
    this.#log = log;
  }

  /** The same client with at most `ms` milliseconds for one exchange. */
  hurried(ms: number): ControlApi {
    const requestTimeout = Math.min(ms, this.#access.requestTimeout);
    return new ControlApi(this.#exchange, { ...this.#access, requestTimeout }, this.#log);
  }

  /** The current time on the service's clock, in milliseconds since 1970. Before the first response: on the runner's. */
  epochMs(clock: Clock): number {
    return clock.date() + this.#clockSkew;
  }

  async operation(projectId: string, id: string, manner: Manner): Promise<Operation> {
    const path = `projects/${encodeURIComponent(projectId)}/operations/${encodeURIComponent(id)}`;
    return this.#get(path, oneRecord, manner, (body) => {
      const operation = operationOf(isObject(body) ? body['operation'] : body, 'operation', projectId);
      // The status of another operation proves nothing about this one.
      if (operation.id !== id) throw misshapen('operation.id', plain(id, 80), operation.id);
      return operation;
    });
  }

  /** Pages of operations, newest first, `max` operations in all. */
  operations(projectId: string, most: number, manner: Manner): AsyncGenerator<Operation[]> {
    const path = `projects/${encodeURIComponent(projectId)}/operations`;
    return this.#pages(most, (cursor) => {
      const query = new URLSearchParams({ limit: String(pageSize), ...(cursor === undefined ? {} : { cursor }) });
      return this.#get(`${path}?${query}`, oneList, manner, (body) => ({
        records: listIn(body, 'operations').map((item, index) => operationOf(item, `operations[${index}]`, projectId)),
        cursor: cursorIn(body),
      }));
    });
  }

  /** Projects of the account. The first request has no parameters, as documented. Pages follow if the response has a cursor. */
  projects(manner: Manner): AsyncGenerator<Recorded[]> {
    return this.#pages(Number.POSITIVE_INFINITY, (cursor) => {
      const query = cursor === undefined ? '' : `?${new URLSearchParams({ limit: String(pageSize), cursor })}`;
      return this.#get(`projects${query}`, allProjects, manner, (body) => ({
        records: listIn(body, 'projects').map((item, index) => projectOf(item, `projects[${index}]`)),
        cursor: cursorIn(body),
      }));
    });
  }

  /** Warns once per step, even if it reads many lists. */
  #pages<T extends Recorded>(
    most: number,
    fetch: (cursor: string | undefined) => Promise<Page<T>>,
  ): AsyncGenerator<T[]> {
    return pages(most, fetch, () => {
      if (this.#warnedOfPages) return;
      this.#warnedOfPages = true;
      this.#log.warning(
        'A list may be incomplete: the service sent a page without any new record, so it may ignore the cursor that leads to the next page. Compare the result with the console.',
      );
    });
  }

  /** Sends one attempt. Before a retry, the caller must find out whether the last attempt took effect. */
  createKey(name: string, limit: Limit): Promise<MintedKey> {
    const body = JSON.stringify({ key_name: name });
    return this.#try({ method: 'POST', path: 'api_keys', mostBytes: oneRecord, body }, limit, mintedIn);
  }

  keys(manner: Manner): Promise<KeyList> {
    return this.#get('api_keys', oneList, manner, parseKeyList);
  }

  /** Sends one attempt. Returns whether the response explicitly says that the key is revoked. */
  revokeKey(id: string, limit: Limit): Promise<boolean> {
    return this.#try({ method: 'DELETE', path: `api_keys/${id}`, mostBytes: oneRecord }, limit, (body) =>
      saysRevoked(body, id),
    );
  }

  /** Decodes the response as part of the attempt, so an unusable response is a failed attempt. */
  #get<T>(path: string, mostBytes: number, manner: Manner, take: Take<T>): Promise<T> {
    return withRetries(() => this.#try({ method: 'GET', path, mostBytes }, manner.limit, take), manner);
  }

  async #try<T>({ method, path, mostBytes, body }: Call, limit: Limit, take: Take<T>): Promise<T> {
    const { apiKey, requestTimeout } = this.#access;
    const { clock } = limit;
    const request: Request = {
      method,
      url: new URL(`${this.#base}/${path}`),
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      mostBytes,
    };
    const began = clock.now();
    const tell = (outcome: string) => {
      const { pathname, search } = request.url;
      this.#log.debug(`${method} ${plain(pathname + search)} ${outcome} after ${Math.round(clock.now() - began)} ms`);
    };

    const own = limit.within(requestTimeout);
    let answer: Answer;
    try {
      answer = await own.run((onStop) => this.#ask(request, onStop));
    } catch (error) {
      const failure = error instanceof TimeUp && own.at < limit.at ? tooSlow(this.#access) : error;
      tell(failure instanceof Error ? failure.message : String(failure));
      if (!(failure instanceof Broken)) throw failure;
      throw new ApiError(`${method} ${plain(request.url.pathname)}: ${failure.message}`, failure, { cause: error });
    }
    const serviceNow = serviceEpochMs(answer.headers);
    if (serviceNow !== undefined) this.#clockSkew = serviceNow - clock.date();
    if (answer.isToRepeat) tell('met a closed connection, and was sent again on a new one');
    tell(`status ${answer.status}, request id ${plain(requestId(answer) ?? 'unknown', 80)}`);
    const taken = read(request, answer, clock.date(), take);
    // No deadline can interrupt a parser, so it is checked afterwards.
    if (limit.struck) throw new TimeUp();
    return taken;
  }
}

function tooSlow({ requestTimeout, requestTimeoutInput }: Access): Broken {
  const input = requestTimeoutInput === undefined ? '' : ` (${requestTimeoutInput})`;
  return new Broken(`No complete response within ${formatDuration(requestTimeout)}${input}`);
}
