import { type Limit, TimeUp } from '../time/limit.js';
import { ApiError, AskedToWaitTooLong } from './errors.js';
import type { Quiet } from './quiet.js';

/**
 * Returns the milliseconds until the next attempt, or `undefined` to give up. `times`: the number of errors of this request
 * so far. Failures and throttled responses (423, 429) are counted separately.
 */
export type RetryRule = (error: ApiError, times: number) => number | undefined;

/** The deadline of a request and the handling of its failures. */
export interface Manner {
  readonly limit: Limit;
  readonly retry: RetryRule;
  /** Called for each failure before a retry. `pause`: milliseconds until the retry. */
  readonly tell?: (error: ApiError, pause: number) => void;
  /** Shared with parallel requests. */
  readonly quiet?: Quiet;
  /** Starts an attempt as soon as fewer than the maximum are running. */
  readonly queue?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

export const once: RetryRule = () => undefined;

const tries = 5;

/** 5 attempts with exponential backoff and full jitter. A 423 or 429 is retried until the deadline. */
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
      // 423 locks only one resource, so it does not delay other requests.
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
