import { setTimeout as delay } from 'node:timers/promises';
import type { StepProcess } from './step.js';

/** The signals by which the runner cancels. `waits` are seconds. */
export const cancelSequence = [
  { signal: 'SIGINT', waits: 7.5 },
  { signal: 'SIGTERM', waits: 2.5 },
  { signal: 'SIGKILL' },
] as const;

/** `scale` shortens the waits for tests. */
export async function cancel(child: StepProcess, scale: number): Promise<void> {
  for (const { signal, ...wait } of cancelSequence) {
    child.kill(signal);
    if ('waits' in wait && (await endsWithin(child, wait.waits * 1000 * scale))) return;
  }
}

function endsWithin(child: StepProcess, ms: number): Promise<boolean> {
  const ended = child.ended.then(
    () => true,
    () => true,
  );
  return Promise.race([ended, delay(ms, false, { ref: false })]);
}
