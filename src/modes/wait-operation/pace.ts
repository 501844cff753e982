import type { RequestError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';

/** `auto` begins with this pause, and later pauses for 1/4 of the time waited. In milliseconds, a promise of the contract. */
const minInterval = 500;
/** After a single 429 a wait notices the end of its operation within this time (see bench/waits.ts). In milliseconds. */
const maxLagAfterOne429 = 10_000;
/**
 * The longest pause without throttling, in milliseconds. If an operation ends just after a poll and the next poll gets 429,
 * the pause after that poll is twice as long. Both pauses together must fit into `maxLagAfterOne429`.
 */
const maxInterval = 3_333;
/**
 * The longest random pause after a second 429, in milliseconds. A second 429 means that many clients are polling. In
 * bench/waits.ts, 500 clients share 40 requests a second, so the mean pause must be about 12.5 s.
 */
const crowdInterval = 25_000;
/** A 429 raises the interval to at most this, unless `Retry-After` is longer. In milliseconds, a promise of the contract. */
const maxThrottledInterval = 60_000;
/** Clients with the same `Retry-After` must not return together, so each client waits up to a quarter longer, at random. */
const retryAfterSpread = 1.25;
/**
 * Each pause is shortened at random by up to this fraction, so that clients that started together spread out: after half a
 * minute, at most 17 of 100 clients poll within the same 100 ms. With a tenth of this fraction, as many as 72 do. A larger
 * fraction costs more requests: a wait of 60 s sends up to 31, and with a tenth up to 28. bench/waits.ts measures both.
 */
const jitter = 0.15;
/**
 * After a 429, the n-th success in a row shortens the interval by n/200: from 25 s to 3.3 s in about 27 polls. The interval
 * thus stays long while many clients poll, and shrinks fast afterwards. With a constant factor or step, the last clients in
 * bench/waits.ts wait longer than its limit of 90 s.
 */
const easing = 200;

/**
 * Decides when the next poll and the next request may start. After a 429 the pause at least doubles, up to 60 s. The pause
 * is then random, so that clients that are throttled together do not return together.
 */
export class Pace {
  readonly #deadline: Deadline;
  readonly #random: () => number;
  readonly #fixed: number | undefined;
  readonly #began: number;
  #last = 0;
  /** Milliseconds between polls while the service throttles, else 0. */
  #throttledInterval = 0;
  #successesSince = 0;
  #wasThrottled = false;
  /** A 423 or 429 before this time, on the step's clock, does not slow polling down further. */
  #slowedUntil = 0;
  /** After a 429 no request starts before this time, on the step's clock. */
  #heldUntil = 0;

  constructor(deadline: Deadline, random: () => number, interval: number | 'auto') {
    this.#deadline = deadline;
    this.#random = random;
    this.#fixed = interval === 'auto' ? undefined : interval;
    this.#began = deadline.clock.now();
  }

  /** True while polling is slower because of a 423 or 429. */
  get isSlowed(): boolean {
    return this.#throttledInterval > 0;
  }

  /** Milliseconds until a request may start. If 0 or negative, a request may start at once. */
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
    // A pause right after a 423 or 429 is already random. Jitter would make that pause shorter than `Retry-After`.
    const drawn = this.#throttledInterval > 0 && this.#successesSince === 0;
    const interval = Math.max(usual, this.#throttledInterval) * (drawn ? 1 : 1 - jitter * this.#random());
    this.#last = Math.max(this.#fixed ?? 0, interval);
    return this.#last;
  }

  /** Records the end of a poll, which is a success only if no parallel request was throttled. */
  recordPoll(): void {
    if (this.#throttledInterval === 0 || this.#deadline.clock.now() < this.#slowedUntil) return;
    this.#successesSince += 1;
    this.#throttledInterval = Math.min(this.#throttledInterval, crowdInterval) * (1 - this.#successesSince / easing);
  }

  /**
   * Returns the milliseconds until a throttled request is repeated. Only a 429 delays other requests too, because a 423
   * locks a single resource.
   */
  slowDown({ status, retryAfterMs = 0 }: RequestError): number {
    const now = this.#deadline.clock.now();
    // Of several parallel responses, only the first slows polling down, because the other requests started before it.
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
    const max = Math.max(
      this.#wasThrottled ? crowdInterval : maxLagAfterOne429 - previous,
      retryAfterSpread * retryAfter,
    );
    const drawn = min + Math.max(0, max - min) * this.#random();
    this.#throttledInterval = retryAfter < maxThrottledInterval ? Math.min(maxThrottledInterval, drawn) : drawn;
    this.#wasThrottled = true;
    this.#successesSince = 0;
  }

  /** Waits until the pace allows another request, then runs `attempt`. */
  async start<T>(attempt: () => Promise<T>): Promise<T> {
    let waitedUntil = 0;
    // During the sleep, another 429 may extend the pause.
    while (this.#heldUntil > Math.max(waitedUntil, this.#deadline.clock.now())) {
      waitedUntil = this.#heldUntil;
      await this.#deadline.sleep(this.heldFor);
    }
    return attempt();
  }
}
