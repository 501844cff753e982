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

/** The processes of a run: in virtual time, or over sockets. */
export interface Host {
  readonly stage: Stage;
  /** `state`: empty for main. */
  run(part: ProcessRecord['part'], step: StepPlan, state: string): Promise<ProcessRecord>;
}

/** Simulates one run from its seed. `temp`: a folder for the files of the runner. */
export async function simulate(seed: number, temp: string): Promise<Run> {
  const clock = new VirtualClock(epoch, seededRandom(seed));
  const { plan, stage } = drawPlan(seed, temp, (...drawn) => createStage(clock, 'https://control.test', ...drawn));
  const run: Host['run'] = (part, step, state) => runProcess(plan, stage, clock, { part, step, state });
  return { plan, stage, steps: await clock.run(play(plan, { stage, run }, lateRequestsMs)) };
}

/** Runs all jobs at the same time, and lets the outside events happen. */
export async function play(plan: Plan, host: Host, restMs: number): Promise<StepRecord[]> {
  const { stage } = host;
  for (const { atMs, run } of plan.jobs.flat().flatMap(({ events }) => events))
    stage.clock.schedule(atMs, () => run(stage));
  const records = await Promise.all(plan.jobs.map((steps) => playJob(steps, host)));
  await stage.sleep(restMs);
  return records.flat();
}

async function playJob(steps: readonly StepPlan[], { stage, run }: Host): Promise<StepRecord[]> {
  const start = async (plan: StepPlan) => {
    await stage.sleep(plan.startsAtMs);
    const main = await run('main', plan, '');
    const state = main.messages.findLast(({ kind, name }) => kind === 'state' && name === postStateName)?.text ?? '';
    return stepRecord(plan, main, state, stage);
  };
  const records = await Promise.all(steps.map(start));
  // The runner starts the last post step first.
  for (const record of records.toReversed()) {
    const { state } = record;
    if (state === '' || state === nothingToRevoke) continue;
    await stage.sleep(record.plan.post.afterMs);
    record.post = await run('post', record.plan, state);
  }
  return records;
}
