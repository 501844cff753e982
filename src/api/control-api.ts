import { RequestError } from '../http/errors.js';
import { type Exchange, type HttpRequest, type HttpResponse, parseHttpDate } from '../http/exchange.js';
import type { Rate } from '../http/rate.js';
import type { Attempt, Send } from '../http/retry.js';
import { isObject, type Json, type JsonObject } from '../text/json.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { errorMessage } from '../text/sentences.js';
import type { Clock } from '../time/clock.js';
import type { OnCancel } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { type Page, pages } from './paging.js';
import { type Decode, hasError, parseResponse, UnexpectedShapeError, unexpectedShape } from './parse-response.js';
import {
  type ApiRecord,
  type Key,
  type Operation,
  parseKeyList,
  parseMintedKey,
  parseOperation,
  parseProject,
  parseRevoked,
} from './records.js';

export interface Log {
  info(line: string): void;
  warning(line: string): void;
  debug(line: string): void;
}

interface Connection {
  readonly exchange: Exchange;
  readonly log: Pick<Log, 'debug'>;
  readonly baseUrl: URL;
  readonly apiKey: string;
  readonly rate: Rate;
}

export interface Call extends Pick<HttpRequest, 'method' | 'body'> {
  /** Path and query, relative to the base URL. */
  readonly path: string;
  readonly maxBytes?: number;
}

/** The maximum size of a response. Usually all projects come as one page, so it may be larger. */
const maxBytes = 8 * 2 ** 20;
const maxProjectsBytes = 64 * 2 ** 20;
const pageSize = '100';

export class ControlApi {
  /** The latest `Date` header, less the time on the step's clock when it arrived. */
  #startEpochMs: number | undefined;

  constructor(private readonly connection: Connection) {}

  /** The service's clock, in milliseconds since 1970. Undefined until a response had a `Date`. */
  knownServiceEpochMs(clock: Clock): number | undefined {
    return this.#startEpochMs && this.#startEpochMs + clock.now();
  }

  /** Before the first response with a `Date`, this is the runner's clock. */
  serviceEpochMs(clock: Clock): number {
    return this.knownServiceEpochMs(clock) ?? clock.epochMs();
  }

  operation(projectId: string, id: string, send: Send): Promise<Operation> {
    const path = `projects/${encodeURIComponent(projectId)}/operations/${encodeURIComponent(id)}`;
    return this.#get({ path }, send, (body) => {
      const operation = parseOperation(isObject(body) ? body['operation'] : body, 'operation', projectId);
      // The status of another operation proves nothing about the requested one.
      if (operation.id !== id) throw unexpectedShape('operation.id', sanitizeId(id), operation.record['id']);
      return operation;
    });
  }

  /** Pages of operations, newest first. */
  operations(projectId: string, send: Send): AsyncGenerator<Page<Operation>> {
    const path = `projects/${encodeURIComponent(projectId)}/operations`;
    const parse = (item: Json, place: string) => parseOperation(item, place, projectId);
    return pages('operations', parse, (cursor, decode) => {
      const query = new URLSearchParams({ limit: pageSize, ...(cursor && { cursor }) });
      return this.#get({ path: `${path}?${query}` }, send, decode);
    });
  }

  /** The first request has no parameters but `org_id`, as documented. A cursor in the response leads to more pages. */
  projects(send: Send, orgId?: string): AsyncGenerator<Page<ApiRecord>> {
    return pages('projects', parseProject, (cursor, decode) => {
      const query = new URLSearchParams({
        ...(cursor && { limit: pageSize, cursor }),
        ...(orgId && { org_id: orgId }),
      });
      const path = `projects${query.size === 0 ? '' : `?${query}`}`;
      return this.#get({ path, maxBytes: maxProjectsBytes }, send, decode);
    });
  }

  /** Before another attempt, the caller must check whether this one may have created a key. */
  createKey(name: string, attempt: Attempt) {
    const body = JSON.stringify({ key_name: name });
    const decode = (response: Json) => parseMintedKey(response, this.connection.apiKey);
    return this.#attempt({ method: 'POST', path: 'api_keys', body }, attempt, decode);
  }

  /** A key that the service lists as revoked is not among them. */
  keys(send: Send): Promise<Key[]> {
    return this.#get({ path: 'api_keys' }, send, parseKeyList);
  }

  revokeKey(id: string, attempt: Attempt): Promise<boolean> {
    return this.#attempt({ method: 'DELETE', path: `api_keys/${id}` }, attempt, (body) => parseRevoked(body, id));
  }

  change<T>(change: Call, attempt: Attempt, decode: (body: JsonObject) => T): Promise<T> {
    return this.#attempt(change, attempt, (body) => {
      if (!isObject(body)) throw new UnexpectedShapeError('the body is not an object');
      if (hasError(body)) throw new UnexpectedShapeError('the body has an error');
      return decode(body);
    });
  }

  /** An attempt includes decoding, so an unusable response is repeated like a failed request. */
  #get<T>(call: Omit<Call, 'method'>, send: Send, decode: Decode<T>): Promise<T> {
    return send((attempt) => this.#attempt({ method: 'GET', ...call }, attempt, decode));
  }

  #attempt<T>(call: Call, attempt: Attempt, decode: Decode<T>): Promise<T> {
    const { rate, log } = this.connection;
    const { deadline, sendBy = deadline } = attempt;
    const { clock } = deadline;
    return rate.run(sendBy, async () => {
      attempt.onSend?.();
      const began = clock.now();
      const request = this.#request(call);
      const name = `${request.method} ${sanitizeLine(request.url.pathname)}`;
      const logOutcome = (outcome: string) => log.debug(`${name}: ${outcome} (${Math.round(clock.now() - began)} ms)`);
      try {
        const response = await this.#exchange(request, attempt);
        attempt.onBody?.(response.body);
        // Many long responses may have arrived at once. Node handles a signal or a timer only between two of them.
        await deadline.check();
        const date = parseHttpDate(response.headers['date']);
        if (date !== undefined) this.#startEpochMs = date - clock.now();
        const result = parseResponse(request, response, clock.epochMs(), decode);
        logOutcome(`status ${response.status}`);
        return result;
      } catch (error) {
        logOutcome(errorMessage(error));
        if (!(error instanceof RequestError)) throw error;
        throw new RequestError(`${name}: ${error.message}`, { ...error, cause: error });
      } finally {
        // While Node parses a long response, it handles no signal and no timer.
        await deadline.check();
      }
    });
  }

  #request({ path, ...call }: Call): HttpRequest {
    const { baseUrl, apiKey } = this.connection;
    return {
      maxBytes,
      ...call,
      url: new URL(baseUrl.href.replace(/\/*$/, '/') + path),
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        // A cache on the way could answer with a state that is over.
        'cache-control': 'no-cache',
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    };
  }

  async #exchange(request: HttpRequest, { deadline, patience }: Attempt): Promise<HttpResponse> {
    const progress = { isConnecting: false };
    const exchange = (onCancel: OnCancel) => this.connection.exchange({ ...request, progress }, onCancel);
    const response = await deadline.raceFor(patience, exchange);
    if (response !== undefined) return response;
    const what = `No ${progress.isConnecting ? 'connection' : 'complete response'} within ${formatDuration(patience)}`;
    throw new RequestError(what, { isSilence: true, mayHaveTakenEffect: !progress.isConnecting });
  }
}
