import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child.js';

const AFTER_SIGINT_MS = 7500;
const AFTER_SIGTERM_MS = 2500;

/** How the runner cancels: it asks, asks again, and then does not ask. `scale` shortens the waits for tests. */
export async function cancelSequence(child: Child, scale: number): Promise<void> {
  child.kill('SIGINT');
  if (await endsWithin(child, AFTER_SIGINT_MS * scale)) return;
  child.kill('SIGTERM');
  if (await endsWithin(child, AFTER_SIGTERM_MS * scale)) return;
  child.kill('SIGKILL');
}

async function endsWithin(child: Child, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = delay(ms, false, { signal: stop.signal }).catch(() => false);
  const ended = child.ended.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([ended, late]);
  stop.abort();
  return inTime;
}
