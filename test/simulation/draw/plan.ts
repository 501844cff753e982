import type { Endpoint, Limit, Replica } from '../../../control-plane/index.js';
import type { KnownRun } from '../../kit/workflow-runs.js';
import { Chance } from '../chance.js';
import { type Expectation, ownRun } from '../plan.js';
import type { Service, Stage } from '../stage.js';
import { drawFaults, drawInterruption, drawOutages, drawRunnerFault } from './faults.js';
import { drawCreateKey, drawPost, drawRevokeKey, drawRuns, drawSweep } from './keys.js';
import { drawWait } from './wait-operation.js';

/** How each mode is drawn, and its endpoints, the important ones more than once. */
export const kinds = {
  'wait-operation': [drawWait, 'get-operation', 'get-operation', 'list-operations'],
  'create-key': [drawCreateKey, 'create-key', 'create-key', 'list-keys', 'revoke-key', 'revoke-key'],
  'revoke-key': [drawRevokeKey, 'revoke-key', 'list-keys'],
  'sweep-keys': [drawSweep, 'revoke-key', 'list-keys'],
} as const satisfies Record<string, readonly [draw: unknown, ...endpoints: Endpoint[]]>;

type SimulatedMode = keyof typeof kinds;

/** JSON, URLs, HTML and the runner's commands write these signs in other ways. */
const keyWithSigns = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';
/** A workflow run that goes on, or is over, while a step of it creates a key. */
const otherRun = '7800';

/** Draws everything before the run begins, so that nothing in the run can change what is drawn. */
export function drawPlan(seed: number, createStage: (service: Service, tripMs: number) => Stage) {
  const chance = new Chance(seed);
  const isWait = chance.odds(0.33);
  const mode = isWait ? 'wait-operation' : chance.pick(['create-key', 'create-key', 'revoke-key', 'sweep-keys']);
  const stage = createStage(drawService(chance, isWait), chance.pick([0, 5, 30, 30, 120]));
  const runs = mode === 'sweep-keys' ? drawRuns(chance, stage) : new Map<string, KnownRun>();
  const jobs = drawJobs(chance, mode, stage, runs);
  const isCreating = jobs.flat().some((step) => step.mode === 'create-key');
  const [, ...endpoints] = kinds[isCreating ? 'create-key' : mode];
  const faults = drawFaults(chance, endpoints);
  for (const fault of faults) stage.faults.add(fault);
  stage.outages.push(...drawOutages(chance));
  /** `jobs` run at the same time. The steps of a job start together, and its post steps follow when all have ended. */
  return { plan: { seed, jobs, faults, outages: stage.outages, runs, jitter: undefined as number | undefined }, stage };
}

/** Behaviour that the API's document leaves open, and copies of the data that are behind. */
function drawService(chance: Chance, isWait: boolean): Service {
  const pageSize = chance.pick([1_000, 1_000, 100, 3, 7]);
  const lag = (most: number) => chance.pick([0, chance.upTo(most), most]);
  // The most by which they may be behind, so that a step that keeps the contract is never misled.
  const drawReplica = (): Replica => ({ operationsBehindMs: lag(4_000), keysBehindMs: lag(8_000), historyAfterMs: 0 });
  return {
    seed: chance.below(2 ** 30),
    ...(chance.odds(0.25) ? { apiKey: keyWithSigns } : {}),
    firstKeyId: chance.pick([1, 165_423, '9007199244740993']),
    projects: isWait ? 3 : 1,
    operations: chance.pick([0, 2, 9]),
    replicas: chance.times(chance.pick([0, 0, 3, 3, 3]), drawReplica),
    replicasAuthenticate: chance.odds(0.3),
    ...(isWait && chance.odds(0.4) ? { limit: drawLimit(chance) } : {}),
    notShown: {
      errorBody: chance.pick(['plain', 'plain', 'nested', 'text', 'empty']),
      defaultPageSize: Math.min(100, pageSize),
      maximumPageSize: pageSize,
      overMaximum: 'clamp',
      lastPageCursor: chance.pick(['given', 'absent', 'null', 'empty']),
      keysPageSize: chance.odds(0.1) ? chance.pick([1, 2, 3]) : 0,
      revokedAgain: chance.pick(['not-found', 'not-found', 'revoked']),
    },
  };
}

function drawLimit(chance: Chance): Limit {
  return {
    perSecond: chance.pick([10, 12, 20, 40]),
    bucket: chance.pick([3, 3, 10, 12, 40]),
    retryAfter: chance.pick([undefined, 1, 60]),
  };
}

function drawJobs(chance: Chance, mode: SimulatedMode, stage: Stage, runs: Map<string, KnownRun>) {
  const draw = (of: SimulatedMode, run = ownRun, startsAtMs = chance.from(1, 50)) =>
    drawStep(chance, of, stage, run, startsAtMs);
  if (mode === 'create-key' && chance.odds(0.15)) return [chance.times(2, () => draw(mode))];
  if (mode === 'sweep-keys' && chance.odds(0.4)) {
    const run = chance.pick([ownRun, otherRun]);
    if (run === otherRun) runs.set(run, { attempt: 1, isCompleted: chance.odds(0.6) });
    const creates = chance.times(chance.pick([1, 1, 2]), () => draw('create-key', run));
    return [[draw(mode)], [draw(mode, ownRun, 1 + chance.upTo(25_000))], creates];
  }
  return [[draw(mode)]];
}

export function drawStep(chance: Chance, mode: SimulatedMode, stage: Stage, run: string, startsAtMs: number) {
  const [draw] = kinds[mode];
  const seconds = chance.pick([1, 3, 10, 30, 30, 30, 60]);
  const drawn = { timeoutMs: seconds * 1_000, ...draw(chance, stage, startsAtMs) };
  const { timeoutMs, events } = drawn;
  const expects: Expectation = drawn.expects;
  const { apiKey } = stage.plane;
  const inputs: Record<string, string> = {
    mode,
    'api-key': apiKey,
    'base-url': `${stage.origin}/v2${chance.pick(['', '', '/'])}`,
    timeout: String(timeoutMs / 1_000),
    ...drawn.inputs,
  };
  const environment: Record<string, string> = {
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_REPOSITORY_ID: '5',
  };
  const interruption = drawInterruption(chance, 0.4, Math.max(2_000, Math.min(timeoutMs, 30_000)));
  const runnerFault = drawRunnerFault(chance);
  /** Milliseconds that the runner's clock is ahead of the service's. */
  const clockAheadMs: number = chance.pick([0, 0, 0, 100_000, 1_200_000, -1_200_000, 7_200_000, -7_200_000]);
  return {
    mode,
    expects,
    events,
    startsAtMs,
    inputs,
    environment,
    /** 0: the step polls once. */
    timeoutMs,
    interruption,
    runnerFault,
    clockAheadMs,
    post: {
      clockAheadMs,
      ...drawPost(chance, stage, { inputs, environment }),
      interruption: drawInterruption(chance, 0.35, 20_000),
    },
  };
}
