import type { Attempt, Send } from '../http/retry.js';
import { parseDateHeader } from '../http/retry-after.js';
import { isObject, type Json } from '../text/json.js';
import { sanitizeId } from '../text/sanitize-line.js';
import type { Clock } from '../time/clock.js';
import { type KeyList, parseKeyList, parseMintedKey, parseRevoked } from './keys.js';
import { type Page, pageDecoder, pageSize, pages } from './paging.js';
import { type Decode, hasError, parseResponse, UnexpectedShapeError, unexpectedShape } from './parse-response.js';
import { type ApiRecord, type Operation, parseOperation, parseProject } from './records.js';
import { type Call, type Change, type Connection, createRequest, sendRequest } from './request.js';

/** Maximum sizes of a response body. The contract promises them. Usually one page has all projects, so it can be larger. */
const maxBytes = 8 * 2 ** 20;
const maxProjectsBytes = 64 * 2 ** 20;

export class ControlApi {
  /** The latest `Date` header, in milliseconds since 1970, and the time on the step's clock when it arrived. */
  #dated: { readonly epochMs: number; readonly at: number } | undefined;

  constructor(private readonly connection: Connection) {}

  /** Time on the service's clock in milliseconds since 1970. Undefined until a response had a `Date`. */
  knownServiceEpochMs(clock: Clock): number | undefined {
    return this.#dated && this.#dated.epochMs + clock.now() - this.#dated.at;
  }

  /** Like `knownServiceEpochMs`, but time on the runner's clock until the first `Date`. */
  serviceEpochMs(clock: Clock): number {
    return this.knownServiceEpochMs(clock) ?? clock.epochMs();
  }

  operation(projectId: string, id: string, send: Send): Promise<Operation> {
    const path = `projects/${encodeURIComponent(projectId)}/operations/${encodeURIComponent(id)}`;
    return this.#get(path, send, (body) => {
      const operation = parseOperation(isObject(body) ? body['operation'] : body, 'operation', projectId);
      // The status of another operation proves nothing about the requested one.
      if (operation.id !== id) throw unexpectedShape('operation.id', sanitizeId(id), operation.record['id']);
      return operation;
    });
  }

  /** Pages of operations, newest first. */
  operations(projectId: string, send: Send): AsyncGenerator<Page<Operation>> {
    const path = `projects/${encodeURIComponent(projectId)}/operations`;
    return pages((place) => {
      const query = new URLSearchParams({ limit: String(pageSize), ...(place.cursor && { cursor: place.cursor }) });
      const parse = (item: Json, at: string) => parseOperation(item, at, projectId);
      return this.#get(`${path}?${query}`, send, pageDecoder('operations', parse, place));
    });
  }

  /** The first request has no parameters but `org_id`, as documented. A cursor in the response leads to more pages. */
  projects(send: Send, orgId?: string): AsyncGenerator<Page<ApiRecord>> {
    return pages((place) => {
      const page = place.cursor && { limit: String(pageSize), cursor: place.cursor };
      const query = new URLSearchParams({ ...page, ...(orgId && { org_id: orgId }) });
      const path = `projects${query.size === 0 ? '' : `?${query}`}`;
      return this.#get(path, send, pageDecoder('projects', parseProject, place), maxProjectsBytes);
    });
  }

  /** Before another attempt, the caller must check whether this one may have created a key. */
  createKey(name: string, attempt: Attempt) {
    const body = JSON.stringify({ key_name: name });
    return this.#attempt({ method: 'POST', path: 'api_keys', maxBytes, body, makesKey: true }, attempt, (response) => {
      const key = parseMintedKey(response);
      if (key.secret === this.connection.apiKey) throw new UnexpectedShapeError('`key` is the key that asked for it');
      return key;
    });
  }

  keys(send: Send): Promise<KeyList> {
    return this.#get('api_keys', send, parseKeyList);
  }

  /** Returns true if the response says that the key is revoked. */
  revokeKey(id: string, attempt: Attempt): Promise<boolean> {
    return this.#attempt({ method: 'DELETE', path: `api_keys/${id}`, maxBytes, mayBeEmpty: true }, attempt, (body) =>
      parseRevoked(body, id),
    );
  }

  /** Sends a request of the user's own. The response may be empty. `onBody` gets it before anything can print it. */
  change<T>(change: Change, attempt: Attempt, onBody: (body: string) => void, decode: (body: Json) => T) {
    const call = { ...change, maxBytes, onBody, mayBeEmpty: true };
    return this.#attempt(call, attempt, (body, response) => {
      if (!isObject(body) && response.body.trim() !== '') throw new UnexpectedShapeError('the body is not an object');
      if (hasError(body)) throw new UnexpectedShapeError('the body has an error');
      return decode(body);
    });
  }

  /** An attempt includes decoding, so an unusable response is repeated like a failed request. */
  #get<T>(path: string, send: Send, decode: Decode<T>, max = maxBytes): Promise<T> {
    return send(async (attempt) => {
      try {
        return await this.#attempt({ method: 'GET', path, maxBytes: max }, attempt, decode);
      } catch (error) {
        // While Node parses a long response, it handles no signal. So this line checks whether the step was cancelled. A
        // create or a DELETE keeps its error, because the error tells whether the request may have taken effect.
        await attempt.deadline.check();
        throw error;
      }
    });
  }

  #attempt<T>(call: Call, attempt: Attempt, decode: Decode<T>): Promise<T> {
    const { deadline, sendBy = deadline } = attempt;
    return this.connection.rate.run(sendBy, async () => {
      attempt.onSend?.();
      const request = createRequest(call, this.connection);
      const response = await sendRequest(request, attempt, this.connection);
      call.onBody?.(response.body);
      const nowMs = deadline.clock.epochMs();
      const epochMs = parseDateHeader(response.headers);
      if (epochMs !== undefined) this.#dated = { epochMs, at: deadline.clock.now() };
      const result = parseResponse(request, response, nowMs, decode);
      await deadline.check();
      return result;
    });
  }
}
