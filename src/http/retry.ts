import pLimit from 'p-limit';
import type { Clock } from '../time/clock.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { RequestError, RetryAfterExceedsDeadline } from './errors.js';
import type { HttpHeaders } from './exchange.js';

/**
 * Milliseconds until the next attempt, or undefined to give up. `errorCount`: the number of throttled responses after a
 * throttled one, else the number of other errors. `beganAt`: when the failed attempt began, on the step's clock.
 */
type RetryRule = (error: RequestError, errorCount: number, beganAt: number) => number | undefined;

export interface RequestPolicy {
  readonly deadline: Deadline;
  readonly retry: RetryRule;
  readonly onRetry?: (error: RequestError, pause: number) => void;
  readonly cooldown?: Cooldown;
  /** A request without a response for this long is sent once more, on a new connection. In milliseconds. */
  readonly resendAfter?: number;
  /** Limits the number of parallel requests: a request may have to wait until another one ends. */
  readonly queue?: <T>(attempt: () => Promise<T>) => Promise<T>;
}

/** A request was given up without a response, so that it can be sent once more. That is no failure. */
export class NoResponseYet extends Error {}

export const noRetry: RetryRule = () => undefined;

/** True for the statuses that are retried according to the contract. */
export function isTransientStatus(status: number): boolean {
  return [408, 423, 425, 429, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 530);
}

/** Outside of polls, the contract promises 5 attempts for each request. A 423 or 429 is retried until the deadline. */
const maxAttempts = 5;
/** The pauses between 5 attempts are at most 1, 2, 4 and 8 s. Only throttled requests can reach `maxMs`. */
const requestPauses = { firstMs: 1_000, maxMs: 60_000 };

/** Backoff with full jitter. Throws if a `Retry-After` ends after `deadline`. */
export function exponentialBackoff(random: () => number, deadline?: Deadline): RetryRule {
  return (error, errorCount) => {
    if (!error.transient || (errorCount >= maxAttempts && !error.isThrottled)) return undefined;
    if (deadline !== undefined) checkRetryAfter(error, deadline);
    return Math.max(backoff(errorCount, requestPauses, random()), error.retryAfterMs ?? 0);
  };
}

/** Returns `share` (0 to 1) of a maximum that doubles with each attempt. A random share spreads the retries of many jobs. */
export function backoff(attempts: number, { firstMs, maxMs }: typeof requestPauses, share: number): number {
  return share * Math.min(maxMs, firstMs * 2 ** (attempts - 1));
}

/** Returns an error if the pause ends after the deadline. `pause`: milliseconds until the `Retry-After` ends. */
export function exceededRetryAfter(error: RequestError, { remaining }: Deadline, pause = error.retryAfterMs ?? 0) {
  return pause > remaining ? new RetryAfterExceedsDeadline(error, remaining) : undefined;
}

export function checkRetryAfter(error: RequestError, deadline: Deadline): void {
  const exceeded = exceededRetryAfter(error, deadline);
  if (exceeded !== undefined) throw exceeded;
}

/** `attempt` is called with true if it repeats a request that was given up. */
export async function withRetries<T>(
  attempt: (isResend: boolean) => Promise<T>,
  { deadline, retry, onRetry, cooldown, queue = (start) => start() }: RequestPolicy,
): Promise<T> {
  const errorCounts = { failed: 0, throttled: 0 };
  let pause = 0;
  let lastError: RequestError | undefined;
  let beganAt = 0;
  let isResend = false;
  const begin = () => {
    beganAt = deadline.clock.now();
    return attempt(isResend);
  };
  for (;;) {
    try {
      if (pause > 0) await deadline.sleep(pause);
      await cooldown?.wait(deadline);
      return await queue(begin);
    } catch (error) {
      if (error instanceof DeadlineExceeded && lastError !== undefined) throw new DeadlineExceeded(lastError);
      pause = 0;
      isResend = error instanceof NoResponseYet;
      if (isResend) continue;
      if (!(error instanceof RequestError) || error instanceof RetryAfterExceedsDeadline) throw error;
      // A 423 means that a single resource is locked, so other requests do not wait.
      if (error.status !== 423) cooldown?.note(error);
      lastError = error;
      const nextPause = retry(error, error.isThrottled ? ++errorCounts.throttled : ++errorCounts.failed, beganAt);
      if (nextPause === undefined) throw error;
      onRetry?.(error, nextPause);
      pause = nextPause;
    }
  }
}

/** Requests that share a cooldown are delayed by the longest `Retry-After` of their responses. */
export class Cooldown {
  #until = 0;
  #cause: RequestError | undefined;

  constructor(private readonly clock: Clock) {}

  /** In milliseconds. */
  get remaining(): number {
    return Math.max(0, this.#until - this.clock.now());
  }

  /** The error whose `Retry-After` has not ended yet. */
  get cause(): RequestError | undefined {
    return this.remaining > 0 ? this.#cause : undefined;
  }

  note(error: RequestError): void {
    const until = this.clock.now() + (error.retryAfterMs ?? 0);
    if (until <= this.#until) return;
    this.#until = until;
    this.#cause = error;
  }

  /** Returns an error if the cooldown ends after the deadline. */
  exceeded(deadline: Deadline): RetryAfterExceedsDeadline | undefined {
    return this.cause && exceededRetryAfter(this.cause, deadline, this.remaining);
  }

  async wait(deadline: Deadline): Promise<void> {
    // During the sleep, another response may extend the cooldown.
    while (this.cause !== undefined) {
      const exceeded = this.exceeded(deadline);
      if (exceeded !== undefined) throw exceeded;
      await deadline.sleep(this.remaining);
    }
  }
}

/** `Retry-After` is capped at 366 days, the longest duration that an input accepts. */
const maxMs = 366 * 86_400_000;

/** Returns `Retry-After` in milliseconds. A date is relative to the `Date` header, or to `nowMs` if there is none. */
export function parseRetryAfter(headers: HttpHeaders, nowMs: number): number | undefined {
  const header = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(header)) return Math.min(Number(header) * 1_000, maxMs);
  const until = parseHttpDate(header);
  if (until === undefined) return undefined;
  return Math.min(Math.max(0, until - (parseDateHeader(headers) ?? nowMs)), maxMs);
}

/** The time on the service's clock, in milliseconds since 1970. */
export function parseDateHeader(headers: HttpHeaders): number | undefined {
  return parseHttpDate(headers['date']?.trim() ?? '');
}

/** Date.parse alone would read a bare number as a year or month, and HTTP's asctime format as local time. */
function parseHttpDate(text: string): number | undefined {
  const isAsctime = /^\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}$/.test(text);
  if (!isAsctime && !/GMT$|^\d{4}-/.test(text)) return undefined;
  const epochMs = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/** Maximum number of parallel requests. The polls of a wait have a limit of their own. */
const maxConcurrency = 6;

export function mapConcurrently<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pLimit(maxConcurrency).map(items, work);
}
