import {
  type Exchange as Carry,
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../src/http/exchange.js';
import type { OnCancel } from '../../src/time/deadline.js';
import {
  type ApiKey,
  type ControlPlaneOptions,
  type CreatedControlPlane,
  createControlPlane,
  type Operation,
  type OperationPlan,
} from '../control-plane/index.js';
import { endpointOf } from '../control-plane/routes.js';
import { VirtualClock } from '../virtual/clock.js';
import { virtualNetwork } from '../virtual/network.js';
import type { Outage } from './plan.js';
import type { Sent } from './record.js';

export const epoch = Date.UTC(2024, 0, 1, 12);
/** That of every key with the id of another. */
export const nameOfReused = 'of another tool';
export const origin = 'https://control.test';

/** Where it plays: the clock, the service, and the network to it. */
export class Stage {
  readonly clock = new VirtualClock(epoch);
  readonly plane: CreatedControlPlane['plane'];
  readonly #created: CreatedControlPlane;
  readonly #firstKeyId: bigint;
  readonly #tripMs: number;
  /** Keys whose id the service gave to another. */
  readonly #former = new Map<string, ApiKey>();
  outages: readonly Outage[] = [];
  /** What others did, and what GitHub said. */
  readonly happened: { readonly at: number; readonly what: string }[] = [];
  /** Every operation that was started on this stage; those of the invented past not. */
  readonly operations: Operation[] = [];
  /** Keys that others revoked. */
  readonly revokedByOthers = new Set<string>();

  constructor(options: Omit<ControlPlaneOptions, 'clock'>, tripMs: number) {
    this.#created = createControlPlane({ ...options, clock: this.clock.service });
    this.plane = this.#created.plane;
    this.#firstKeyId = BigInt(options.firstKeyId ?? 1);
    this.#tripMs = tripMs;
  }

  get faults(): CreatedControlPlane['faults'] {
    return this.#created.faults;
  }

  get now(): number {
    return this.clock.now();
  }

  get tripMs(): number {
    return this.#tripMs;
  }

  /** As the plane's own, and kept: the truth about it outlives its project. */
  start(plan: OperationPlan & { readonly projectId: string }): Operation {
    const operation = this.plane.startOperation(plan);
    this.operations.push(operation);
    return operation;
  }

  note(what: string): void {
    this.happened.push({ at: this.now, what });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.schedule(this.now + ms, resolve));
  }

  /** Every key that ever was, in order of creation; not those that got the id of another. */
  keys(): ApiKey[] {
    const keys: ApiKey[] = [];
    for (let id = this.#firstKeyId; ; id++) {
      const key = this.#former.get(String(id)) ?? this.plane.key(String(id));
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
    if (key === undefined || !this.plane.isAlive(id) || this.#former.has(id)) return;
    this.revokeAsAnother(id);
    this.#former.set(id, key);
    this.plane.reuseId(id, nameOfReused);
  }

  hasReused(id: string): boolean {
    return this.#former.has(id);
  }

  /** A connection of its own for each process. What it carries is noted down on both ends. */
  connect(note: (sent: Sent) => void): Carry {
    const { exchanges } = this.#created;
    const network = virtualNetwork(exchanges, this.clock, { trip: () => this.#tripMs });
    return async (request, onStop) => {
      const sent = this.#noted(request);
      note(sent);
      const outage = this.outages.find(({ from, to }) => from <= this.now && this.now < to);
      try {
        if (request.url.origin !== origin) return elsewhere;
        if (outage !== undefined) return await this.#meet(outage, sent, onStop);
        const arrivals = exchanges.log.exchanges;
        const headers = { ...request.headers, 'x-simulated': String(sent.n) };
        // What it met is known when it has ended: the service's record bears its number.
        const begun = arrivals.length;
        const answer = await network({ ...request, headers }, onStop).finally(() => {
          sent.arrived = this.#arrivalOf(sent, begun);
          sent.fault = sent.arrived?.fault;
        });
        sent.answer = withNumbers(echoing(answer, sent.authorization.slice('Bearer '.length)));
        return sent.answer;
      } catch (error) {
        sent.broken = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        sent.endedAt = this.now;
      }
    };
  }

  /** As soon as the service has it, and before it has ended. */
  faultMetBy(sent: Sent): Sent['fault'] {
    return sent.fault ?? this.#arrivalOf(sent, 0)?.fault;
  }

  #arrivalOf({ n }: Sent, from: number): Sent['arrived'] {
    const arrivals = this.#created.exchanges.log.exchanges;
    for (let index = arrivals.length - 1; index >= from; index--)
      if (arrivals[index]?.headers['x-simulated'] === String(n)) return arrivals[index];
    return undefined;
  }

  #meet(outage: Outage, sent: Sent, onStop: OnCancel): Promise<never> {
    sent.fault = 'outage';
    sent.mayBeDone = outage.how === 'silent';
    switch (outage.how) {
      case 'refused':
        return Promise.reject(new TransportError('Connection refused (ECONNREFUSED)', { mayHaveTakenEffect: false }));
      case 'proxy':
        return Promise.reject(
          new TransportError('The proxy requires a login (status 407)', {
            transient: false,
            status: 407,
            mayHaveTakenEffect: false,
          }),
        );
      case 'silent':
        return new Promise((_, reject) => onStop(() => reject(new TransportError('The exchange was given up'))));
    }
  }

  #sentSoFar = 0;

  #noted({ method, url, headers, body = '' }: HttpRequest): Sent {
    const path = url.pathname + url.search;
    return {
      n: ++this.#sentSoFar,
      at: this.now,
      method,
      origin: url.origin,
      path,
      authorization: headers['authorization'] ?? '',
      body,
      endpoint: endpointOf(method, path),
      arrived: undefined,
      fault: undefined,
      answer: undefined,
      broken: undefined,
      mayBeDone: true,
      endedAt: undefined,
    };
  }
}

/** Some services write down what they were sent. */
function echoing(answer: HttpResponse, secret: string): HttpResponse {
  const { location } = answer.headers;
  if (!answer.body.includes('@') && location === undefined) return answer;
  const filled = (text: string) =>
    text
      .replaceAll('@key@', secret)
      .replaceAll('@base64@', Buffer.from(secret).toString('base64'))
      .replaceAll('@escaped@', [...secret].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(''));
  const headers = location === undefined ? answer.headers : { ...answer.headers, location: filled(location) };
  return { ...answer, headers, body: filled(answer.body) };
}

/** Some services have ids that are numbers. */
function withNumbers(answer: HttpResponse): HttpResponse {
  return answer.body.includes('"id":"9')
    ? { ...answer, body: answer.body.replace(/"id":"(9\d+)"/g, '"id":$1') }
    : answer;
}

/** What stands where nothing of ours should be sent says yes to all. */
const elsewhere = {
  status: 200,
  headers: {},
  body: '{"id":1,"key":"from-elsewhere","revoked":true,"operations":[],"projects":[]}',
};
