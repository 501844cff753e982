import type { RequestError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';
import { maxThrottledInterval, minInterval } from './limits.js';

// Times are in milliseconds.

/** After a single 429, a wait notices the end of its operation within this time (see bench/waits.ts). */
const maxLagAfterOne429 = 10_000;
/** The longest pause without throttling. A 429 doubles the next one. Together they take at most `maxLagAfterOne429`. */
const maxInterval = maxLagAfterOne429 / 3;
/**
 * The longest random pause after a second 429. Such a 429 means that many clients are polling. In bench/waits.ts, 500 clients
 * share 40 requests a second. So the mean pause must be about 12.5 s, half of this one.
 */
const crowdInterval = 25_000;
/** Each client waits up to a quarter longer than `Retry-After`, at random. So clients do not return together. */
const retryAfterSpread = 1.25;
/**
 * Each pause is shortened at random by up to this fraction, so clients that started together spread out. After half a
 * minute, at most 17 of 100 clients poll within the same 100 ms. With a tenth of this fraction, 72 clients do. A wait of
 * 60 s sends up to 31 requests, and 28 with a tenth. bench/waits.ts measures both.
 */
const maxJitter = 0.15;
/**
 * After a 429, the n-th success in a row shortens the interval by the fraction n/200. So about 27 polls shorten it from 25 s
 * to 3.3 s. With a constant fraction or a constant amount, some clients of bench/waits.ts would wait for more than 90 s.
 */
const easingSteps = 200;

/**
 * - `usual`: the service answers
 * - `throttled`: the last poll got a 429; the interval is already random, and must not become shorter
 * - `easing`: polls succeed again, and the interval returns to the usual one; `successes` counts them
 */
type State =
  | { readonly name: 'usual' }
  | { readonly name: 'throttled'; readonly interval: number }
  | { readonly name: 'easing'; readonly interval: number; readonly successes: number };

/** Decides when the next poll and the next request may start. */
export class Pace {
  readonly #fixed: number | undefined;
  readonly #began: number;
  #state: State = { name: 'usual' };
  #lastPause: number;
  /** Until this time on the step's clock, another 429 does not slow polling down further. */
  #slowedUntil = 0;
  /** After a 429, no request starts before this time on the step's clock. */
  #heldUntil = 0;

  constructor(
    private readonly deadline: Deadline,
    private readonly random: () => number,
    interval: number | 'auto',
  ) {
    this.#fixed = interval === 'auto' ? undefined : interval;
    this.#began = deadline.clock.now();
    this.#lastPause = this.#fixed ?? minInterval;
  }

  get isSlowed(): boolean {
    return this.#state.name !== 'usual';
  }

  /** Time until a request may start. Negative if a request may start at once. */
  get heldFor(): number {
    return this.#heldUntil - this.deadline.clock.now();
  }

  /** Time until the next poll. */
  next(): number {
    const usual = this.#usualInterval;
    if (this.#state.name === 'easing' && this.#state.interval <= usual) this.#state = { name: 'usual' };
    // An interval right after a 429 is already random. Jitter could make it shorter than `Retry-After`.
    const jitter = this.#state.name === 'throttled' ? 1 : 1 - maxJitter * this.random();
    this.#lastPause = Math.max(this.#fixed ?? 0, this.#interval * jitter);
    return this.#lastPause;
  }

  /** Runs at the end of each poll with a response. The poll is a success only if no parallel request was throttled. */
  recordPoll(): void {
    const state = this.#state;
    if (state.name === 'usual' || this.deadline.clock.now() < this.#slowedUntil) return;
    const successes = state.name === 'easing' ? state.successes + 1 : 1;
    const interval = Math.min(state.interval, crowdInterval) * (1 - successes / easingSteps);
    this.#state = { name: 'easing', interval, successes };
  }

  /** Call this after a 429. Returns the time at which requests may start again, on the step's clock. */
  slowDown({ retryAfterMs = 0 }: RequestError): number {
    const now = this.deadline.clock.now();
    // Several open requests can get a 429 at the same time. Only the first of these responses slows polling down.
    if (now >= this.#slowedUntil) {
      this.#state = { name: 'throttled', interval: this.#raisedInterval(retryAfterMs) };
      this.#lastPause = this.#interval;
      this.#slowedUntil = now + this.#lastPause;
    }
    this.#heldUntil = Math.max(this.#heldUntil, this.#slowedUntil, now + retryAfterMs);
    return this.#heldUntil;
  }

  async hold(): Promise<void> {
    // During the sleep, another 429 may extend the pause.
    while (this.heldFor > 0) await this.deadline.sleepUntil(this.#heldUntil);
  }

  get #usualInterval(): number {
    const waited = this.deadline.clock.now() - this.#began;
    return this.#fixed ?? Math.min(maxInterval, Math.max(minInterval, waited / 4));
  }

  get #interval(): number {
    return Math.max(this.#usualInterval, this.#state.name === 'usual' ? 0 : this.#state.interval);
  }

  #raisedInterval(retryAfter: number): number {
    const previous = this.#lastPause;
    const min = Math.max(Math.min(maxThrottledInterval, 2 * previous), retryAfter);
    const maxOnce = this.isSlowed ? crowdInterval : maxLagAfterOne429 - previous;
    const max = Math.max(maxOnce, retryAfterSpread * retryAfter);
    const drawn = min + Math.max(0, max - min) * this.random();
    return retryAfter < maxThrottledInterval ? Math.min(maxThrottledInterval, drawn) : drawn;
  }
}
