import { nothingToRevoke, postStateName } from '../../src/keys/post-state-name.js';
import { PostStep } from '../../src/modes/post/step.js';
import { reportError, runStep } from '../../src/step.js';
import { Chance } from './chance.js';
import { ownRun } from './draw/keys.js';
import { drawPlan } from './draw/plan.js';
import type { Plan, StepPlan } from './plan.js';
import { runProcess } from './process.js';
import { forgeryIn, type ProcessRecord, type Run, type StepRecord } from './record.js';
import type { Stage } from './stage.js';
import { virtualGitHub } from './virtual-github.js';

/** Nobody waits longer for a process that should long have ended. */
const patience = 120_000;
const postTakes = 20_000;
/** Until then the service has done all that it was still to do. */
const allIsQuietAfter = 60_000;

/** One run from its seed to its end. Files of the runner go to `temp`. */
export async function simulate(seed: number, temp: string): Promise<Run> {
  const { plan, stage } = drawPlan(seed, temp);
  for (const { atMs, what, act } of plan.acts) {
    stage.clock.schedule(atMs, () => {
      stage.note(what);
      act(stage);
    });
  }
  const steps = await stage.clock.run(play(plan, stage));
  return { plan, stage, steps };
}

async function play(plan: Plan, stage: Stage): Promise<StepRecord[]> {
  const steps = await Promise.all(plan.steps.map((step, index) => playMain(plan, step, index, stage)));
  // The last comes first, as in the runner.
  for (const [index, step] of [...steps.entries()].reverse()) step.post = await playPost(plan, step, index, stage);
  await stage.sleep(allIsQuietAfter);
  return steps;
}

async function playMain(plan: Plan, step: StepPlan, index: number, stage: Stage): Promise<StepRecord> {
  await stage.sleep(step.startsAtMs);
  const { inputs, environment, interruption, runnerFault, clockAheadMs, timeoutMs, requestTimeoutMs } = step;
  const github = virtualGitHub(
    plan.runs,
    ownRun,
    (ms) => stage.sleep(ms),
    (id, said) => stage.note(`GitHub says of run ${id}: ${said}`),
  );
  const main = await runProcess(stage, {
    part: 'main',
    step: index,
    work: {
      run: (world) => runStep(world, async () => () => github),
      reportError,
      onSignal: (cancel) => cancel.cancel(),
    },
    inputs,
    environment,
    random: new Chance(plan.seed * 4 + index).random,
    interruption,
    runnerFault,
    clockAheadMs,
    patience: stage.now + (timeoutMs === 0 ? 30 * requestTimeoutMs : timeoutMs) + patience,
  });
  return { plan: step, main, post: undefined, state: stateOf(main) };
}

function stateOf({ words }: ProcessRecord): string {
  return words.findLast(({ kind, name }) => kind === 'state' && name === postStateName)?.text ?? '';
}

async function playPost(
  plan: Plan,
  record: StepRecord,
  index: number,
  stage: Stage,
): Promise<ProcessRecord | undefined> {
  const { plan: step } = record;
  // As the runner: what main saved comes before what another step set.
  const state = record.state || (forgeryIn(record)?.text ?? '');
  // As src/post.ts: nothing was left, nothing is to be done.
  if (state === '' || state === nothingToRevoke) return undefined;
  await stage.sleep(step.post.afterMs);
  const { inputs, environment, interruption } = step.post;
  const cleanUp = new PostStep();
  return runProcess(stage, {
    part: 'post',
    step: index,
    work: {
      run: (world) => cleanUp.run(world),
      reportError: (error, world) => cleanUp.reportError(error, world),
      onSignal: () => undefined,
    },
    inputs,
    environment: { ...environment, [`STATE_${postStateName}`]: state },
    random: new Chance(plan.seed * 4 + 2 + index).random,
    interruption,
    runnerFault: step.runnerFault?.word === 'summary' ? step.runnerFault : undefined,
    clockAheadMs: step.clockAheadMs,
    patience: stage.now + postTakes + patience,
  });
}
