import type { FaultRule, Replica } from '../../control-plane/index.js';
import { httpDate } from '../../control-plane/timestamp.js';
import { VirtualClock } from '../virtual/clock.js';
import type { Trip } from '../virtual/network.js';
import { type Outage, ownRun, type StepPlan } from './plan.js';
import type { Part, SentRequest } from './record.js';
import type { Scene } from './simulate.js';
import { createStage, type Service, type Stage } from './stage.js';
import { epoch } from './truth.js';

// Small worlds, which a search enumerates. They are plain JSON. Times are seconds.

/** The requests that a copy of the data answers, which is behind. The others are answered by the truth. */
type Copies = 'all' | 'odd' | 'even';

/** What goes wrong. A world of a search has one of them at most. */
export interface Troubles {
  /** Faults of the requests that a part sends. */
  readonly faults?: readonly (FaultRule & { readonly part: Part })[];
  /** Milliseconds from the start of the part. */
  readonly outages?: readonly (Outage & { readonly part: Part })[];
  /** Main is killed just before its n-th message to the runner, or when its n-th request has arrived. */
  readonly killedAt?: { readonly on: 'message' | 'request'; readonly nth: number };
}

/** A step that waits for all operations of one project. */
export interface WaitWorld extends Troubles {
  readonly operations: readonly WorldOperation[];
  readonly pageSize: number;
  readonly timeout: number;
  /** The `Date` of a response is ahead of the times in the records. */
  readonly dateAhead: number;
  readonly copies: Copies;
  readonly lag: number;
}

export interface WorldOperation {
  /** From a moment before the step starts. A follow-up begins when the operation with that index ends. */
  readonly begins: number | { readonly after: number };
  readonly lasts: number;
  readonly ends: 'finished' | 'failed';
  /** It is not shown before. */
  readonly appearsAfter: number;
}

/** A job that creates a key. */
export interface KeyWorld extends Troubles {
  /** Age of the key when post begins. */
  readonly age: number;
  /** A copy does not know a new key for so long, and still accepts and lists a revoked one. */
  readonly lag: number;
  readonly copies: Copies;
  readonly hasParent: boolean;
  /** The body of the response to a DELETE. */
  readonly says: 'revoked' | 'nothing';
  /** The response to a DELETE for a key that was revoked before. */
  readonly again: 'revoked' | 'not-found';
  /** How long the pauses of the action are: 0 to 1. */
  readonly jitter: number;
  readonly isKept: boolean;
  /** Lists show revoked keys, too, with `revoked: true`. */
  readonly listsRevoked: boolean;
  /** The keys that others revoke between main and post. */
  readonly between: 'none' | 'newest' | 'parent' | 'all';
  /** Ten minutes: both clocks are wrong all the time, or one jumps ahead between main and post. */
  readonly clocks: 'right' | 'runner ahead' | 'runner behind' | 'no date' | 'runner jumps' | 'service jumps';
}

export type World = WaitWorld | KeyWorld;

export const plainWait: WaitWorld = { operations: [], pageSize: 2, timeout: 120, dateAhead: 0, copies: 'all', lag: 0 };

export const plainKey: KeyWorld = {
  age: 13,
  lag: 0,
  copies: 'all',
  hasParent: true,
  says: 'revoked',
  again: 'not-found',
  jitter: 0.5,
  isKept: false,
  listsRevoked: false,
  between: 'none',
  clocks: 'right',
};

const tenMinutes = 600_000;
const tripMs = 50;
/** A request for one operation takes so long, and shows the state at its end. */
const singleMs = 1_500;

export function sceneOf(world: World): Scene {
  return 'operations' in world ? waitScene(world) : keyScene(world);
}

function waitScene(world: WaitWorld): Scene {
  const { operations, pageSize, timeout, dateAhead } = world;
  const service: Service = {
    dateAheadMs: 1_000 * dateAhead,
    notShown: { maximumPageSize: pageSize, overMaximum: 'clamp', lastPageCursor: 'absent' },
    ...copiesOf(world),
  };
  const trip: Trip = (way, path) => (way === 'there' && /operations\/./.test(path) ? singleMs : 0);
  const stage = createStage(new VirtualClock(epoch), service, singleMs / 2, trip);
  const [projectId = ''] = stage.plane.projectIds;
  for (const { begins, lasts, ends, appearsAfter } of operations) {
    const plan = { lengthMs: 1_000 * lasts, outcome: ends, appearsAfterMs: 1_000 * appearsAfter };
    const first = typeof begins === 'object' ? stage.operations[begins.after] : undefined;
    if (first !== undefined) stage.follow(first, plan);
    else stage.start({ ...plan, projectId, ageMs: -1_000 * Number(begins) });
  }
  const inputs = { 'project-id': projectId, 'operation-id': 'all', timeout: String(timeout) };
  const expects = { ids: 'all' as const, projectIds: [projectId], failFast: true, filter: () => true, sinceMs: 60_000 };
  return sceneFor(world, stage, { mode: 'wait-operation', ...expects }, inputs);
}

