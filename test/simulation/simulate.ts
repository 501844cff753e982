import { nothingToRevoke, postStateName } from '../../src/keys/post-state-name.js';
import { mainWork, postWork } from '../kit/virtual-step.js';
import { FakeWorkflowRuns } from '../kit/workflow-runs.js';
import { VirtualClock } from '../virtual/clock.js';
import { Chance } from './chance.js';
import { drawPlan } from './draw/plan.js';
import { ownRun, type Plan, type StepPlan } from './plan.js';
import { runProcess } from './process.js';
import { type ProcessRecord, type Run, StepRecord } from './record.js';
import { epoch, Stage } from './stage.js';
import { postTimeout } from './truth.js';

/** A process that runs so much longer than it may hangs. */
const overtimeMs = 120_000;
/** By then the service has carried out every late request. */
const lateRequestsMs = 60_000;

/** The processes of a run: in virtual time, or over sockets. */
export interface Host {
  readonly stage: Stage;
  /** `state`: empty for main. */
  run(part: ProcessRecord['part'], step: StepPlan, state: string): Promise<ProcessRecord>;
}

/** Simulates one run from its seed. `temp`: a folder for the files of the runner. */
export async function simulate(seed: number, temp: string): Promise<Run> {
  const clock = new VirtualClock(epoch);
  const { plan, stage } = drawPlan(
    seed,
    temp,
    (service, tripMs) => new Stage(clock, 'https://control.test', service, tripMs, 0),
  );
  return { plan, stage, steps: await clock.run(play(plan, virtualHost(plan, stage, clock), lateRequestsMs)) };
}

/** Runs all jobs at the same time, and lets the outside events happen. */
export async function play(plan: Plan, host: Host, restMs: number): Promise<StepRecord[]> {
  const { stage } = host;
  for (const { atMs, what, run } of plan.events) {
    stage.clock.schedule(atMs, () => {
      stage.notes.push({ at: stage.now, what });
      run(stage);
    });
  }
  const records = await Promise.all(plan.jobs.map((steps) => playJob(steps, host)));
  await stage.sleep(restMs);
  return records.flat();
}

async function playJob(steps: readonly StepPlan[], host: Host): Promise<StepRecord[]> {
  const records = await Promise.all(
    steps.map(async (plan): Promise<StepRecord> => {
      await host.stage.sleep(plan.startsAtMs);
      const main = await host.run('main', plan, '');
      const state = main.messages.findLast(({ kind, name }) => kind === 'state' && name === postStateName)?.text ?? '';
      return new StepRecord(plan, main, state, host.stage);
    }),
  );
  // The runner starts the last post step first.
  for (const record of records.toReversed()) {
    // A state that main saved replaces what another step set.
    const state = record.state || (record.forgery?.text ?? '');
    if (state === '' || state === nothingToRevoke) continue;
    await host.stage.sleep(record.plan.post.afterMs);
    record.post = await host.run('post', record.plan, state);
  }
  return records;
}

/** Milliseconds. */
export function timeoutOf(part: ProcessRecord['part'], { timeoutMs, requestTimeoutMs }: StepPlan): number {
  return part === 'post' ? postTimeout : timeoutMs || 30 * requestTimeoutMs;
}

function virtualHost(plan: Plan, stage: Stage, clock: VirtualClock): Host {
  return {
    stage,
    run: (part, step, state) => {
      const isMain = part === 'main';
      const index = plan.jobs.flat().indexOf(step);
      const { runnerFault, clockAheadMs } = step;
      const { inputs, interruption, environment: own } = isMain ? step : step.post;
      const environment = { ...own, [`STATE_${postStateName}`]: state };
      return runProcess(stage, clock, {
        part,
        work: isMain ? mainWork(workflowRuns(plan, stage)) : postWork(environment),
        inputs,
        environment,
        random: new Chance(plan.seed * 16 + 2 * index + (isMain ? 0 : 1)).random,
        interruption,
        runnerFault: isMain || runnerFault?.kind === 'summary' ? runnerFault : undefined,
        clockAheadMs,
        limitMs: timeoutOf(part, step) + overtimeMs,
      });
    },
  };
}

/** The runs of the repository as one step may see them. */
function workflowRuns({ runs }: Plan, stage: Stage): FakeWorkflowRuns {
  const github = new FakeWorkflowRuns((ms) => stage.sleep(ms));
  const own = runs.get(ownRun);
  // A token that may not see the runs of a repository gets a 404 for each.
  const hiddenAfter = own !== undefined && 'run' in own ? (own.run === 'gone' ? 0 : own.hiddenAfter) : undefined;
  for (const [id, known] of runs) {
    github.set(id, (attempt) => {
      const isHidden = github.lookups.length > (hiddenAfter ?? Number.POSITIVE_INFINITY);
      if (isHidden) return 'gone';
      if ('silent' in known) return 'hangs';
      if ('run' in known) return known.run;
      if ('foundAfter' in known) return attempt <= known.foundAfter ? 'gone' : known.later;
      return attempt <= known.times ? known.unseen : known.later;
    });
  }
  return github;
}
