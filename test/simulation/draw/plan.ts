import { join } from 'node:path';
import type { ControlPlaneOptions, Endpoint } from '../../../control-plane/index.js';
import { Chance } from '../chance.js';
import { type GitHubRun, type Mode, modes, ownRun, type Plan, type StepPlan } from '../plan.js';
import type { Stage } from '../stage.js';
import { drawFaults, drawInterruption, drawKeyFaults, drawOutages, drawRunnerFault } from './faults.js';
import { drawForgery } from './forgery.js';
import { drawCreateKey, drawPost, drawRevokeKey, drawRuns, drawSweep } from './keys.js';
import { type Drawn, drawListKeys, drawListOperations, drawListProjects, type Task } from './lists.js';
import { drawWait } from './wait-operation.js';
import { drawWorld, type World } from './world.js';

interface Kind {
  readonly draw: (chance: Chance, stage: Stage, task: Task) => Drawn;
  /** The important ones more than once. */
  readonly endpoints: readonly Endpoint[];
}

const kinds: Readonly<Record<Mode, Kind>> = {
  'wait-operation': { draw: drawWait, endpoints: ['get-operation', 'get-operation', 'list-operations'] },
  'list-operations': { draw: drawListOperations, endpoints: ['list-operations'] },
  'list-projects': { draw: drawListProjects, endpoints: ['list-projects'] },
  'list-keys': { draw: drawListKeys, endpoints: ['list-keys'] },
  'create-key': {
    draw: drawCreateKey,
    endpoints: ['create-key', 'create-key', 'list-keys', 'revoke-key', 'revoke-key'],
  },
  'revoke-key': { draw: drawRevokeKey, endpoints: ['revoke-key', 'list-keys'] },
  'sweep-keys': { draw: drawSweep, endpoints: ['revoke-key', 'list-keys'] },
};

const durations = { '1s': 1_000, '3s': 3_000, '10s': 10_000, '30s': 30_000, '1m': 60_000, '10m': 600_000 } as const;
const requestTimeouts = { '500ms': 500, '2s': 2_000, '5s': 5_000, '30s': 30_000 } as const;
/** JSON, URLs, HTML and the runner's commands write these signs in other ways. */
const keyWithSigns = 'Qx7/Wm+4"Lk&9%Zs<2\\Vb~Ht{6}Jd?8=Pf^3#Ng';
/** A workflow run that goes on, or is over, while a step of it creates a key. */
const otherRun = '7800';

type Service = Omit<ControlPlaneOptions, 'clock'>;

/** Draws everything before the run begins, so that nothing in the run can change what is drawn. */
export function drawPlan(
  seed: number,
  temp: string,
  createStage: (service: Service, tripMs: number) => Stage,
): { plan: Plan; stage: Stage } {
  const chance = new Chance(seed);
  const world = drawWorld(new Chance(~seed));
  const mode = drawMode(chance);
  const isLong = mode === 'list-operations' && chance.odds(0.04);
  const stage = createStage(
    {
      ...drawService(chance, mode.startsWith('list-')),
      // Without a part of the history no list can be whole.
      replicas: world.replicas.map((one) => (mode === 'wait-operation' ? one : { ...one, historyAfterMs: 0 })),
      replicasAuthenticate: world.replicasAuthenticate,
      projects: mode === 'list-projects' ? chance.pick([0, 1, 5, 12, 24]) : mode === 'wait-operation' ? 3 : 1,
      operations: isLong ? chance.pick([120, 230]) : chance.pick([0, 2, 9]),
    },
    chance.pick([0, 5, 30, 30, 120]),
  );
  stage.hasNearNames = chance.odds(0.2);
  const runs = mode === 'sweep-keys' ? drawRuns(chance, stage) : new Map<string, GitHubRun>();
  const jobs = drawJobs(chance, mode, stage, { temp, world }, runs);
  const isCreating = jobs.flat().some(({ step }) => step.mode === 'create-key');
  const { endpoints } = kinds[isCreating ? 'create-key' : mode];
  const [{ faults: own = [] } = {}] = jobs.flat();
  const others =
    isCreating && chance.odds(0.5) ? drawKeyFaults(chance, world.lateCreateMs) : drawFaults(chance, endpoints);
  const faults = own.length > 0 ? own : [...world.worldFaults(endpoints), ...(world.hasUsualFaults ? others : [])];
  for (const fault of faults) stage.faults.add(fault);
  const outages = drawOutages(chance, 40_000);
  stage.outages = [...world.ingress, ...(world.hasUsualFaults ? outages : [])];
  const plan: Plan = {
    seed,
    world,
    jobs: jobs.map((steps) => steps.map(({ step }) => step)),
    faults,
    outages: stage.outages,
    events: jobs.flatMap((steps) => steps.flatMap(({ events }) => events)).sort((one, other) => one.atMs - other.atMs),
    runs,
  };
  return { plan, stage };
}

