import type { Clock } from '../time/clock.js';
import type { Deadline } from '../time/deadline.js';
import { RequestError, RetryAfterExceedsDeadline } from './errors.js';

// The figures held in a simulation of limiters from 10 to 40 requests a second, with 1 to 100 idle projects. A burst of 20,
// or half the rate after each 429, made the client trip a strict limiter again after each hold.
const burst = 8;
const maxPerSecond = 9.5;
const minPerSecond = 1;
const slowdown = 0.6;
/** Requests a second that the rate gains in each second. */
const recovery = 0.25;
const maxOpen = 12;
/** A request without a response for this long is not one of the `maxOpen`. */
const hangsAfter = 2_000;
/** The pause after a 429 without `Retry-After`. */
const usualHold = 1_000;
/** A hold is longer by up to a quarter, at random, so that clients do not return together. */
const spread = { share: 0.25, leastMs: 1_000, mostMs: 15_000 };

/** A request that waits for its turn, or has had it. */
interface Turn {
  readonly sendBy: Deadline;
  readonly begin: () => void;
  readonly fail: (error: Error) => void;
  beganAt: number;
}

/** Decides how many requests a step sends, and how fast: a token bucket, which each 429 holds and slows down. */
export class Rate {
  readonly #waiting = new Set<Turn>();
  readonly #open = new Set<Turn>();
  #tokens = burst;
  #perSecond = maxPerSecond;
  #refilledAt = 0;
  #heldUntil = 0;
  /** The end of the longest `Retry-After`, and the 429 that asked for it. */
  #asked: { readonly until: number; readonly error: RequestError } | undefined;
  /** So many requests are sent in spite of the bucket and of a hold. */
  #free = 0;
  #cancelTimer = (): void => undefined;

  /** `longestHold`: a longer `Retry-After` counts as this. In milliseconds. */
  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    readonly longestHold = Number.POSITIVE_INFINITY,
  ) {}

  /** The end of the latest hold, on the step's clock. 0 before the first one. */
  get heldUntil(): number {
    return this.#heldUntil;
  }

  /** The next 8 requests are sent at once, in spite of a hold. Then the bucket is empty. */
  allowBurst(): void {
    this.#free = burst;
    this.#tokens = 0;
    this.#refilledAt = Math.max(this.#heldUntil, this.clock.now());
    this.#beginNext();
  }

  /** Sends when its turn comes. Rejects if that is not before `sendBy`; at once if a 429 asks for a longer pause. */
  async run<T>(sendBy: Deadline, send: () => Promise<T>): Promise<T> {
    const turn = await this.#turn(sendBy);
    try {
      return await send();
    } catch (error) {
      if (error instanceof RequestError && error.status === 429) this.#hold(error, turn.beganAt);
      throw error;
    } finally {
      this.#open.delete(turn);
      this.#beginNext();
    }
  }

  #turn(sendBy: Deadline): Promise<Turn> {
    return sendBy.race(
      (onCancel) =>
        new Promise<Turn>((resolve, fail) => {
          const turn: Turn = { sendBy, begin: () => resolve(turn), fail, beganAt: 0 };
          onCancel(() => {
            this.#waiting.delete(turn);
            this.#open.delete(turn);
          });
          this.#waiting.add(turn);
          this.#rejectHopeless();
          this.#beginNext();
        }),
    );
  }

  #beginNext(): void {
    this.#cancelTimer();
    this.#refill();
    for (const turn of this.#waiting) {
      // Its race is about to reject it.
      if (turn.sendBy.isExpired) continue;
      const now = this.clock.now();
      const pause = this.#free > 0 ? 0 : Math.max(this.#untilPlace(now), this.#heldUntil - now, this.#untilToken());
      if (pause > 0) {
        this.#cancelTimer = this.clock.schedule(now + pause, () => this.#beginNext());
        return;
      }
      if (this.#free > 0) this.#free--;
      else this.#tokens--;
      this.#waiting.delete(turn);
      this.#open.add(turn);
      turn.beganAt = now;
      turn.begin();
    }
  }

  #untilPlace(now: number): number {
    const untilHung = [...this.#open].map(({ beganAt }) => beganAt + hangsAfter - now).filter((ms) => ms > 0);
    return untilHung.length < maxOpen ? 0 : Math.min(...untilHung);
  }

  #untilToken(): number {
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1_000);
  }

  #refill(): void {
    const seconds = Math.max(0, this.clock.now() - this.#refilledAt) / 1_000;
    const before = this.#perSecond;
    this.#refilledAt += seconds * 1_000;
    this.#perSecond = Math.min(maxPerSecond, before + recovery * seconds);
    this.#tokens = Math.min(burst, this.#tokens + (seconds * (before + this.#perSecond)) / 2);
  }

  /** `beganAt`: when the request was sent. If that was before a hold ended, the hold may get longer, but nothing slower. */
  #hold(error: RequestError, beganAt: number): void {
    const pause = Math.min(error.retryAfterMs ?? usualHold, this.longestHold);
    const endsAt = this.clock.now() + pause;
    if (beganAt < this.#heldUntil) this.#heldUntil = Math.max(this.#heldUntil, endsAt);
    else {
      const most = Math.min(spread.mostMs, Math.max(spread.leastMs, pause * spread.share));
      this.#heldUntil = endsAt + this.random() * most;
      this.#perSecond = Math.max(minPerSecond, this.#perSecond * slowdown);
    }
    // The first request is sent when the hold ends.
    this.#tokens = 1;
    this.#refilledAt = this.#heldUntil;
    // Without `Retry-After`, the service has not asked for this pause.
    if (error.retryAfterMs === undefined || endsAt < (this.#asked?.until ?? 0)) return;
    this.#asked = { until: endsAt, error };
    this.#rejectHopeless();
  }

  #rejectHopeless(): void {
    const { until, error } = this.#asked ?? {};
    if (error === undefined || until === undefined || until <= this.clock.now() || this.#free > 0) return;
    for (const turn of this.#waiting) {
      const { sendBy, fail } = turn;
      if (until <= sendBy.expiresAt) continue;
      this.#waiting.delete(turn);
      fail(new RetryAfterExceedsDeadline(error, sendBy.remaining));
    }
  }
}
