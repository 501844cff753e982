import { join } from 'node:path';
import type { Endpoint } from '../../control-plane/index.js';
import { Chance } from '../chance.js';
import { type Act, type Expectation, type Mode, modes, type Plan, type StepPlan } from '../plan.js';
import { Stage } from '../stage.js';
import type { Known } from '../virtual-github.js';
import { drawFaults, drawKeyFaults, drawOutages } from './faults.js';
import { drawForgery, killedBeforeItsState } from './forgery.js';
import { drawInterruption, drawRunnerFault } from './interruption.js';
import { drawCreateKey, drawPost, drawRevokeKey, drawSweep, ownRun } from './keys.js';
import { drawListKeys, drawListOperations, drawListProjects } from './lists.js';
import { drawService, drawTrip } from './service.js';
import { drawWait } from './wait-operation.js';

/** The endpoints that a mode uses, the ones that matter most more than once. */
const endpointsOf: Readonly<Record<Mode, readonly [Endpoint, ...Endpoint[]]>> = {
  'wait-operation': ['get-operation', 'get-operation', 'list-operations'],
  'list-operations': ['list-operations'],
  'list-projects': ['list-projects'],
  'list-keys': ['list-keys'],
  'create-key': [
    'create-key',
    'create-key',
    'create-key',
    'list-keys',
    'list-keys',
    'revoke-key',
    'revoke-key',
    'revoke-key',
  ],
  'revoke-key': ['revoke-key', 'list-keys'],
  'sweep-keys': ['revoke-key', 'list-keys'],
};

const durations = { '1s': 1_000, '3s': 3_000, '10s': 10_000, '30s': 30_000, '1m': 60_000, '10m': 600_000 } as const;
const timeouts = ['1s', '3s', '10s', '30s', '30s', '30s', '1m'] as const;
const requestTimeouts = { '500ms': 500, '2s': 2_000, '5s': 5_000, '30s': 30_000 } as const;

/** All of one run: drawn before it begins, so that nothing in it can change what is drawn. */
export function drawPlan(seed: number, temp: string): { readonly plan: Plan; readonly stage: Stage } {
  const chance = new Chance(seed);
  const mode = drawMode(chance);
  const isLong = mode === 'list-operations' && chance.odds(0.04);
  const stage = new Stage(
    {
      ...drawService(chance, mode.startsWith('list-')),
      projects: mode === 'list-projects' ? chance.pick([0, 1, 5, 12, 24]) : mode === 'wait-operation' ? 3 : 1,
      operations: isLong ? chance.pick([120, 230]) : chance.pick([0, 2, 9]),
    },
    drawTrip(chance),
  );
  const steps = drawSteps(chance, mode, stage, temp);
  const faults =
    mode === 'create-key' && chance.odds(0.5) ? drawKeyFaults(chance) : drawFaults(chance, endpointsOf[mode]);
  for (const fault of faults) stage.faults.add(fault);
  const outages = drawOutages(chance, 40_000);
  stage.outages = outages;
  const plan: Plan = {
    seed,
    steps: steps.map(({ step }) => step),
    faults,
    outages,
    acts: steps.flatMap(({ acts }) => acts).sort((one, other) => one.atMs - other.atMs),
    runs: steps[0]?.runs ?? new Map(),
  };
  return { plan, stage };
}

/** Keys are what can do the most harm. */
function drawMode(chance: Chance): Mode {
  return chance.odds(0.2) ? 'create-key' : chance.odds(0.16) ? 'wait-operation' : chance.pick(modes);
}

interface DrawnStep {
  readonly step: StepPlan;
  readonly acts: readonly Act[];
  readonly runs?: ReadonlyMap<string, Known>;
}

function drawSteps(chance: Chance, mode: Mode, stage: Stage, temp: string): DrawnStep[] {
  if (mode === 'create-key' && chance.odds(0.15)) return chance.times(2, () => drawStep(chance, mode, stage, temp, ''));
  if (mode === 'list-projects' && chance.odds(0.2)) {
    // Every job of a matrix, each with its share; what they have in common is drawn once.
    const shares = chance.pick([2, 3]);
    const like = chance.below(2 ** 31);
    return chance.times(shares, (index) => drawStep(new Chance(like), mode, stage, temp, `${index + 1}/${shares}`));
  }
  return [drawStep(chance, mode, stage, temp, '')];
}

