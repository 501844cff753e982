/**
 * Milliseconds, a promise of the contract: `auto` pauses this long at first, and later for a quarter of the time
 * waited.
 */
const minInterval = 500;
/** Milliseconds. A wait that gets one 429 reports the end within 10 s; bench/waits.ts measures it. */
const lone = 9_999;
/**
 * The longest pause without throttling. If an operation ends just after a poll and the next poll gets 429, the
 * following pause is twice as long. The result is then three pauses late.
 */
const maxInterval = lone / 3;
/**
 * Milliseconds. After a second 429 other clients are polling, too. If 500 of them share 40 requests a second, each can
 * poll every 12.5 s; this is about twice that. The same bench measures the effect.
 */
const crowdInterval = 24_000;
/** Milliseconds, a promise of the contract: a 429 raises the interval to at most this, or to `Retry-After`. */
const maxThrottledInterval = 60_000;
/** Pauses are shortened at random by up to this share, because the contract promises jitter. */
const jitter = 0.015;
/**
 * The n-th success in a row after a 429 shortens the interval by n/200. So it stays long while many clients poll, and
 * shrinks fast once they are gone.
 */
const easing = 200;

/**
 * Computes the pause until the next poll from the responses of this wait alone. After a 429 the pause is random, and at
 * least twice the last one (60 s if that is less). So clients that are throttled together do not return together.
 */
export class Pace {
  readonly #random: () => number;
  readonly #fixed: number | undefined;
  #last = 0;
  /** Milliseconds: the interval that throttled responses ask for; 0: none. */
  #throttledInterval = 0;
  #successesSince = 0;
  #wasThrottled = false;

  constructor(random: () => number, interval: number | 'auto') {
    this.#random = random;
    this.#fixed = interval === 'auto' ? undefined : interval;
  }

  /** True while throttled responses slow polling down. */
  get isSlowed(): boolean {
    return this.#throttledInterval > 0;
  }

  /** All in milliseconds. `waited`: since the first poll. */
  next(waited: number): number {
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

  throttled(retryAfter = 0): void {
    const previous = this.#last || (this.#fixed ?? minInterval);
    const min = Math.max(Math.min(maxThrottledInterval, 2 * previous), retryAfter);
    // Clients that got the same `Retry-After` would otherwise return together.
    const max = Math.max(this.#wasThrottled ? crowdInterval : lone - previous, 1.25 * retryAfter);
    const drawn = min + Math.max(0, max - min) * this.#random();
    this.#throttledInterval = retryAfter < maxThrottledInterval ? Math.min(maxThrottledInterval, drawn) : drawn;
    this.#wasThrottled = true;
    this.#successesSince = 0;
  }

  succeeded(): void {
    if (this.#throttledInterval === 0) return;
    this.#successesSince += 1;
    this.#throttledInterval = Math.min(this.#throttledInterval, crowdInterval) * (1 - this.#successesSince / easing);
  }
}
