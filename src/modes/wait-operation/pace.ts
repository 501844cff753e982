import type { RequestError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';

/**
 * Milliseconds, a promise of the contract: `auto` pauses this long at first, and later for a quarter of the time
 * waited.
 */
const minInterval = 500;
/** Milliseconds. A wait that gets a single 429 learns of the end within this time. bench/waits.ts measures it. */
const maxLagAfterOne429 = 10_000;
/**
 * Milliseconds: the longest pause without throttling. If an operation ends just after a poll and the next poll gets 429, the
 * following pause is twice as long. The lag is then three pauses, so this is a third, rounded down.
 */
const maxInterval = 3_333;
/**
 * Milliseconds: the upper end of the random pauses from the second 429 on, which means that many clients are polling. In
 * bench/waits.ts 500 clients share 40 requests a second, so each can poll every 12.5 s. This is twice as long, so that the
 * mean pause is about 12.5 s.
 */
const crowdInterval = 25_000;
/** Milliseconds, a promise of the contract: a 429 raises the interval to at most this, or to `Retry-After`. */
const maxThrottledInterval = 60_000;
/** Clients with the same `Retry-After` come back spread over an extra quarter of it. `auto` may be late by a quarter, too. */
const retryAfterSpread = 1.25;
/**
 * Pauses are shortened at random by up to this share, so that clients that started together spread: of 100, at most 17 poll
 * within the same 100 ms after half a minute, against 72 with a share of 0.015. More would cost requests: a wait of 60 s
 * takes at most 31, against 28. bench/waits.ts measures both.
 */
const jitter = 0.15;
/**
 * The n-th success in a row after a 429 shortens the interval by n/200: from 25 s to 3.3 s in about 27 polls. So it stays
 * long while many clients poll, and shrinks fast once they are gone. A constant factor or step keeps the last of the crowd
 * in bench/waits.ts waiting for more than its 90 s.
 */
const easing = 200;

/**
 * Decides when the next poll and the next request may start, from the responses of this wait alone. After a 429 the pause
 * is random, and at least twice the last one (60 s if that is less). So clients that are throttled together do not
 * return together.
 */
export class Pace {
  readonly #deadline: Deadline;
  readonly #random: () => number;
  readonly #fixed: number | undefined;
  readonly #began: number;
  #last = 0;
  /** Milliseconds: the interval that throttled responses ask for; 0: none. */
  #throttledInterval = 0;
  #successesSince = 0;
  #wasThrottled = false;
  /** Until this time on the step's clock, another 423 or 429 does not slow polling down further. */
  #slowedUntil = 0;
  /** Until this time on the step's clock, a 429 holds back all requests. */
  #heldUntil = 0;

  constructor(deadline: Deadline, random: () => number, interval: number | 'auto') {
    this.#deadline = deadline;
    this.#random = random;
    this.#fixed = interval === 'auto' ? undefined : interval;
    this.#began = deadline.clock.now();
  }

  /** True while throttled responses slow polling down. */
  get isSlowed(): boolean {
    return this.#throttledInterval > 0;
  }

  /** Milliseconds until a request may be sent; 0 or less: at once. */
  get heldFor(): number {
    return this.#heldUntil - this.#deadline.clock.now();
  }

  /** Milliseconds until the next poll. */
  next(): number {
    const waited = this.#deadline.clock.now() - this.#began;
    const usual = this.#fixed ?? Math.min(maxInterval, Math.max(minInterval, waited / 4));
    if (this.#successesSince > 0 && this.#throttledInterval <= usual) {
      this.#throttledInterval = 0;
      this.#successesSince = 0;
      this.#wasThrottled = false;
    }
    // The pause after a throttled response is random already. Jitter would make it shorter than the service asked for.
    const drawn = this.#throttledInterval > 0 && this.#successesSince === 0;
    const interval = Math.max(usual, this.#throttledInterval) * (drawn ? 1 : 1 - jitter * this.#random());
    this.#last = Math.max(this.#fixed ?? 0, interval);
    return this.#last;
  }

  /** Records a poll. It counts as a success only if no parallel request was throttled meanwhile. */
  recordPoll(): void {
    if (this.#throttledInterval === 0 || this.#deadline.clock.now() < this.#slowedUntil) return;
    this.#successesSince += 1;
    this.#throttledInterval = Math.min(this.#throttledInterval, crowdInterval) * (1 - this.#successesSince / easing);
  }

  /**
   * Returns how long the throttled request waits, in milliseconds. A 423 locks one resource, so other requests do not
   * wait for it.
   */
  slowDown({ status, retryAfterMs = 0 }: RequestError): number {
    const now = this.#deadline.clock.now();
    // Only the first of several parallel responses slows polling down: the other requests were sent before it arrived.
    if (now >= this.#slowedUntil) {
      this.#raiseInterval(status === 423 ? 0 : retryAfterMs);
      this.#slowedUntil = now + this.next();
    }
    const until = Math.max(this.#slowedUntil, now + retryAfterMs);
    if (status === 429) this.#heldUntil = Math.max(this.#heldUntil, until);
    return until - now;
  }

  #raiseInterval(retryAfter: number): void {
    const previous = this.#last || (this.#fixed ?? minInterval);
    const min = Math.max(Math.min(maxThrottledInterval, 2 * previous), retryAfter);
    // Clients that got the same `Retry-After` would otherwise return together.
    const max = Math.max(
      this.#wasThrottled ? crowdInterval : maxLagAfterOne429 - previous,
      retryAfterSpread * retryAfter,
    );
    const drawn = min + Math.max(0, max - min) * this.#random();
    this.#throttledInterval = retryAfter < maxThrottledInterval ? Math.min(maxThrottledInterval, drawn) : drawn;
    this.#wasThrottled = true;
    this.#successesSince = 0;
  }

  /** Starts the attempt as soon as a request may be sent. */
  async start<T>(attempt: () => Promise<T>): Promise<T> {
    let waitedUntil = 0;
    // Another response may extend the pause meanwhile.
    while (this.#heldUntil > Math.max(waitedUntil, this.#deadline.clock.now())) {
      waitedUntil = this.#heldUntil;
      await this.#deadline.sleep(this.heldFor);
    }
    return attempt();
  }
}
