import type { ApiKey, ControlPlaneOptions, Limit, Operation, OperationPlan } from '../../control-plane/index.js';
import { createControlPlane, Limiter } from '../../control-plane/index.js';
import { TransportError } from '../../src/http/errors.js';
import type { HttpRequest, HttpResponse, Exchange as SendRequest } from '../../src/http/exchange.js';
import type { OnCancel } from '../../src/time/deadline.js';
import type { VirtualClock } from '../virtual/clock.js';
import { virtualNetwork } from '../virtual/network.js';
import type { Outage } from './plan.js';
import { type SentRequest, sentRequest } from './record.js';

export const epoch = Date.UTC(2024, 0, 1, 12);
const origin = 'https://control.test';

export type Stage = ReturnType<typeof createStage>;

interface Listener {
  readonly onRequest: (sent: SentRequest) => void;
  readonly onEnd: () => void;
}

/** The clock, the service, and the network to it. `tripMs`: the milliseconds that a request or a response takes. */
export function createStage(clock: VirtualClock, service: Omit<ControlPlaneOptions, 'clock'>, tripMs: number) {
  const { plane, exchanges, faults } = createControlPlane({ ...service, clock: clock.service });
  const slowest = (which: 'operationsBehindMs' | 'keysBehindMs') =>
    Math.max(0, ...plane.replicas.map((replica) => replica[which]));
  const outages: Outage[] = [];
  const operations: Operation[] = [];
  const parents = new Map<string, string>();
  let limiter: Limiter | undefined;
  const revokedByOthers = new Set<string>();
  let requests = 0;

  function revokeAsAnother(id: string): void {
    if (!plane.isAlive(id)) return;
    revokedByOthers.add(id);
    plane.revokeKey(id);
  }

  function start(plan: OperationPlan & { readonly projectId: string }): Operation {
    const operation = plane.startOperation(plan);
    operations.push(operation);
    return operation;
  }

  const currentOutage = () => outages.find(({ from, to }) => from <= clock.now() && clock.now() < to);
  const arrivalOf = ({ n }: SentRequest) =>
    exchanges.log.exchanges.findLast(({ headers }) => headers['x-simulated'] === String(n));

  async function hit({ how, status }: Outage, sent: SentRequest, onCancel: OnCancel): Promise<HttpResponse> {
    sent.fault = 'outage';
    // Nobody can know that it did not.
    sent.mayHaveTakenEffect = how === 'silent' || how === 'page' || how === 'error';
    const unsent = { mayHaveTakenEffect: false };
    if (how === 'refused') throw new TransportError('Connection refused (ECONNREFUSED)', unsent);
    const final = { ...unsent, transient: false, status: 407 };
    if (how === 'proxy') throw new TransportError('The proxy requires a login (status 407)', final);
    return new Promise((resolve, reject) => {
      onCancel(() => reject(new TransportError('The exchange was given up')));
      const responses = { page: { type: 'text/html', body: page }, error: { type: 'application/json', body: '{}' } };
      if (how === 'silent') return;
      const { type, body } = responses[how];
      const response = { status, headers: { 'content-type': type }, body };
      clock.schedule(clock.now() + 2 * tripMs, () => resolve(response));
    });
  }

  /** What the limiter in front of the service responds, or undefined if it lets the request pass. */
  async function throttle(sent: SentRequest): Promise<HttpResponse | undefined> {
    if (limiter === undefined) return undefined;
    await clock.sleep(tripMs);
    if (limiter.admits(clock.now())) return undefined;
    sent.fault = 'limit';
    sent.mayHaveTakenEffect = false;
    await clock.sleep(tripMs);
    return { status: 429, headers: limiter.headers, body: '{"message":"Too many requests"}' };
  }

  /** Some services repeat the key that they were sent, or the key that they created. */
  function alter(response: HttpResponse, { authorization, body }: SentRequest): HttpResponse {
    const secret = authorization.slice('Bearer '.length);
    const forms: Readonly<Record<string, () => string>> = {
      '@key@': () => JSON.stringify(secret).slice(1, -1),
      '@minted@': () => plane.aliveKeys(JSON.parse(body || '{}').key_name).at(-1)?.key ?? '',
      '@base64@': () => Buffer.from(secret).toString('base64'),
      '@escaped@': () => [...secret].map((sign) => `\\u00${sign.charCodeAt(0).toString(16)}`).join(''),
    };
    const filled = (text: string) => text.replace(/@\w+@/g, (form) => forms[form]?.() ?? form);
    const { location } = response.headers;
    const headers = location === undefined ? response.headers : { ...response.headers, location: filled(location) };
    return { ...response, headers, body: filled(response.body) };
  }

  return {
    clock,
    origin,
    tripMs,
    plane,
    faults,
    outages,
    revokedByOthers,
    /** Milliseconds by which the slowest replica is behind. */
    lags: { operations: slowest('operationsBehindMs'), keys: slowest('keysBehindMs') },
    /** Also those whose project was removed, but not those of the invented past. */
    operations: operations as readonly Operation[],
    get now() {
      return clock.now();
    },
    operation: (id: string) => operations.find((operation) => operation.id === id),
    listedOperations: (projectId: string): readonly Operation[] | undefined =>
      plane.operationTimeline(projectId)?.page(undefined, Number.POSITIVE_INFINITY).items,
    start,
    /** Starts an operation that follows another one. */
    follow: (parent: Operation, plan: OperationPlan): Operation => {
      const operation = start({ ...plan, projectId: parent.projectId });
      parents.set(operation.id, parent.id);
      return operation;
    },
    parentOf: (id: string) => parents.get(id),
    limitTo: (limit: Limit) => {
      limiter = new Limiter(limit, clock.now());
    },
    /** Every key that ever was, in order of creation. */
    keys: () => {
      const keys: ApiKey[] = [];
      for (let id = BigInt(service.firstKeyId ?? 1); ; id++) {
        const key = plane.key(String(id));
        if (key === undefined) return keys;
        keys.push(key);
      }
    },
    revokeAsAnother,
    /** Known as soon as the request has arrived. */
    faultOf: (sent: SentRequest) => sent.fault ?? arrivalOf(sent)?.fault,
    connect: ({ onRequest, onEnd }: Listener): SendRequest => {
      const network = virtualNetwork(exchanges, clock, () => tripMs);
      const send = async (request: HttpRequest, sent: SentRequest, onCancel: OnCancel): Promise<HttpResponse> => {
        const outage = currentOutage();
        if (request.url.origin !== origin) return elsewhere;
        if (outage !== undefined) return hit(outage, sent, onCancel);
        const refusal = await throttle(sent);
        if (refusal !== undefined) return refusal;
        const headers = { ...request.headers, 'x-simulated': String(sent.n) };
        const response = await network({ ...request, headers }, onCancel).finally(() => {
          sent.fault = arrivalOf(sent)?.fault;
        });
        return alter(response, sent);
      };
      return async (request, onCancel) => {
        const sent = sentRequest(++requests, clock.now(), request);
        const response = send(request, sent, onCancel);
        onRequest(sent);
        try {
          sent.response = await response;
          return sent.response;
        } catch (error) {
          sent.error = error instanceof Error ? error.message : String(error);
          throw error;
        } finally {
          sent.endedAt = clock.now();
          onEnd();
        }
      };
    },
  };
}

const page = '<!DOCTYPE html>\n<html><head><title>default backend</title></head></html>\n';

/** A server where nothing of ours should be sent confirms everything. */
const elsewhere = {
  status: 200,
  headers: {},
  body: '{"id":1,"key":"from-elsewhere","revoked":true,"operations":[],"projects":[]}',
};
