import type { StepHandle } from '../runner/step.js';

/** Waits for an event of the test; a step that ends before it fails the test at once, and tells what it said. */
export async function reach<T>(step: StepHandle, event: Promise<T>): Promise<T> {
  const tooEarly = step.done.then(({ output }) => {
    throw new Error(`the step ended too early; it said:\n${output}`);
  });
  // The step ends one day, and by then nobody may care.
  tooEarly.catch(() => {});
  return Promise.race([event, tooEarly]);
}
