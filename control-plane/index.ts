/**
 * The control API in process, for tests of its clients.
 *
 *     const service = await startControlPlane({ projects: 2 });
 *     const operation = service.plane.startOperation({ lengthMs: 2000, outcome: 'failed' });
 *     service.faults.add({ endpoint: 'get-operation', nth: 3, fault: { kind: 'status', status: 503 } });
 *     await service.arrived({ endpoint: 'get-operation', n: 2 });
 *     service.plane.aliveKeys('name').length;   service.requests.at(-1)?.keyId;
 *     await service.close();
 *
 * - `plane` holds the data: startOperation, endOperation, removeOperation, addProject, removeProject, addKey, key, aliveKeys,
 *   isAlive, revokeKey …
 * - `faults` has rules for faults: add (at any time), clear.
 * - `arrived` and `ended` wait for the n-th exchange of an endpoint, without polling.
 * - `notShown` has the choices that the API's document leaves open; not-shown.ts has the defaults.
 *
 * `createControlPlane` is the same without sockets: a network calls `exchanges.receive(request)` and carries out the script of
 * steps that it returns.
 */
import { Accounts } from './accounts.js';
import { type Clock, systemClock } from './clock.js';
import type { Awaited, Exchange } from './exchange-log.js';
import { Exchanges } from './exchanges.js';
import { FaultPlan, type FaultRule } from './faults.js';
import type { Limit } from './limiter.js';
import { type NotShown, plainest } from './not-shown.js';
import { ControlPlane, type NewOperations, type PlaneAnswer, type PlaneOptions } from './plane.js';
import type { Replica } from './replica.js';
import { basePath } from './routes.js';
import { type ServerOptions, startServer } from './server.js';

export type { ApiKey } from './account.js';
export { type Clock, systemClock } from './clock.js';
export type { Awaited, Exchange } from './exchange-log.js';
export type { Reception } from './exchanges.js';
export { Exchanges } from './exchanges.js';
export type { Fault, FaultRule } from './faults.js';
export { FaultPlan } from './faults.js';
export { type Limit, Limiter } from './limiter.js';
export type { NotShown } from './not-shown.js';
export type { Operation, OperationPlan } from './operation.js';
export type { PlaneAnswer, PlaneRequest } from './plane.js';
export { ControlPlane } from './plane.js';
export type { Replica } from './replica.js';
export type { Endpoint } from './routes.js';
export { basePath } from './routes.js';
export type { WireStep } from './wire-script.js';

export interface ControlPlaneOptions {
  readonly clock?: Clock;
  /** The same seed, the same data and the same chances of faults. */
  readonly seed?: number;
  readonly projects?: number;
  /** Operations of the past in each project. */
  readonly operations?: number;
  /** The secret of the first key. */
  readonly apiKey?: string;
  /** The first key of a second account, which has one project. Default: there is one account. */
  readonly otherApiKey?: string;
  /** The following ids count up. A bigint or digits may be beyond 2^53. */
  readonly firstKeyId?: number | bigint | string;
  readonly notShown?: Partial<NotShown>;
  /** Default: none, so that each response shows the truth. */
  readonly replicas?: readonly Replica[];
  readonly replicasAuthenticate?: boolean;
  /** Chooses the copy that answers a request, in place of chance. `ms`: since the start of the service. */
  readonly replicaFor?: PlaneOptions['replicaFor'];
  /** Default: no limit. */
  readonly limit?: Limit;
  /** How far the header `Date` is ahead of the truth. `absent`: there is none. */
  readonly dateAheadMs?: PlaneOptions['dateAheadMs'];
  /** The course of operations that a request starts. */
  readonly newOperations?: NewOperations;
  readonly faults?: readonly FaultRule[];
  /** Called when an exchange is over. */
  readonly onExchange?: (exchange: Exchange, answer: PlaneAnswer | undefined) => void;
}

export interface ServedControlPlaneOptions extends ControlPlaneOptions, ServerOptions {}

interface ObservedControlPlane {
  readonly plane: ControlPlane;
  readonly faults: FaultPlan;
  /** All so far, in order of arrival. */
  readonly requests: readonly Exchange[];
  /** Resolves when that request has arrived, also if it already has. Rejects when the plane closes first. */
  arrived(awaited?: Awaited): Promise<Exchange>;
  /** Resolves when that exchange is over, complete or cut. */
  ended(awaited?: Awaited): Promise<Exchange>;
}

export interface CreatedControlPlane extends ObservedControlPlane {
  readonly exchanges: Exchanges;
}

export interface RunningControlPlane extends ObservedControlPlane {
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of the projects at the start, newest first. */
  readonly projectIds: readonly string[];
  /** Cuts all connections, and cancels late requests. */
  close(): Promise<void>;
}

export function createControlPlane(options: ControlPlaneOptions = {}): CreatedControlPlane {
  const { clock = systemClock, seed = 1 } = options;
  const planeOptions = {
    clock,
    seed,
    projects: options.projects ?? 1,
    operations: options.operations ?? 0,
    apiKey: options.apiKey,
    firstKeyId: BigInt(options.firstKeyId ?? 1),
    notShown: { ...plainest, ...options.notShown },
    newOperations: options.newOperations ?? {},
    replicas: options.replicas ?? [],
    replicasAuthenticate: options.replicasAuthenticate ?? false,
    replicaFor: options.replicaFor,
    limit: options.limit,
    dateAheadMs: options.dateAheadMs ?? 0,
  };
  const plane = new ControlPlane(planeOptions);
  const faults = new FaultPlan(seed, options.faults);
  const service =
    options.otherApiKey === undefined ? plane : new Accounts(plane, otherPlane(planeOptions, options.otherApiKey));
  const exchanges = new Exchanges(service, faults, (fault) => fault, options.onExchange);
  const { log } = exchanges;
  return {
    plane,
    faults,
    exchanges,
    requests: log.exchanges,
    arrived: (awaited) => log.wait('arrived', awaited),
    ended: (awaited) => log.wait('ended', awaited),
  };
}

function otherPlane(options: PlaneOptions, apiKey: string): ControlPlane {
  // No id of a key or a project is that of the first account.
  const firstKeyId = options.firstKeyId + 1_000_000n;
  return new ControlPlane({ ...options, apiKey, firstKeyId, seed: options.seed + 1_000, projects: 1 });
}

export async function startControlPlane(options: ServedControlPlaneOptions = {}): Promise<RunningControlPlane> {
  const { exchanges, ...observed } = createControlPlane(options);
  const { plane } = observed;
  const server = await startServer(exchanges, plane.clock, options);
  return {
    ...observed,
    baseUrl: server.origin + basePath,
    apiKey: plane.apiKey,
    projectIds: plane.projectIds,
    close: async () => {
      exchanges.close();
      await server.close();
    },
  };
}
