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
/** A limiter that asks for more than this is strict: no bursts, and after the first such 429 and the second, at most so fast. */
const strictAfter = 5_000;
const strictPerSecond = { first: 6, later: 3 };

/** A request that waits for its turn, or has had it. */
interface Turn {
  readonly sendBy: Deadline;
  readonly begin: () => void;
  readonly fail: (error: Error) => void;
  beganAt: number;
  leave: () => void;
}

/** Decides how many requests a step sends, and how fast: a token bucket, which each 429 holds and slows down. */
export class Rate {
  readonly #waiting = new Set<Turn>();
  #open = 0;
  #tokens = burst;
  #capacity = burst;
  #perSecond = maxPerSecond;
  #most = maxPerSecond;
  #strictHolds = 0;
  #refilledAt = 0;
  #heldUntil = 0;
  #retryAfter: { readonly endsAt: number; readonly cause: RequestError } | undefined;
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

  /** Sends when its turn comes. Rejects if that is not before `sendBy`; at once if a `Retry-After` ends later. */
  async run<T>(sendBy: Deadline, send: () => Promise<T>): Promise<T> {
    const ended = this.#retryAfterBeyond(sendBy);
    if (ended !== undefined) throw ended;
    let turn: Turn | undefined;
    try {
      await sendBy.race(
        (onCancel) =>
          new Promise<void>((begin, fail) => {
            const own = { sendBy, begin, fail, beganAt: 0, leave: () => void this.#waiting.delete(own) };
            turn = own;
            this.#waiting.add(own);
            onCancel(() => own.leave());
            this.#beginNext();
          }),
      );
      return await send();
    } catch (error) {
      if (error instanceof RequestError && error.status === 429) this.#hold(error, turn?.beganAt ?? 0);
      throw error;
    } finally {
      turn?.leave();
      this.#beginNext();
    }
  }

  #beginNext(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => undefined;
    this.#refill();
    for (const turn of this.#waiting) {
      // Its race is about to reject it.
      if (turn.sendBy.isExpired) continue;
      const pause = this.#pauseBeforeNext();
      if (pause > 0) {
        if (pause < Number.POSITIVE_INFINITY)
          this.#cancelTimer = this.clock.schedule(this.clock.now() + pause, () => this.#beginNext());
        return;
      }
      if (this.#free > 0) this.#free--;
      else this.#tokens--;
      this.#begin(turn);
    }
  }

  #begin(turn: Turn): void {
    this.#waiting.delete(turn);
    this.#open++;
    turn.beganAt = this.clock.now();
    const cancelTimer = this.clock.schedule(turn.beganAt + hangsAfter, () => {
      turn.leave();
      this.#beginNext();
    });
    turn.leave = () => {
      cancelTimer();
      turn.leave = () => undefined;
      this.#open--;
    };
    turn.begin();
  }

  #pauseBeforeNext(): number {
    if (this.#free > 0) return 0;
    if (this.#open >= maxOpen) return Number.POSITIVE_INFINITY;
    const untilToken = this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1_000);
    return Math.max(this.#heldUntil - this.clock.now(), untilToken);
  }

  #refill(): void {
    const seconds = Math.max(0, this.clock.now() - this.#refilledAt) / 1_000;
    const before = this.#perSecond;
    this.#refilledAt += seconds * 1_000;
    this.#perSecond = Math.min(this.#most, before + recovery * seconds);
    this.#tokens = Math.min(this.#capacity, this.#tokens + (seconds * (before + this.#perSecond)) / 2);
  }

  /** `beganAt`: when the request was sent. If that was before a hold ended, the hold may get longer, but nothing slower. */
  #hold(error: RequestError, beganAt: number): void {
    const { retryAfterMs = usualHold } = error;
    const now = this.clock.now();
    const pause = Math.min(retryAfterMs, this.longestHold);
    const isNew = beganAt >= this.#heldUntil;
    const longer = Math.min(spread.mostMs, Math.max(spread.leastMs, pause * spread.share));
    this.#heldUntil = Math.max(this.#heldUntil, now + pause + (isNew ? this.random() * longer : 0));
    if (isNew) this.#slowDown(pause);
    // The first request is sent when the hold ends.
    this.#tokens = 1;
    this.#refilledAt = this.#heldUntil;
    // Without `Retry-After`, the service has not asked for this pause.
    if (error.retryAfterMs === undefined || now + pause < (this.#retryAfter?.endsAt ?? 0)) return;
    this.#retryAfter = { endsAt: now + pause, cause: error };
    for (const { sendBy, fail } of this.#waiting) {
      const ended = this.#retryAfterBeyond(sendBy);
      if (ended !== undefined) fail(ended);
    }
  }

  #slowDown(pause: number): void {
    if (pause > strictAfter) {
      this.#most = this.#strictHolds++ === 0 ? strictPerSecond.first : strictPerSecond.later;
      this.#capacity = 1;
    }
    this.#perSecond = Math.min(this.#most, Math.max(minPerSecond, this.#perSecond * slowdown));
  }

  #retryAfterBeyond({ expiresAt, remaining }: Deadline): RetryAfterExceedsDeadline | undefined {
    if (this.#free > 0 || this.#retryAfter === undefined) return undefined;
    const { endsAt, cause } = this.#retryAfter;
    return endsAt > expiresAt && endsAt > this.clock.now()
      ? new RetryAfterExceedsDeadline(cause, remaining)
      : undefined;
  }
}
