import { type RequestError, RetryAfterExceedsDeadline } from '../http/errors.js';
import type { Clock } from '../time/clock.js';
import type { Deadline } from '../time/deadline.js';

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
  exceeded({ remaining }: Deadline): RetryAfterExceedsDeadline | undefined {
    const { cause } = this;
    return cause && this.remaining > remaining ? new RetryAfterExceedsDeadline(cause, remaining) : undefined;
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
