import type { RequestError } from '../../http/errors.js';
import type { Rate } from '../../http/rate.js';
import type { Clock } from '../../time/clock.js';

// Times are in milliseconds, on the step's clock.

/** A request is given up if its whole response takes longer. The next one gets twice the time, up to `mostPatience`. */
export const firstPatience = 5_000;
const mostPatience = 20_000;
/** If a project never had a usable response for this long, its wait ends. */
const maxSilence = 60_000;
/** A 4xx that was the only answer for this long, and so often, is believed. */
const leastRejected = { ms: 10_000, count: 3 };

interface Trouble {
  readonly error?: RequestError;
  /** The next request is given up after so many milliseconds. */
  readonly patience: number;
  /** The end of a `Retry-After`. */
  readonly notBefore: number;
  /** The times of the latest answers, if all of them were rejections. */
  readonly rejectedAt: readonly number[];
}

const noTrouble: Trouble = { patience: firstPatience, notBefore: 0, rejectedAt: [] };

/** All failed requests for one project: one record for its list, and one for each of its operations, by id. */
export class Troubles {
  answeredAt: number | undefined;
  readonly #records = new Map<string, Trouble>();
  /** When the first request was sent, or the end of the latest `Retry-After` of a 423 or 429: the service lives. */
  #silentSince: number;

  constructor(
    private readonly clock: Clock,
    private readonly rate: Rate,
  ) {
    this.#silentSince = clock.now();
  }

  /** The latest error of a request that still fails. */
  get latest(): RequestError | undefined {
    return [...this.#records.values()].at(-1)?.error;
  }

  of(id: string): Trouble {
    return this.#records.get(id) ?? noTrouble;
  }

  /** A usable response about this id has arrived. `isWhole`: it was all that was asked for. */
  answered(id: string, isWhole: boolean): void {
    this.answeredAt = this.clock.now();
    if (isWhole) this.#records.delete(id);
    else if (this.#records.has(id)) this.#records.set(id, { ...this.of(id), rejectedAt: [] });
  }

  /** `final`: no later request can help. Otherwise the next poll asks again. */
  note(id: string, error: RequestError): 'final' | 'again' {
    const now = this.clock.now();
    const before = this.of(id);
    // No response at all is no answer, so it does not interrupt a series of rejections.
    const earlier = error.isPermanent || error.status === undefined ? before.rejectedAt : [];
    const rejectedAt = error.isPermanent ? [...earlier, now] : earlier;
    // The map keeps its order of insertion, so its last entry is the latest failure.
    this.#records.delete(id);
    this.#records.set(id, {
      error,
      patience: error.isSilence ? Math.min(mostPatience, 2 * before.patience) : before.patience,
      notBefore: error.status === 429 ? 0 : now + (error.retryAfterMs ?? 0),
      rejectedAt,
    });
    if (error.status === 423 || error.status === 429) this.#silentSince = now + (error.retryAfterMs ?? 0);
    const silentFor = now - Math.max(this.#silentSince, this.rate.heldUntil);
    const isUnsendable = error.status === undefined && !error.transient;
    if (isUnsendable || (this.answeredAt === undefined && silentFor >= maxSilence)) return 'final';
    const isBelieved = rejectedAt.length >= leastRejected.count && now - (rejectedAt[0] ?? now) >= leastRejected.ms;
    return error.isPermanent && isBelieved ? 'final' : 'again';
  }
}
