import { seededRandom } from '../../control-plane/random.js';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import { VirtualClock } from '../virtual/clock.js';
import { drawPlan } from './draw/plan.js';
import type { StepPlan } from './plan.js';
import { runProcess } from './process.js';
import { type ProcessRecord, type Run, stateOf, stepRecord } from './record.js';
import { createStage, epoch } from './stage.js';

/** By then the service has carried out every late request. */
const lateRequestsMs = 60_000;

/** Simulates one run from its seed, in virtual time. `temp`: a folder for the files of the runner. */
export async function simulate(seed: number, temp: string): Promise<Run> {
  const clock = new VirtualClock(epoch, seededRandom(seed));
  const { plan, stage } = drawPlan(seed, (...drawn) => createStage(clock, ...drawn));
  const run = (part: ProcessRecord['part'], step: StepPlan, state: string) =>
    runProcess(plan, stage, { part, step, state, temp });

  async function startMain(step: StepPlan) {
    await clock.sleep(step.startsAtMs);
    const main = await run('main', step, '');
    return stepRecord(step, main, stateOf(main), stage);
  }

  async function playJob(steps: readonly StepPlan[]) {
    const records = await Promise.all(steps.map(startMain));
    // The runner starts the last post step first.
    for (const record of records.toReversed()) {
      const { state, plan: step } = record;
      if (state === '' || state === nothingToRevoke) continue;
      await clock.sleep(step.post.afterMs);
      record.post = await run('post', step, state);
    }
    return records;
  }

  async function play() {
    for (const { atMs, run: act } of plan.jobs.flat().flatMap(({ events }) => events))
      clock.schedule(atMs, () => act(stage));
    const records = await Promise.all(plan.jobs.map(playJob));
    await clock.sleep(lateRequestsMs);
    return records.flat();
  }

  return { plan, stage, steps: await clock.run(play()) };
}
