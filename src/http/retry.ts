import { type Limit, TimeUp } from '../time/limit.js';
import { ApiError, AskedToWaitTooLong } from './errors.js';
import type { Quiet } from './quiet.js';

/**
 * The one question: how many milliseconds until the next try; none means give up. `times`: errors of this request so far,
 * failures and calls for patience counted apart.
 */
export type RetryRule = (error: ApiError, times: number) => number | undefined;

/** How a request is to be made: until when, and what becomes of its failures. */
export interface Manner {
  readonly limit: Limit;
  readonly retry: RetryRule;
  /** Hears of each failure that another try follows, and in how many milliseconds. */
  readonly tell?: (error: ApiError, pause: number) => void;
  /** Of those who ask side by side. */
  readonly quiet?: Quiet;
  /** Starts an attempt when fewer than so many are under way. */
  readonly queue?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

export const once: RetryRule = () => undefined;

const tries = 5;

/** 5 tries with exponential back-off and full jitter; where the service asks for patience, until the limit. */
export function fiveTries(random: () => number): RetryRule {
  return (error, times) => {
    if (!error.transient || (times >= tries && !error.asksForPatience)) return undefined;
    const backOff = random() * Math.min(60_000, 1_000 * 2 ** (times - 1));
    return Math.max(backOff, error.retryAfter ?? 0);
  };
}

export async function withRetries<T>(
  attempt: () => Promise<T>,
  { limit, retry, tell, quiet, queue = (start) => start() }: Manner,
): Promise<T> {
  const times = { failed: 0, asked: 0 };
  let pause = 0;
  let last: ApiError | undefined;
  for (;;) {
    try {
      if (pause > 0) await limit.sleep(pause);
      if (quiet?.lasts(limit)) await quiet.keep(limit);
      return await queue(attempt);
    } catch (error) {
      if (error instanceof TimeUp && last !== undefined) throw new TimeUp(last);
      if (!(error instanceof ApiError) || error instanceof AskedToWaitTooLong) throw error;
      // A lock is one on a single thing.
      if (error.status !== 423) quiet?.hear(error, limit);
      last = error;
      const next = retry(error, error.asksForPatience ? ++times.asked : ++times.failed);
      if (next === undefined) throw error;
      if (error.asksForPatience && (error.retryAfter ?? 0) > limit.left)
        throw new AskedToWaitTooLong(error, limit.left);
      tell?.(error, next);
      pause = next;
    }
  }
}
