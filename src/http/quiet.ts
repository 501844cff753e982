import type { Limit } from '../time/limit.js';
import { type ApiError, AskedToWaitTooLong } from './errors.js';

/** Shared by parallel requests: a `Retry-After` for one of them delays all. */
export class Quiet {
  #until = 0;
  #asked: ApiError | undefined;

  hear(error: ApiError, { clock }: Limit): void {
    const until = clock.now() + (error.retryAfter ?? 0);
    if (until <= this.#until) return;
    this.#until = until;
    this.#asked = error;
  }

  lasts({ clock }: Limit): boolean {
    return this.#until > clock.now();
  }

  async keep(limit: Limit): Promise<void> {
    while (this.lasts(limit)) {
      const left = this.#until - limit.clock.now();
      if (this.#asked?.asksForPatience && left > limit.left) throw new AskedToWaitTooLong(this.#asked, limit.left);
      await limit.sleep(left);
    }
  }
}