function keyScene(world: KeyWorld): Scene {
  const { says, again, isKept, listsRevoked, between, clocks } = world;
  const service: Service = {
    dateAheadMs: clocks === 'no date' ? 'absent' : 0,
    notShown: { revokedAgain: again },
    replicasAuthenticate: true,
    ...copiesOf(world),
  };
  const stage = createStage(new VirtualClock(epoch), service, tripMs);
  const { clock, plane } = stage;
  plane.addKey('shop-run7700-1');
  plane.addKey('another tool');
  const others = stage.keys().length;
  let isPost = false;

  function said(endpoint: SentRequest['endpoint'], body: string): string {
    if (endpoint === 'revoke-key' && says === 'nothing') return '';
    if (endpoint !== 'list-keys' || !listsRevoked) return body;
    const revoked = stage.keys().filter(({ revokedAt }) => revokedAt !== undefined);
    const items = revoked.map(({ id, name }) => ({ id: Number(id), name, revoked: true }));
    return JSON.stringify([...JSON.parse(body), ...items]);
  }
  stage.change = ({ status, headers, body }, { endpoint, fault }) => {
    const date = isPost && clocks === 'service jumps' ? { date: httpDate(clock.epochMs() + tenMinutes) } : {};
    const isOwn = status === 200 && fault === undefined;
    return { status, headers: { ...headers, ...date }, body: isOwn ? said(endpoint, body) : body };
  };

  function onPost(): void {
    isPost = true;
    const made = stage.keys().slice(others);
    const revoked = { none: [], newest: made.slice(-1), parent: stage.keys().slice(0, 1), all: made }[between];
    for (const { id } of revoked) stage.revokeAsAnother(id);
  }

  const inputs = { 'revoke-in-post': String(!isKept), timeout: '600' };
  return sceneFor(world, stage, { mode: 'create-key', revokes: !isKept }, inputs, onPost);
}

/** A scene of one step. */
function sceneFor(
  world: World,
  stage: Stage,
  expects: StepPlan['expects'],
  own: StepPlan['inputs'],
  onPost = (): void => undefined,
): Scene {
  const { faults = [], outages = [], killedAt, age, hasParent, jitter, clocks } = { ...plainKey, ...world };
  const { mode } = expects;
  const inputs = { mode, 'api-key': stage.plane.apiKey, 'base-url': `${stage.origin}/v2`, ...own };
  const environment = { GITHUB_RUN_ID: ownRun, GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'acme/shop' };
  const ahead = clocks === 'runner behind' ? -tenMinutes : clocks.startsWith('runner') ? tenMinutes : 0;
  const step = {
    mode,
    expects,
    inputs,
    environment,
    timeoutMs: 1_000 * Number(own['timeout']),
    // No operation begins or ends in the same millisecond.
    startsAtMs: 1,
    events: [],
    runnerFault: undefined,
    clockAheadMs: clocks === 'runner jumps' ? 0 : ahead,
    // A request arrives after its trip.
    interruption: killedAt && { ...killedAt, what: 'kill' as const, ms: killedAt.on === 'request' ? tripMs : 0 },
    post: {
      afterMs: Math.max(0, 1_000 * age - tripMs),
      inputs: hasParent ? inputs : { ...inputs, 'api-key': '' },
      environment,
      interruption: undefined,
      clockAheadMs: ahead,
    },
  };
  const onStart = (part: Part) => {
    if (part === 'post') onPost();
    const now = stage.clock.now();
    for (const { part: of, ...rule } of faults) if (of === part) stage.faults.add(rule);
    for (const { part: of, from, to, ...outage } of outages)
      if (of === part) stage.outages.push({ ...outage, from: now + from, to: now + to });
  };
  const plan = { seed: 0, jobs: [[step]], faults: [...faults], outages: stage.outages, runs: new Map(), jitter };
  return { plan, stage, onStart };
}

/** Copies that lag, and those that do not. */
function copiesOf({ copies, lag }: Pick<World, 'copies' | 'lag'>) {
  if (lag === 0) return {};
  const replica: Replica = { operationsBehindMs: 1_000 * lag, keysBehindMs: 1_000 * lag, historyAfterMs: 0 };
  let requests = 0;
  const isBehind = () => copies === 'all' || (copies === 'odd') === (++requests % 2 === 1);
  return { replicas: [replica], replicaFor: () => (isBehind() ? replica : {}) };
}
