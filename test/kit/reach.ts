import type { StepHandle } from '../runner/step.js';

/** Waits for an event of the test. A step that ends before it fails the test at once, with its output. */
export async function reach<T>(step: StepHandle, event: Promise<T>): Promise<T> {
  const tooEarly = step.done.then(({ output }) => {
    throw new Error(`the step ended too early; its output:\n${output}`);
  });
  // Later the step ends, and nothing waits for this promise.
  tooEarly.catch(() => {});
  return Promise.race([event, tooEarly]);
}
