import { setTimeout as delay } from 'node:timers/promises';
import type { StepProcess } from './child.js';

/** The signals by which the runner cancels. `waits` are seconds. */
export const cancelSequence: readonly { readonly signal: NodeJS.Signals; readonly waits?: number }[] = [
  { signal: 'SIGINT', waits: 7.5 },
  { signal: 'SIGTERM', waits: 2.5 },
  { signal: 'SIGKILL' },
];

/** `scale` shortens the waits for tests. */
export async function cancel(child: Pick<StepProcess, 'kill' | 'ended'>, scale: number): Promise<void> {
  const isOver = child.ended.catch(() => undefined).then(() => true);
  for (const { signal, waits = 0 } of cancelSequence) {
    child.kill(signal);
    if (await Promise.race([isOver, delay(waits * 1000 * scale, false, { ref: false })])) return;
  }
}