function drawStep(chance: Chance, mode: Mode, stage: Stage, temp: string, shard: string): DrawnStep {
  const timeout = mode === 'wait-operation' && chance.odds(0.02) ? '10m' : chance.pick(timeouts);
  const looksOnce = mode === 'wait-operation' && chance.odds(0.1);
  const timeoutMs = looksOnce ? 0 : durations[timeout];
  const requestTimeout = chance.pick(['500ms', '500ms', '2s', '2s', '5s', '30s'] as const);
  const startsAtMs = chance.from(1, 50);
  const { clockAheadMs = 0, ...drawn } = drawMatter(chance, mode, stage, { timeoutMs, startsAtMs, temp, shard });
  const runnerFault = drawRunnerFault(chance);
  const parentInEnvironment = chance.odds(0.1);
  const inputs = {
    mode,
    ...(parentInEnvironment ? {} : { 'api-key': stage.plane.apiKey }),
    'base-url': chance.pick(['https://control.test/v2', 'https://control.test/v2', 'https://control.test/v2/']),
    timeout: looksOnce ? '0' : timeout,
    'request-timeout': requestTimeout,
    ...(chance.odds(0.1) ? { summary: 'false' } : {}),
    ...drawn.inputs,
  };
  const environment = {
    GITHUB_STATE: 'state',
    GITHUB_OUTPUT: 'output',
    GITHUB_ENV: 'env',
    GITHUB_RUN_ID: ownRun,
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_REPOSITORY_ID: '5',
    RUNNER_TEMP: runnerFault?.word === 'result-file' ? join(temp, 'missing') : temp,
    ...(parentInEnvironment ? { CTL_API_KEY: stage.plane.apiKey } : {}),
  };
  const span = Math.max(2_000, Math.min(timeoutMs, 30_000));
  const forgery = drawForgery(chance.apart(), stage, environment);
  const isKilledAtOnce = forgery !== undefined && chance.odds(0.6);
  const post = drawPost(chance, stage, { ...inputs, 'api-key': stage.plane.apiKey }, environment);
  return {
    step: {
      mode,
      startsAtMs,
      inputs,
      environment,
      timeoutMs,
      requestTimeoutMs: requestTimeouts[requestTimeout],
      interruption: isKilledAtOnce ? killedBeforeItsState(chance) : drawInterruption(chance, 0.4, span),
      runnerFault,
      clockAheadMs,
      post: { ...post, interruption: drawInterruption(chance, 0.35, 20_000), forgery },
      expects: drawn.expects,
    },
    acts: drawn.acts,
    ...('runs' in drawn ? { runs: drawn.runs } : {}),
  };
}

interface Circumstances {
  readonly timeoutMs: number;
  readonly startsAtMs: number;
  readonly temp: string;
  readonly shard: string;
}

function drawMatter(
  chance: Chance,
  mode: Mode,
  stage: Stage,
  { timeoutMs, startsAtMs, temp, shard }: Circumstances,
): {
  inputs: Record<string, string>;
  expects: Expectation;
  acts: Act[];
  runs?: ReadonlyMap<string, Known>;
  clockAheadMs?: number;
} {
  switch (mode) {
    case 'wait-operation':
      return drawWait(chance, stage, timeoutMs, startsAtMs, temp);
    case 'list-operations':
      return drawListOperations(chance, stage, startsAtMs);
    case 'list-projects':
      return drawListProjects(chance, stage, startsAtMs, shard);
    case 'list-keys':
      return drawListKeys(chance, stage, startsAtMs);
    case 'create-key':
      return drawCreateKey(chance, stage, startsAtMs);
    case 'revoke-key':
      return drawRevokeKey(chance, stage, startsAtMs);
    case 'sweep-keys':
      return drawSweep(chance, stage, startsAtMs);
  }
}
