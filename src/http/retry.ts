import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { RequestError, RetryAfterExceedsDeadline } from './errors.js';

/**
 * Returns the milliseconds until the next attempt, or `undefined` to give up. `errorCount`: the number of errors of this request
 * so far. Failures and throttled responses (423, 429) are counted separately.
 */
export type RetryRule = (error: RequestError, errorCount: number) => number | undefined;

/** The deadline of a request and the handling of its failures. */
export interface RequestPolicy {
  readonly deadline: Deadline;
  readonly retry: RetryRule;
  /** Called for each failure before a retry. `pause`: milliseconds until the retry. */
  readonly onRetry?: (error: RequestError, pause: number) => void;
  /** Shared with parallel requests. */
  readonly cooldown?: Cooldown;
  /** Starts an attempt as soon as fewer than the maximum are running. */
  readonly queue?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

export const noRetry: RetryRule = () => undefined;

/** Statuses that a retry can change, as the contract lists them. */
export function isTransientStatus(status: number): boolean {
  return [408, 423, 425, 429, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 530);
}

/** A promise of the contract. */
const maxAttempts = 5;
/**
 * Milliseconds. Without `Retry-After` the pauses between 5 attempts are at most 1, 2, 4 and 8 s. Only throttled requests
 * repeat often enough to reach `maxMs`.
 */
const requestPauses = { firstMs: 1_000, maxMs: 60_000 };

/** 5 attempts with exponential backoff and full jitter. A 423 or 429 is retried until the deadline. */
export function exponentialBackoff(random: () => number): RetryRule {
  return (error, errorCount) => {
    if (!error.transient || (errorCount >= maxAttempts && !error.isThrottled)) return undefined;
    return Math.max(backoff(errorCount, requestPauses, random()), error.retryAfterMs ?? 0);
  };
}

/**
 * Milliseconds before the next attempt: a share of a maximum that doubles from `firstMs` to `maxMs`. `attempts`: so far.
 * `share`: from 0 to 1. It is random, so that parallel jobs do not repeat their requests at the same time.
 */
export function backoff(
  attempts: number,
  { firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number },
  share: number,
): number {
  return share * Math.min(maxMs, firstMs * 2 ** (attempts - 1));
}

/** The error for a pause that the service asks for and that ends after the deadline. `pause`: milliseconds from now. */
export function exceededRetryAfter(
  error: RequestError,
  { remaining }: Deadline,
  pause = error.retryAfterMs ?? 0,
): RetryAfterExceedsDeadline | undefined {
  return pause > remaining ? new RetryAfterExceedsDeadline(error, remaining) : undefined;
}

export function checkRetryAfter(...args: Parameters<typeof exceededRetryAfter>): void {
  const exceeded = exceededRetryAfter(...args);
  if (exceeded !== undefined) throw exceeded;
}

export async function withRetries<T>(
  attempt: () => Promise<T>,
  { deadline, retry, onRetry, cooldown, queue = (start) => start() }: RequestPolicy,
): Promise<T> {
  const errorCounts = { failed: 0, throttled: 0 };
  let pause = 0;
  let lastError: RequestError | undefined;
  for (;;) {
    try {
      if (pause > 0) await deadline.sleep(pause);
      if (cooldown?.isActive(deadline)) await cooldown.wait(deadline);
      return await queue(attempt);
    } catch (error) {
      if (error instanceof DeadlineExceeded && lastError !== undefined) throw new DeadlineExceeded(lastError);
      if (!(error instanceof RequestError) || error instanceof RetryAfterExceedsDeadline) throw error;
      // 423 locks only one resource, so it does not delay other requests.
      if (error.status !== 423) cooldown?.note(error, deadline);
      lastError = error;
      const nextPause = retry(error, error.isThrottled ? ++errorCounts.throttled : ++errorCounts.failed);
      if (nextPause === undefined) throw error;
      // A promise of the contract. After another failure, a request sleeps to the deadline, because a wait polls there again.
      if (error.isThrottled) checkRetryAfter(error, deadline);
      onRetry?.(error, nextPause);
      pause = nextPause;
    }
  }
}

/** Shared by parallel requests: a `Retry-After` for one of them delays all. */
export class Cooldown {
  #until = 0;
  #cause: RequestError | undefined;

  note(error: RequestError, { clock }: Deadline): void {
    const until = clock.now() + (error.retryAfterMs ?? 0);
    if (until <= this.#until) return;
    this.#until = until;
    this.#cause = error;
  }

  isActive({ clock }: Deadline): boolean {
    return this.#until > clock.now();
  }

  async wait(deadline: Deadline): Promise<void> {
    while (this.isActive(deadline)) {
      const pause = this.#until - deadline.clock.now();
      if (this.#cause?.isThrottled) checkRetryAfter(this.#cause, deadline, pause);
      await deadline.sleep(pause);
    }
  }
}
