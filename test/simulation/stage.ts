import type { ApiKey, ControlPlaneOptions, Operation, OperationPlan } from '../../control-plane/index.js';
import { createControlPlane } from '../../control-plane/index.js';
import { RequestError } from '../../src/http/errors.js';
import type { HttpRequest, HttpResponse, Exchange as SendRequest } from '../../src/http/exchange.js';
import type { OnCancel } from '../../src/time/deadline.js';
import type { VirtualClock } from '../virtual/clock.js';
import { type Trip, virtualNetwork } from '../virtual/network.js';
import type { Outage } from './plan.js';
import { type ProcessRecord, type SentRequest, sentRequest } from './record.js';
import { endOf } from './truth.js';

const origin = 'https://control.test';

export type Stage = ReturnType<typeof createStage>;

/** A process that sends more does not wait at all, and virtual time would not pass. */
const maxRequests = 20_000;

export type Service = Omit<ControlPlaneOptions, 'clock'>;

/** The clock, the service, and the network to it. `tripMs`: the milliseconds that a request or a response takes at most. */
export function createStage(clock: VirtualClock, service: Service, tripMs: number, trip: Trip = () => tripMs) {
  const { plane, exchanges, faults } = createControlPlane({ ...service, clock: clock.service });
  const slowest = (which: 'operationsBehindMs' | 'keysBehindMs') =>
    Math.max(0, ...plane.replicas.map((replica) => replica[which]));
  const outages: Outage[] = [];
  const operations: Operation[] = [];
  const parents = new Map<string, string>();
  const revokedByOthers = new Set<string>();
  let requests = 0;

  function start(plan: OperationPlan & { readonly projectId: string }): Operation {
    const operation = plane.startOperation(plan);
    operations.push(operation);
    return operation;
  }

  async function hit({ how, status }: Outage, sent: SentRequest, onCancel: OnCancel): Promise<HttpResponse> {
    sent.fault = 'outage';
    const unsent = { mayHaveTakenEffect: false };
    sent.mayHaveTakenEffect = how !== 'refused' && how !== 'proxy';
    if (how === 'refused') throw new RequestError('Connection refused (ECONNREFUSED)', unsent);
    const final = { ...unsent, transient: false, status: 407 };
    if (how === 'proxy') throw new RequestError('The proxy requires a login (status 407)', final);
    const isPage = how === 'page';
    const body = isPage ? '<!DOCTYPE html>\n<title>default backend</title>\n' : '{}';
    const headers = { 'content-type': isPage ? 'text/html' : 'application/json' };
    return new Promise((resolve, reject) => {
      onCancel(() => reject(new RequestError('The exchange was given up')));
      if (how !== 'silent') clock.schedule(clock.now() + 2 * tripMs, () => resolve({ status, headers, body }));
    });
  }

  /** Some services repeat the key that they were sent, or the key that they created. */
  function fill(text: string, { authorization, body }: SentRequest): string {
    const secret = authorization.slice('Bearer '.length);
    const forms: Readonly<Record<string, () => string>> = {
      '@key@': () => JSON.stringify(secret).slice(1, -1),
      '@minted@': () => plane.aliveKeys(JSON.parse(body || '{}').key_name).at(-1)?.key ?? '',
      '@base64@': () => Buffer.from(secret).toString('base64'),
      '@escaped@': () => [...secret].map((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join(''),
    };
    return text.replace(/@\w+@/g, (form) => forms[form]?.() ?? form);
  }

  async function send(request: HttpRequest, sent: SentRequest, network: SendRequest, onCancel: OnCancel) {
    if (request.url.origin !== origin) return elsewhere;
    const outage = outages.find(({ from, to }) => from <= clock.now() && clock.now() < to);
    if (outage !== undefined) return hit(outage, sent, onCancel);
    const headers = { ...request.headers, 'x-simulated': String(sent.n) };
    const response = await network({ ...request, headers }, onCancel).finally(() => {
      const arrived = exchanges.log.exchanges.findLast((one) => one.headers['x-simulated'] === String(sent.n));
      sent.fault = arrived?.fault;
    });
    const { location } = response.headers;
    const filled = location === undefined ? {} : { location: fill(location, sent) };
    return stage.change(
      { ...response, headers: { ...response.headers, ...filled }, body: fill(response.body, sent) },
      sent,
    );
  }

  const stage = {
    clock,
    origin,
    tripMs,
    plane,
    faults,
    outages,
    revokedByOthers,
    /** The last word of the service on each of its responses. */
    change: (response: HttpResponse, _sent: SentRequest): HttpResponse => response,
    /** How far the header `Date` is ahead of the times in the records. */
    dateAheadMs: typeof service.dateAheadMs === 'number' ? service.dateAheadMs : 0,
    /** Milliseconds by which the slowest replica is behind. */
    lags: { operations: slowest('operationsBehindMs'), keys: slowest('keysBehindMs') },
    /** Not those of the invented past. */
    operations: operations as readonly Operation[],
    operation: (id: string) => operations.find((operation) => operation.id === id),
    listedOperations: (projectId: string): readonly Operation[] =>
      plane.operationTimeline(projectId)?.page(undefined, Number.POSITIVE_INFINITY).items ?? [],
    start,
    /** Starts an operation when another one ends. */
    follow: (parent: Operation, plan: OperationPlan): Operation => {
      const ageMs = clock.now() - endOf(parent).at;
      const operation = start({ ...plan, projectId: parent.projectId, ageMs });
      parents.set(operation.id, parent.id);
      return operation;
    },
    parentOf: (id: string) => parents.get(id),
    /** Every key that ever was, in order of creation. */
    keys: () => {
      const keys: ApiKey[] = [];
      for (let id = BigInt(service.firstKeyId ?? 1); ; id++) {
        const key = plane.key(String(id));
        if (key === undefined) return keys;
        keys.push(key);
      }
    },
    revokeAsAnother: (id: string) => {
      if (!plane.isAlive(id)) return;
      revokedByOthers.add(id);
      plane.revokeKey(id);
    },
    connect: ({ sent }: ProcessRecord, count: (event: 'request' | 'response') => void): SendRequest => {
      const network = virtualNetwork(exchanges, clock, trip);
      return async (request, onCancel) => {
        const one = sentRequest(++requests, clock.now(), request);
        if (sent.push(one) > maxRequests) throw new Error('The process sends requests without end.');
        const response = send(request, one, network, onCancel);
        count('request');
        try {
          one.response = await response;
          return one.response;
        } catch (error) {
          one.error = error instanceof Error ? error.message : String(error);
          throw error;
        } finally {
          one.endedAt = clock.now();
          count('response');
        }
      };
    },
  };
  return stage;
}

/** A server where nothing of ours should be sent confirms everything. */
const elsewhere = { status: 200, headers: {}, body: '{"id":1,"key":"from-elsewhere","revoked":true,"operations":[]}' };
