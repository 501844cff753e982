import { seededRandom } from '../../control-plane/random.js';
import { nothingToRevoke, postStateName } from '../../src/keys/post-state-name.js';
import { VirtualClock } from '../virtual/clock.js';
import { drawPlan } from './draw/plan.js';
import type { Plan, StepPlan } from './plan.js';
import { runProcess } from './process.js';
import { type ProcessRecord, type Run, type StepRecord, stepRecord } from './record.js';
import { createStage, epoch, type Stage } from './stage.js';

/** By then the service has carried out every late request. */
const lateRequestsMs = 60_000;

/** Runs one process in virtual time. `state`: empty for main. */
type RunPart = (part: ProcessRecord['part'], step: StepPlan, state: string) => Promise<ProcessRecord>;

/** Simulates one run from its seed. `temp`: a folder for the files of the runner. */
export async function simulate(seed: number, temp: string): Promise<Run> {
  const clock = new VirtualClock(epoch, seededRandom(seed));
  const { plan, stage } = drawPlan(seed, (...drawn) => createStage(clock, ...drawn));
  const run: RunPart = (part, step, state) => runProcess(plan, stage, { part, step, state, temp });
  return { plan, stage, steps: await clock.run(play(plan, stage, run)) };
}

async function play(plan: Plan, stage: Stage, run: RunPart): Promise<StepRecord[]> {
  for (const { atMs, run: act } of plan.jobs.flat().flatMap(({ events }) => events))
    stage.clock.schedule(atMs, () => act(stage));
  const records = await Promise.all(plan.jobs.map((steps) => playJob(steps, stage, run)));
  await stage.clock.sleep(lateRequestsMs);
  return records.flat();
}

async function playJob(steps: readonly StepPlan[], stage: Stage, run: RunPart): Promise<StepRecord[]> {
  const start = async (plan: StepPlan) => {
    await stage.clock.sleep(plan.startsAtMs);
    const main = await run('main', plan, '');
    const state = main.messages.findLast(({ kind, name }) => kind === 'state' && name === postStateName)?.text ?? '';
    return stepRecord(plan, main, state, stage);
  };
  const records = await Promise.all(steps.map(start));
  // The runner starts the last post step first.
  for (const record of records.toReversed()) {
    const { state } = record;
    if (state === '' || state === nothingToRevoke) continue;
    await stage.clock.sleep(record.plan.post.afterMs);
    record.post = await run('post', record.plan, state);
  }
  return records;
}
