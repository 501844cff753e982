import { parseDateHeader, type RequestPolicy, withRetries } from '../http/retry.js';
import { isObject } from '../text/json.js';
import { sanitizeId } from '../text/sanitize-line.js';
import type { Clock } from '../time/clock.js';
import type { Deadline } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';
import { type KeyList, parseKeyList, parseMintedKey, parseRevoked } from './keys.js';
import { type ListPlace, type Page, pageDecoder, pageSize, pages } from './paging.js';
import { type Decode, parseResponse, unexpectedShape } from './parse-response.js';
import { type ApiRecord, parseOperation, parseProject } from './records.js';
import { type Call, type Connection, createRequest, sendRequest } from './request.js';

/** Maximum sizes of a response body. The contract promises them. Usually one page has all projects, so it can be larger. */
export const maxBytes = 8 * 2 ** 20;
const maxProjectsBytes = 64 * 2 ** 20;

/** The contract promises a warning if the clocks differ by more than this. In milliseconds. */
const maxClockSkew = 300_000;

export class ControlApi {
  /** Milliseconds by which the service's clock is ahead of the runner's, according to the last `Date` header. */
  #clockSkew = 0;
  readonly #warned = new Set<'pages' | 'clock'>();

  constructor(private readonly connection: Connection) {}

  withRequestTimeout(ms: number): ControlApi {
    return new ControlApi({ ...this.connection, requestTimeout: Math.min(ms, this.connection.requestTimeout) });
  }

  /** Time on the service's clock in milliseconds since 1970. Until the first response, time on the runner's clock. */
  serviceEpochMs(clock: Clock): number {
    return clock.epochMs() + this.#clockSkew;
  }

  /** Like `serviceEpochMs`, for ages that an input limits. Warns if the clocks differ, because one of them is wrong. */
  epochMsForAges(clock: Clock): number {
    const skew = Math.abs(this.#clockSkew);
    const message = `The clock of the runner is ${formatDuration(skew)} ${this.#clockSkew > 0 ? 'behind' : 'ahead of'} that of the service. Ages (since, older-than) are measured on the clock of the service. If that clock is wrong, check the result in the console.`;
    if (skew > maxClockSkew) this.#warnOnce('clock', message);
    return this.serviceEpochMs(clock);
  }

  async operation(projectId: string, id: string, policy: RequestPolicy) {
    const path = `projects/${encodeURIComponent(projectId)}/operations/${encodeURIComponent(id)}`;
    return this.#get(path, policy, (body) => {
      const operation = parseOperation(isObject(body) ? body['operation'] : body, 'operation', projectId);
      // The status of another operation proves nothing about the requested one.
      if (operation.id !== id) throw unexpectedShape('operation.id', sanitizeId(id), operation.id);
      return operation;
    });
  }

  /** Pages of operations, newest first. `from`: where an earlier read ended. */
  operations(projectId: string, policy: RequestPolicy, from?: ListPlace) {
    const path = `projects/${encodeURIComponent(projectId)}/operations`;
    const decode = pageDecoder('operations', (item, place) => parseOperation(item, place, projectId));
    return this.#pages((cursor) => {
      const query = new URLSearchParams({ limit: String(pageSize), ...(cursor === undefined ? {} : { cursor }) });
      return this.#get(`${path}?${query}`, policy, decode);
    }, from);
  }

  /** The first request has no parameters but `org_id`, as documented. A cursor in the response leads to more pages. */
  projects(policy: RequestPolicy, orgId?: string): AsyncGenerator<Page<ApiRecord>> {
    const organization = orgId === undefined ? {} : { org_id: orgId };
    return this.#pages((cursor) => {
      const page = cursor === undefined ? {} : { limit: String(pageSize), cursor };
      const query = new URLSearchParams({ ...page, ...organization });
      const path = `projects${query.size === 0 ? '' : `?${query}`}`;
      return this.#get(path, policy, pageDecoder('projects', parseProject), maxProjectsBytes);
    });
  }

  #pages<T extends ApiRecord>(fetchPage: (cursor: string | undefined) => Promise<Page<T>>, from?: ListPlace) {
    const message =
      'A list may be incomplete: a page contained no new records, so the service may be ignoring the cursor. Compare the result with the console.';
    return pages(fetchPage, () => this.#warnOnce('pages', message), from);
  }

  /** Each warning appears once per step, however many lists the step reads. */
  #warnOnce(subject: 'pages' | 'clock', message: string): void {
    if (!this.#warned.has(subject)) this.connection.log.warning(message);
    this.#warned.add(subject);
  }

  /** Sends a single request. Before sending another, the caller must check whether the service created a key. */
  createKey(name: string, deadline: Deadline) {
    const body = JSON.stringify({ key_name: name });
    return this.#attempt({ method: 'POST', path: 'api_keys', maxBytes, body }, deadline, parseMintedKey);
  }

  keys(policy: RequestPolicy): Promise<KeyList> {
    return this.#get('api_keys', policy, parseKeyList);
  }

  /** Sends a single request. Returns true if the response says that the key is revoked. */
  revokeKey(id: string, deadline: Deadline): Promise<boolean> {
    return this.#attempt({ method: 'DELETE', path: `api_keys/${id}`, maxBytes }, deadline, (body) =>
      parseRevoked(body, id),
    );
  }

  /** An attempt includes decoding, so an unusable response is retried like a failed request. */
  #get<T>(path: string, policy: RequestPolicy, decode: Decode<T>, max = maxBytes): Promise<T> {
    return withRetries(async (isResend) => {
      const call: Call = { method: 'GET', path, maxBytes: max, onNewConnection: isResend };
      try {
        return await this.#attempt(call, policy.deadline, decode, isResend ? undefined : policy.resendAfter);
      } catch (error) {
        // While Node parses a long response, it handles no signal. So this line checks whether the step was cancelled. A
        // create or a DELETE keeps its error, because the error tells whether the request may have taken effect.
        await policy.deadline.check();
        throw error;
      }
    }, policy);
  }

  async #attempt<T>(call: Call, deadline: Deadline, decode: Decode<T>, giveUpAfter?: number): Promise<T> {
    const request = createRequest(call, this.connection);
    const response = await sendRequest(request, deadline, this.connection, giveUpAfter);
    const nowMs = deadline.clock.epochMs();
    const serviceNow = parseDateHeader(response.headers);
    // Without a `Date`, the clock that is behind is used. By the other one, a new operation could seem too old.
    this.#clockSkew = serviceNow === undefined ? Math.min(0, this.#clockSkew) : serviceNow - nowMs;
    const result = parseResponse(request, response, nowMs, decode);
    await deadline.check();
    return result;
  }
}
