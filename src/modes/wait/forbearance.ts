import { ApiError } from '../../http/errors.js';
import type { Limit } from '../../time/limit.js';
import type { Narrator } from './narrator.js';

/** How long what is not found may be too new, or, once it was seen, away. */
const graceForNew = 5_000;
const graceForSeen = 30_000;
const longestPauseAfterFailure = 60_000;

/** Stands for whatever request is tried again. */
const retried = '';

/** Not found for longer than it may take to appear. */
export class NotFound extends Error {
  constructor(
    what: string,
    readonly answer: ApiError,
  ) {
    super(`${what} is not found (${answer.message})`, { cause: answer });
  }
}

/** An operation, or the project whose list was asked for. */
export interface Asked {
  readonly id: string;
  readonly name: string;
  readonly wasSeen: boolean;
}

/** What could not be seen, for how long that is borne, and when it ends the wait. */
export class Forbearance {
  readonly #limit: Limit;
  readonly #narrator: Narrator;
  /** Since when it is not found. */
  readonly #missing = new Map<string, number>();
  /** What could not be seen when it was looked at last, and why. */
  readonly #troubles = new Map<string, ApiError>();
  #isAnswered = false;
  #leaveAlone = 0;

  constructor(limit: Limit, narrator: Narrator) {
    this.#limit = limit;
    this.#narrator = narrator;
  }

  /** Whether there was a good answer ever. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** How long the service has asked to be left alone since the last look. */
  get leaveAlone(): number {
    return this.#leaveAlone;
  }

  /** Why something could not be seen when it was looked at last. */
  get trouble(): ApiError | undefined {
    return this.#troubles.values().next().value;
  }

  beginLook(): void {
    this.#leaveAlone = 0;
  }

  heardOf(id: string): void {
    this.#isAnswered = true;
    this.#missing.delete(id);
    this.#troubles.delete(retried);
    this.#troubles.delete(id);
    if (this.#troubles.size === 0) this.#narrator.answered();
  }

  hearOfRetry(error: ApiError): void {
    this.#troubles.set(retried, error);
    this.#narrator.trouble(error);
  }

  /**
   * What cannot be seen for now is looked at again with the next look. Answers what ends the wait when all else has been
   * looked at; throws what ends it at once: a refusal, a call for patience, a cancel, the end of the time.
   */
  bear(asked: Asked, error: unknown, isLastLook: boolean): unknown {
    if (!(error instanceof ApiError)) throw error;
    this.#troubles.set(asked.id, error);
    if (error.asksForPatience) throw error;
    if (error.status === 404) return this.#bearNotFound(asked, error, isLastLook);
    if (error.refused) throw error;
    if (isLastLook || !this.#isAnswered) return error;
    this.#narrator.trouble(error);
    this.#leaveAlone = Math.max(this.#leaveAlone, Math.min(error.retryAfter ?? 0, longestPauseAfterFailure));
    return undefined;
  }

  /** A 404 is no verdict at once. */
  #bearNotFound({ id, name, wasSeen }: Asked, error: ApiError, isLastLook: boolean): NotFound | undefined {
    const now = this.#limit.clock.now();
    const since = this.#missing.get(id) ?? now;
    this.#missing.set(id, since);
    const isFinal = this.#limit.endless || now - since >= (wasSeen ? graceForSeen : graceForNew);
    if (isFinal) return new NotFound(name, error);
    if (!isLastLook) this.#narrator.trouble(error);
    return undefined;
  }
}
