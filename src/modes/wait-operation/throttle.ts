import type { RequestError } from '../../http/errors.js';
import type { Deadline } from '../../time/deadline.js';
import type { Pace } from './pace.js';

/** Slows polling down after a 423 or 429, and holds all requests back as long as a 429 asks for. */
export class Throttle {
  readonly #deadline: Deadline;
  readonly #pace: Pace;
  readonly #began: number;
  /** Until this time on the step's clock, another 423 or 429 does not slow polling down further. */
  #slowedUntil = 0;
  /** Until this time on the step's clock, a 429 holds back all requests. */
  #heldUntil = 0;

  constructor(deadline: Deadline, pace: Pace) {
    this.#deadline = deadline;
    this.#pace = pace;
    this.#began = deadline.clock.now();
  }

  /** Milliseconds until a request may be sent; 0 or less: at once. */
  get remaining(): number {
    return this.#heldUntil - this.#deadline.clock.now();
  }

  /** Records a poll. It counts as a success only if no parallel request was throttled meanwhile. */
  recordPoll(): void {
    if (this.#deadline.clock.now() >= this.#slowedUntil) this.#pace.succeeded();
  }

  /**
   * Returns how long the throttled request waits, in milliseconds. A 423 locks one resource, so other requests do not
   * wait for it.
   */
  slowDown({ status, retryAfterMs = 0 }: RequestError): number {
    const now = this.#deadline.clock.now();
    // Only the first of several parallel responses slows polling down: the other requests were sent before it arrived.
    if (now >= this.#slowedUntil) {
      this.#pace.throttled(status === 423 ? 0 : retryAfterMs);
      this.#slowedUntil = now + this.#pace.next(now - this.#began);
    }
    const until = Math.max(this.#slowedUntil, now + retryAfterMs);
    if (status === 429) this.#heldUntil = Math.max(this.#heldUntil, until);
    return until - now;
  }

  /** Starts the attempt as soon as a request may be sent. */
  async start<T>(attempt: () => Promise<T>): Promise<T> {
    let waitedUntil = 0;
    // Another response may extend the pause meanwhile.
    while (this.#heldUntil > Math.max(waitedUntil, this.#deadline.clock.now())) {
      waitedUntil = this.#heldUntil;
      await this.#deadline.sleep(this.remaining);
    }
    return attempt();
  }
}
