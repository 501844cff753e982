import type { TestContext } from 'vitest';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  createControlPlane,
  type RunningControlPlane,
  startControlPlane,
} from '../../control-plane/index.js';
import type { Exchange, HttpRequest, HttpResponse } from '../../src/http/exchange.js';
import { httpExchange } from '../../src/http/http-exchange.js';
import type { OnCancel } from '../../src/time/deadline.js';
import { VirtualClock } from '../virtual/clock.js';
import { type NetworkOptions, virtualNetwork } from '../virtual/network.js';

export const networks = ['virtual time', 'sockets'] as const;

type Network = (typeof networks)[number];

export interface SendOptions {
  /** Default: the first key of the control plane. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long after its arrival the client gives the request up. Default: never. */
  readonly timeoutMs?: number;
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<HttpResponse>;

/** A control plane and the action's HTTP client, in virtual time or over sockets. On both, time is virtual. */
export interface Connection extends Pick<RunningControlPlane, 'plane' | 'faults' | 'requests' | 'arrived' | 'ended'> {
  /** A client with a connection of its own. Its requests proceed only while `run` lets time pass. */
  client(): Send;
  run<T>(work: Promise<T>): Promise<T>;
  /** One request of a client that stays the same. */
  request: Send;
  /** Milliseconds that have passed. */
  elapsed(): number;
  pass(ms: number): Promise<void>;
}

export async function connect(
  { onTestFinished }: TestContext,
  network: Network,
  { trip, ...options }: ControlPlaneOptions & NetworkOptions = {},
): Promise<Connection> {
  const clock = new VirtualClock();
  const serviceOptions = { ...options, clock: clock.service };
  const service = network === 'sockets' ? await startControlPlane(serviceOptions) : createControlPlane(serviceOptions);
  if ('close' in service) onTestFinished(() => service.close());
  const baseUrl = 'close' in service ? service.baseUrl : 'https://control.test/v2';
  const { plane, requests, arrived } = service;
  const open = (): Exchange => {
    if ('exchanges' in service) return virtualNetwork(service.exchanges, clock, trip ? { trip } : {});
    const { exchange, close } = httpExchange();
    onTestFinished(close);
    return exchange;
  };
  const client = (): Send => {
    const exchange = open();
    return (method, path, { key = plane.apiKey, headers, body, timeoutMs } = {}) => {
      const n = requests.length + 1;
      const giveUp: OnCancel = (cancel) => {
        if (timeoutMs === undefined) return;
        arrived({ n })
          .then(() => clock.schedule(clock.now() + timeoutMs, cancel))
          .catch(() => undefined);
      };
      const url = new URL(path, baseUrl);
      const all = { authorization: `Bearer ${key}`, ...headers };
      const request = { method: method as HttpRequest['method'], url, headers: all, maxBytes: 1_000_000 };
      return exchange({ ...request, ...(body !== undefined && { body }) }, giveUp);
    };
  };
  const run = <T>(work: Promise<T>) => clock.run(work, { besideSockets: network === 'sockets' });
  const first = client();
  return {
    ...service,
    client,
    run,
    request: (...request) => run(first(...request)),
    elapsed: () => clock.now(),
    pass: (ms) => run(clock.sleep(ms)),
  };
}

export function createKey(request: Send, name: string): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json' };
  return request('POST', '/v2/api_keys', { headers, body: JSON.stringify({ key_name: name }) });
}

/** The path of the operations of the first project. */
export function operationsPath({ projectIds }: ControlPlane): string {
  return `/v2/projects/${projectIds[0]}/operations`;
}
