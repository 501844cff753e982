import { seededRandom } from '../../control-plane/random.js';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import { VirtualClock } from '../virtual/clock.js';
import { drawPlan } from './draw/plan.js';
import type { Plan, StepPlan } from './plan.js';
import { runProcess } from './process.js';
import { type Part, type Run, stepRecord } from './record.js';
import { createStage, type Stage } from './stage.js';
import { epoch } from './truth.js';

/** By then the service has carried out every late request. */
const lateRequestsMs = 60_000;

/** A plan, and the stage that was prepared for it. */
export interface Scene {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly onStart?: (part: Part) => void;
}

/** Simulates one run from its seed. `temp`: a folder for the files of the runner. */
export function simulate(seed: number, temp: string): Promise<Run> {
  const clock = new VirtualClock(epoch, seededRandom(seed));
  return play(
    drawPlan(seed, (...drawn) => createStage(clock, ...drawn)),
    temp,
  );
}

/** Plays a scene in virtual time. */
export async function play({ plan, stage, onStart }: Scene, temp: string): Promise<Run> {
  const { clock } = stage;
  const run = (part: Part, step: StepPlan, state: string) => {
    onStart?.(part);
    return runProcess(plan, stage, { part, step, state, temp });
  };

  async function startMain(step: StepPlan) {
    await clock.sleep(step.startsAtMs);
    return stepRecord(step, await run('main', step, ''), stage);
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

  async function playJobs() {
    for (const { atMs, run: act } of plan.jobs.flat().flatMap(({ events }) => events))
      clock.schedule(atMs, () => act(stage));
    const records = await Promise.all(plan.jobs.map(playJob));
    await clock.sleep(lateRequestsMs);
    return records.flat();
  }

  return { plan, stage, steps: await clock.run(playJobs()) };
}
