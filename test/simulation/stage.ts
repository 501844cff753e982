import type { ApiKey, ControlPlaneOptions, Operation, OperationPlan } from '../../control-plane/index.js';
import { type CreatedControlPlane, createControlPlane } from '../../control-plane/index.js';
import { TransportError } from '../../src/http/errors.js';
import type { HttpRequest, HttpResponse, Exchange as SendRequest } from '../../src/http/exchange.js';
import type { OnCancel } from '../../src/time/deadline.js';
import type { VirtualClock } from '../virtual/clock.js';
import { virtualNetwork } from '../virtual/network.js';
import type { Outage } from './plan.js';
import { SentRequest } from './record.js';

export const epoch = Date.UTC(2024, 0, 1, 12);
/** Each key that gets the id of another has it. */
export const nameOfReused = 'of another tool';

/** The clock, the service, and the network to it. */
export class Stage {
  readonly plane: CreatedControlPlane['plane'];
  readonly exchanges: CreatedControlPlane['exchanges'];
  readonly faults: CreatedControlPlane['faults'];
  /** Milliseconds by which the slowest replica is behind. */
  readonly lags: { readonly operations: number; readonly keys: number };
  outages: readonly Outage[] = [];
  /** Also those whose project was removed, but not those of the invented past. */
  readonly operations: Operation[] = [];
  readonly revokedByOthers = new Set<string>();
  /** Keys whose id the service gave to another. */
  readonly former = new Map<string, ApiKey>();
  readonly #firstKeyId: bigint;
  #requests = 0;

  /**
   * `tripMs`: the milliseconds that a request or a response takes. `slackMs`: the milliseconds by which a busy machine may be
   * late.
   */
  constructor(
    readonly clock: Pick<VirtualClock, 'now' | 'epochMs' | 'schedule' | 'service'>,
    readonly origin: string,
    service: Omit<ControlPlaneOptions, 'clock'>,
    readonly tripMs: number,
    readonly slackMs = 0,
  ) {
    const created = createControlPlane({ ...service, clock: clock.service });
    ({ plane: this.plane, exchanges: this.exchanges, faults: this.faults } = created);
    const slowest = (which: 'operationsBehindMs' | 'keysBehindMs') =>
      Math.max(0, ...this.plane.replicas.map((replica) => replica[which]));
    this.lags = { operations: slowest('operationsBehindMs'), keys: slowest('keysBehindMs') };
    this.#firstKeyId = BigInt(service.firstKeyId ?? 1);
  }

  get now(): number {
    return this.clock.now();
  }

  operation(id: string): Operation | undefined {
    return this.operations.find((operation) => operation.id === id);
  }

  /** All of a project, newest first. */
  listedOperations(projectId: string): readonly Operation[] | undefined {
    return this.plane.operationTimeline(projectId)?.page(undefined, Number.POSITIVE_INFINITY).items;
  }

  start(plan: OperationPlan & { readonly projectId: string }): Operation {
    const operation = this.plane.startOperation(plan);
    this.operations.push(operation);
    return operation;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.schedule(this.now + ms, resolve));
  }

  /** Every key that ever was, in order of creation. A key that got the id of another is not one of them. */
  keys(): ApiKey[] {
    const keys: ApiKey[] = [];
    for (let id = this.#firstKeyId; ; id++) {
      const key = this.former.get(String(id)) ?? this.plane.key(String(id));
      if (key === undefined) return keys;
      keys.push(key);
    }
  }

  revokeAsAnother(id: string): void {
    if (!this.plane.isAlive(id)) return;
    this.revokedByOthers.add(id);
    this.plane.revokeKey(id);
  }

  reuseId(id: string): void {
    const key = this.plane.key(id);
    if (key === undefined || !this.plane.isAlive(id) || this.former.has(id)) return;
    this.revokeAsAnother(id);
    this.former.set(id, key);
    this.plane.reuseId(id, nameOfReused);
  }

  /** A virtual connection for one process. */
  connect(clock: VirtualClock, note: (sent: SentRequest) => void): SendRequest {
    const network = virtualNetwork(this.exchanges, clock, () => this.tripMs);
    return async (request, onCancel) => {
      const sent = this.record(request);
      note(sent);
      const outage = this.currentOutage();
      try {
        if (request.url.origin !== this.origin) return elsewhere;
        if (outage !== undefined) {
          sent.response = await this.#hit(outage, sent, onCancel);
          return sent.response;
        }
        const headers = { ...request.headers, 'x-simulated': String(sent.n) };
        const response = await network({ ...request, headers }, onCancel).finally(() => {
          sent.arrived = this.#arrivalOf(sent);
          sent.fault = sent.arrived?.fault;
        });
        sent.response = this.alter(response, sent);
        return sent.response;
      } catch (error) {
        sent.error = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        sent.endedAt = this.now;
      }
    };
  }

  /** Some services repeat the key that they were sent, or the key that they created. */
  alter<R extends Pick<HttpResponse, 'headers' | 'body'>>(response: R, { authorization, body }: SentRequest): R {
    const secret = authorization.slice('Bearer '.length);
    const minted = () => this.plane.aliveKeys(JSON.parse(body || '{}').key_name).at(-1)?.key ?? '';
    const inText = (text: string) => JSON.stringify(text).slice(1, -1);
    const filled = (text: string) =>
      text.includes('@')
        ? text
            .replaceAll('@key@', () => inText(secret))
            .replaceAll('@minted@', minted)
            .replaceAll('@base64@', Buffer.from(secret).toString('base64'))
            .replaceAll('@escaped@', [...secret].map((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join(''))
        : text;
    const { location } = response.headers;
    const headers = location === undefined ? response.headers : { ...response.headers, location: filled(location) };
    return { ...response, headers, body: filled(response.body) };
  }

  currentOutage(): Outage | undefined {
    return this.outages.find(({ from, to }) => from <= this.now && this.now < to);
  }

  async #hit({ how, status }: Outage, sent: SentRequest, onCancel: OnCancel): Promise<HttpResponse> {
    sent.fault = 'outage';
    // Nobody can know that it did not.
    sent.mayHaveTakenEffect = how === 'silent' || how === 'page';
    const unsent = { mayHaveTakenEffect: false };
    if (how === 'refused') throw new TransportError('Connection refused (ECONNREFUSED)', unsent);
    const final = { ...unsent, transient: false, status: 407 };
    if (how === 'proxy') throw new TransportError('The proxy requires a login (status 407)', final);
    return new Promise((resolve, reject) => {
      onCancel(() => reject(new TransportError('The exchange was given up')));
      const response = { status, headers: { 'content-type': 'text/html' }, body: page };
      if (how === 'page') this.clock.schedule(this.now + 2 * this.tripMs, () => resolve(response));
    });
  }

  /** Known as soon as the request has arrived. */
  faultOf(sent: SentRequest): SentRequest['fault'] {
    return sent.fault ?? this.#arrivalOf(sent)?.fault;
  }

  record(request: Omit<HttpRequest, 'maxBytes'>): SentRequest {
    return new SentRequest(++this.#requests, this.now, request);
  }

  #arrivalOf({ n }: SentRequest): SentRequest['arrived'] {
    return this.exchanges.log.exchanges.findLast(({ headers }) => headers['x-simulated'] === String(n));
  }
}

const page = '<!DOCTYPE html>\n<html><head><title>default backend</title></head></html>\n';

/** A server where nothing of ours should be sent confirms everything. */
const elsewhere = {
  status: 200,
  headers: {},
  body: '{"id":1,"key":"from-elsewhere","revoked":true,"operations":[],"projects":[]}',
};
