import type { Limit } from '../time/limit.js';
import { type ApiError, AskedToWaitTooLong } from './errors.js';

/** What the service tells one of those who ask side by side holds for all: for so long nobody asks. */
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