/** Behaviour that the API's document leaves open. */
function drawService(chance: Chance, isListed: boolean): Service {
  const pageSize = isListed ? chance.pick([1_000, 100, 3, 3, 7]) : chance.pick([1_000, 1_000, 100, 3, 7]);
  return {
    seed: chance.below(2 ** 30),
    ...(chance.odds(0.25) ? { apiKey: keyWithSigns } : {}),
    firstKeyId: chance.pick([1, 165_423, '9007199254740993']),
    notShown: {
      successStatus: chance.odds(0.2) ? { 'create-key': 201, 'revoke-key': chance.pick([200, 202, 204]) } : {},
      errorBody: chance.pick(['plain', 'plain', 'nested', 'text', 'empty']),
      defaultPageSize: Math.min(100, pageSize),
      maximumPageSize: pageSize,
      overMaximum: 'clamp',
      lastPageCursor: chance.pick(['given', 'absent', 'null', 'empty', 'repeated']),
      cursorZone: chance.pick(['Z', '+00:00']),
      projectsPageSize: chance.pick([0, 3, 3, 7, 100]),
      keysPageSize: chance.odds(isListed ? 0.25 : 0.1) ? chance.pick([1, 2, 3]) : 0,
      neverUsed: chance.pick(['absent', 'null']),
      revokedAgain: chance.pick(['not-found', 'not-found', 'revoked']),
    },
  };
}

/** Keys are drawn more often, because their defects do the most harm. */
function drawMode(chance: Chance): Mode {
  return chance.odds(0.2) ? 'create-key' : chance.odds(0.16) ? 'wait-operation' : chance.pick(modes);
}

type DrawnStep = Drawn & { readonly step: StepPlan };

function drawJobs(
  chance: Chance,
  mode: Mode,
  stage: Stage,
  given: Circumstances,
  runs: Map<string, GitHubRun>,
): DrawnStep[][] {
  const draw = (of: Mode, more: Partial<Circumstances> = {}) => drawStep(chance, of, stage, { ...given, ...more });
  if (mode === 'create-key' && chance.odds(0.15)) return [chance.times(2, () => draw(mode))];
  if (mode === 'list-projects' && chance.odds(0.2)) {
    // Every job of a matrix lists its own shard, with otherwise equal inputs.
    const shards = chance.pick([2, 3]);
    const same = chance.below(2 ** 31);
    return chance.times(shards, (index) => [
      drawStep(new Chance(same), mode, stage, { ...given, shard: `${index + 1}/${shards}` }),
    ]);
  }
  if (mode === 'sweep-keys' && chance.odds(0.4)) {
    const run = chance.pick([ownRun, otherRun]);
    if (run === otherRun) runs.set(run, { run: { attempt: 1, isCompleted: chance.odds(0.6) } });
    const creates = chance.times(chance.pick([0, 1, 1, 2]), () => draw('create-key', { run }));
    const sweeps = chance.times(chance.pick([1, 1, 2]), () => [draw(mode, { startsAtMs: 1 + chance.upTo(25_000) })]);
    return [[draw(mode)], ...sweeps, ...(creates.length === 0 ? [] : [creates])];
  }
  return [[draw(mode)]];
}

interface Circumstances extends Partial<Omit<Task, 'timeoutMs'>> {
  readonly temp: string;
  readonly world: World;
  readonly run?: string;
}

function drawStep(
  chance: Chance,
  mode: Mode,
  stage: Stage,
  { temp, world, shard = '', run = ownRun, startsAtMs = chance.from(1, 50) }: Circumstances,
): DrawnStep {
  const isLong = mode === 'wait-operation' && chance.odds(0.05);
  const timeout = isLong ? '10m' : chance.pick(['1s', '3s', '10s', '30s', '30s', '30s', '1m']);
  const pollsOnce = mode === 'wait-operation' && chance.odds(0.1);
  const timeoutMs = pollsOnce ? 0 : durations[timeout];
  const requestTimeout = chance.pick(['500ms', '500ms', '2s', '2s', '5s', '30s']);
  const drawn = kinds[mode].draw(chance, stage, { timeoutMs, startsAtMs, temp, shard, world });
  const runnerFault = drawRunnerFault(chance);
  const parentInEnvironment = chance.odds(0.1);
  const inputs = {
    mode,
    ...(parentInEnvironment ? {} : { 'api-key': stage.plane.apiKey }),
    'base-url': `${stage.origin}/v2${chance.pick(['', '', '/'])}`,
    timeout: pollsOnce ? '0' : timeout,
    'request-timeout': requestTimeout,
    summary: chance.odds(0.1) ? 'false' : '',
    ...drawn.inputs,
  };
  const environment = {
    GITHUB_STATE: 'state',
    GITHUB_OUTPUT: 'output',
    GITHUB_ENV: 'env',
    GITHUB_RUN_ID: run,
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_REPOSITORY_ID: '5',
    RUNNER_TEMP: runnerFault?.kind === 'result-file' ? join(temp, 'missing') : temp,
    ...(parentInEnvironment ? { CTL_API_KEY: stage.plane.apiKey } : {}),
  };
  const span = Math.max(2_000, Math.min(timeoutMs, 30_000));
  const forgery = run === ownRun ? drawForgery(new Chance(chance.below(2 ** 31)), stage) : undefined;
  // Only if main is killed before it saves a state, the runner gives the forged one to post.
  const isKilledAtOnce = forgery !== undefined && chance.odds(0.6);
  const post = drawPost(chance, stage, { inputs: { ...inputs, 'api-key': stage.plane.apiKey }, environment });
  return {
    ...drawn,
    step: {
      mode,
      startsAtMs,
      inputs,
      environment,
      timeoutMs,
      requestTimeoutMs: requestTimeouts[requestTimeout],
      interruption: isKilledAtOnce
        ? { what: 'kill', moment: { on: 'message', nth: chance.pick([1, 2]) } }
        : drawInterruption(chance, 0.4, span),
      runnerFault,
      clockAheadMs: world.clockAheadMs,
      post: { ...post, interruption: drawInterruption(chance, 0.35, 20_000), forgery },
      expects: drawn.expects,
    },
  };
}
