import type { ApiError } from '../../http/errors.js';
import { plain } from '../../text/plain.js';
import type { Limit } from '../../time/limit.js';
import type { Narrator } from './narrator.js';

/**
 * How long a 404 is tolerated: before and after the operation was first seen. Milliseconds, promises of the contract.
 */
const graceForNew = 5_000;
const graceForSeen = 30_000;
/** Milliseconds, a promise of the contract: a longer `Retry-After` of a failed poll counts as this. */
const maxRetryAfter = 60_000;

/** All requests that are being retried share this id. */
const retried = '';

/** A 404 that lasts longer than it is tolerated. */
export class NotFound extends Error {
  constructor(
    message: string,
    readonly answer: ApiError,
  ) {
    super(message, { cause: answer });
  }
}

/** A request for the operations of a project, or for one of them. */
export interface Polled {
  readonly projectId: string;
  readonly operationId?: string;
  readonly wasSeen: boolean;
}

/** A failure that ends the wait: at once, or after the other requests of the same poll. */
export interface PollFailure {
  readonly error: Error;
  readonly atOnce: boolean;
}

/** Decides how long each failed request is tolerated, and which failure ends the wait. */
export class PollFailures {
  readonly #limit: Limit;
  readonly #narrator: Narrator;
  readonly #answered = new Set<string>();
  /** When the 404s of an operation or a project began. */
  readonly #missingSince = new Map<string, number>();
  /** The last failure of each request that has not succeeded since. */
  readonly #failures = new Map<string, ApiError>();
  /** When a failed request may be repeated, according to its `Retry-After`. */
  readonly #notBefore = new Map<string, number>();

  constructor(limit: Limit, narrator: Narrator) {
    this.#limit = limit;
    this.#narrator = narrator;
  }

  /** True if the project has ever given a usable response. */
  isAnswered(projectId: string): boolean {
    return this.#answered.has(projectId);
  }

  /** True if `Retry-After` allows another request. */
  isDue(id: string): boolean {
    return (this.#notBefore.get(id) ?? 0) <= this.#limit.clock.now();
  }

  /** The final poll requests everything that is pending. */
  forgetRetryAfter(): void {
    this.#notBefore.clear();
  }

  get lastFailure(): ApiError | undefined {
    return this.#failures.values().next().value;
  }

  recordSuccess(projectId: string, id: string): void {
    this.#answered.add(projectId);
    this.#missingSince.delete(id);
    this.#failures.delete(retried);
    this.#failures.delete(id);
    if (this.#failures.size === 0) this.#narrator.answered();
  }

  recordRetry(error: ApiError): void {
    this.#failures.set(retried, error);
    this.#narrator.trouble(error);
  }

  /** Undefined if the next poll repeats the request. */
  handleFailure(polled: Polled, error: ApiError, isLastPoll: boolean): PollFailure | undefined {
    const id = polled.operationId ?? polled.projectId;
    this.#failures.set(id, error);
    if (error.asksForPatience) return { error, atOnce: true };
    if (error.status === 404) return this.#handleNotFound(polled, error, isLastPoll);
    if (error.refused) return { error, atOnce: true };
    if (isLastPoll || !this.isAnswered(polled.projectId)) return { error, atOnce: false };
    this.#narrator.trouble(error);
    this.#notBefore.set(id, this.#limit.clock.now() + Math.min(error.retryAfter ?? 0, maxRetryAfter));
    return undefined;
  }

  #handleNotFound(polled: Polled, error: ApiError, isLastPoll: boolean): PollFailure | undefined {
    const now = this.#limit.clock.now();
    const id = polled.operationId ?? polled.projectId;
    const since = this.#missingSince.get(id) ?? now;
    this.#missingSince.set(id, since);
    if (this.#limit.endless || now - since >= (polled.wasSeen ? graceForSeen : graceForNew))
      return { error: notFound(polled, error), atOnce: false };
    if (!isLastPoll) this.#narrator.trouble(error);
    return undefined;
  }
}

function notFound({ projectId, operationId, wasSeen }: Polled, answer: ApiError): NotFound {
  const project = `Project ${plain(projectId, 80)}`;
  const said = `(${answer.message})`;
  if (operationId === undefined) return new NotFound(`${project} is not found ${said}`, answer);
  const id = plain(operationId, 80);
  return new NotFound(
    wasSeen
      ? `${project} no longer has operation ${id} ${said}`
      : `${project} has no operation ${id} ${said}. Does it belong to another project?`,
    answer,
  );
}
