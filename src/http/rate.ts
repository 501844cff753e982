import type { Clock } from '../time/clock.js';
import { type Deadline, DeadlineExceeded } from '../time/deadline.js';
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

/** A request that was sent. */
interface Sent {
  readonly at: number;
}

/** Decides how many requests a step sends, and how fast: a token bucket, which each 429 holds and slows down. */
export class Rate {
  readonly #open = new Set<Sent>();
  #tokens = burst;
  #perSecond = maxPerSecond;
  #refilledAt = 0;
  #heldUntil = 0;
  /** The end of the longest `Retry-After`, and the 429 that asked for it. */
  #asked: { readonly until: number; readonly error: RequestError } | undefined;
  /** So many requests are sent in spite of the bucket and of a hold. */
  #free = 0;
  /** Settles when no request waits for its turn. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Lets the first request of the queue look again. */
  #wakeFirst = (): void => undefined;

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
    this.#fillTo(0);
    this.#wakeFirst();
  }

  /** Sends when its turn comes. Rejects if that is not before `sendBy`; at once if a 429 asks for a longer pause. */
  async run<T>(sendBy: Deadline, send: () => Promise<T>): Promise<T> {
    const before = this.#queue;
    const turn = sendBy.race(() => before).then(() => this.#turn(sendBy));
    this.#queue = Promise.allSettled([before, turn]);
    const sent = await turn;
    try {
      return await send();
    } catch (error) {
      if (error instanceof RequestError && error.status === 429) this.#hold(error, sent);
      throw error;
    } finally {
      this.#open.delete(sent);
      this.#wakeFirst();
    }
  }

  /** Only the first request of the queue waits here. */
  async #turn(sendBy: Deadline): Promise<Sent> {
    for (;;) {
      if (sendBy.isExpired) throw new DeadlineExceeded();
      const now = this.clock.now();
      this.#refill(now);
      const pause = this.#free > 0 ? 0 : this.#pause(now);
      if (pause <= 0) break;
      if (this.#asked !== undefined && this.#asked.until > Math.max(now, sendBy.expiresAt))
        throw new RetryAfterExceedsDeadline(this.#asked.error, sendBy.remaining);
      await this.#sleep(now + pause, sendBy);
    }
    if (this.#free > 0) this.#free--;
    else this.#tokens--;
    const sent = { at: this.clock.now() };
    this.#open.add(sent);
    return sent;
  }

  #sleep(until: number, sendBy: Deadline): Promise<void> {
    return sendBy.race(
      (onCancel) =>
        new Promise((resolve) => {
          const cancelTimer = this.clock.schedule(until, resolve);
          onCancel(cancelTimer);
          this.#wakeFirst = () => {
            cancelTimer();
            resolve();
          };
        }),
    );
  }

  /** The time until there is a place, a token and no hold. */
  #pause(now: number): number {
    const untilHung = [...this.#open].map(({ at }) => at + hangsAfter - now).filter((ms) => ms > 0);
    const untilPlace = untilHung.length < maxOpen ? 0 : Math.min(...untilHung);
    const untilToken = Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1_000);
    return Math.max(untilPlace, untilToken, this.#heldUntil - now);
  }

  #refill(now: number): void {
    const seconds = Math.max(0, now - this.#refilledAt) / 1_000;
    const before = this.#perSecond;
    this.#refilledAt += seconds * 1_000;
    this.#perSecond = Math.min(maxPerSecond, before + recovery * seconds);
    this.#tokens = Math.min(burst, this.#tokens + (seconds * (before + this.#perSecond)) / 2);
  }

  /** The bucket has so many tokens when the hold ends. */
  #fillTo(tokens: number): void {
    this.#tokens = tokens;
    this.#refilledAt = Math.max(this.#heldUntil, this.clock.now());
  }

  /** Of all requests that were sent before a hold ended, one lowers the rate. */
  #hold(error: RequestError, sent: Sent): void {
    const pause = Math.min(error.retryAfterMs ?? usualHold, this.longestHold);
    const endsAt = this.clock.now() + pause;
    if (sent.at < this.#heldUntil) this.#heldUntil = Math.max(this.#heldUntil, endsAt);
    else {
      // Clients that get a 429 together do not return together.
      const spread = Math.min(15_000, Math.max(1_000, pause / 4));
      this.#heldUntil = endsAt + this.random() * spread;
      this.#perSecond = Math.max(minPerSecond, this.#perSecond * slowdown);
    }
    this.#fillTo(1);
    // Without `Retry-After`, the service has not asked for this pause.
    if (error.retryAfterMs !== undefined && endsAt >= (this.#asked?.until ?? 0)) this.#asked = { until: endsAt, error };
  }
}
