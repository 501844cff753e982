import type { Clock } from '../time/clock.js';
import type { Deadline, OnCancel } from '../time/deadline.js';
import { beyondDeadline, RequestError } from './errors.js';

// These values worked in a simulation with 1 to 100 idle projects, and limits of 10 to 40 requests a second. With a burst of
// 20, or half the rate after each 429, a strict limiter rejected requests again after each pause.
const burst = 8;
const maxPerSecond = 9.5;
const minPerSecond = 1;
const slowdown = 0.6;
/** Requests a second that the rate gains in each second after a hold. */
const recovery = 0.25;
const maxOpen = 12;
/** A request without a response for this long is not one of the `maxOpen`. */
const hangsAfter = 2_000;
/** The pause after a 429 without `Retry-After`. */
const usualHold = 1_000;

type Waiting = { sendBy: Deadline; go: (sentAt: number) => void; fail: (error: Error) => void };

/** Decides how many requests a step sends, and how fast: a token bucket, which each 429 holds and slows down. */
export class Rate {
  /** The end of the latest hold, on the step's clock. */
  heldUntil = 0;
  readonly #waiting = new Set<Waiting>();
  /** When each request without a response was sent. */
  readonly #open: number[] = [];
  /** When the bucket was empty: in the future during a hold. Each interval since then is one token, up to `burst`. */
  #emptyAt = Number.NEGATIVE_INFINITY;
  /** The rate at the end of the latest hold, in requests a second. */
  #slowedTo = maxPerSecond;
  /** The end of the longest `Retry-After`, and the 429 that asked for it. */
  #asked: { readonly until: number; readonly error: RequestError } | undefined;
  /** The number of requests that are sent in spite of the bucket and of a hold. */
  #free = 0;
  #cancelTimer = (): void => undefined;

  /** `longestHold`: a longer `Retry-After` counts as this. In milliseconds. */
  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    readonly longestHold = Number.POSITIVE_INFINITY,
  ) {}

  /** The next 8 requests are sent at once, in spite of a hold. Then the bucket is empty. */
  allowBurst(): void {
    this.#emptyAt = Math.max(this.#emptyAt, this.clock.now());
    this.#free = burst;
    this.#sendNext();
  }

  /** Sends when its turn comes. Rejects if that is not before `sendBy`; at once if a 429 asks for a longer pause. */
  async run<T>(sendBy: Deadline, send: () => Promise<T>): Promise<T> {
    const turn = (onCancel: OnCancel) =>
      new Promise<number>((go, fail) => {
        const waiting = { sendBy, go, fail };
        this.#waiting.add(waiting);
        onCancel(() => {
          this.#waiting.delete(waiting);
          this.#sendNext();
        });
        this.#sendNext();
      });
    const sentAt = await sendBy.race(turn);
    try {
      return await send();
    } catch (error) {
      if (error instanceof RequestError && error.status === 429) this.#hold(error, sentAt);
      throw error;
    } finally {
      this.#open.splice(this.#open.indexOf(sentAt), 1);
      this.#sendNext();
    }
  }

  #sendNext(): void {
    this.#cancelTimer();
    const now = this.clock.now();
    for (const waiting of this.#waiting) {
      const { sendBy, go, fail } = waiting;
      // Its own deadline ends it.
      if (sendBy.isExpired) continue;
      const pause = this.#pause(now);
      if (pause <= 0) {
        if (this.#free > 0) this.#free--;
        else this.#emptyAt = Math.max(this.#emptyAt, now - burst * this.#interval(now)) + this.#interval(now);
        this.#open.push(now);
        go(now);
      } else if (this.#asked !== undefined && this.#asked.until > sendBy.expiresAt) {
        fail(beyondDeadline(this.#asked.error, sendBy.remaining));
      } else {
        this.#cancelTimer = this.clock.schedule(now + pause, () => this.#sendNext());
        return;
      }
      this.#waiting.delete(waiting);
    }
  }

  #pause(now: number): number {
    if (this.#free > 0) return 0;
    const untilHung = this.#open.map((sentAt) => sentAt + hangsAfter - now).filter((ms) => ms > 0);
    const untilPlace = untilHung.length < maxOpen ? 0 : Math.min(...untilHung);
    // A sum of intervals has a rounding error.
    const untilToken = Math.ceil(this.#emptyAt + this.#interval(now) - now - 1e-6);
    return Math.max(untilPlace, untilToken, this.heldUntil - now);
  }

  /** Milliseconds from one request to the next. */
  #interval(now: number): number {
    const gained = (recovery * Math.max(0, now - this.heldUntil)) / 1_000;
    return 1_000 / Math.min(maxPerSecond, this.#slowedTo + gained);
  }

  /** Of all requests that were sent before a hold ended, one lowers the rate. When the hold ends, there is one token. */
  #hold(error: RequestError, sentAt: number): void {
    const now = this.clock.now();
    const pause = Math.min(error.retryAfterMs ?? usualHold, this.longestHold);
    const until = now + pause;
    let spread = 0;
    if (sentAt >= this.heldUntil) {
      // Clients that get a 429 together do not return together.
      spread = this.random() * Math.min(15_000, Math.max(1_000, pause / 4));
      this.#slowedTo = Math.max(minPerSecond, (slowdown * 1_000) / this.#interval(now));
    }
    this.heldUntil = Math.max(this.heldUntil, until + spread);
    this.#emptyAt = this.heldUntil - this.#interval(now);
    // Without `Retry-After`, the service has not asked for this pause.
    if (error.retryAfterMs !== undefined && until >= (this.#asked?.until ?? 0)) this.#asked = { until, error };
  }
}
