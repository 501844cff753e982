import { RequestError } from '../../http/errors.js';
import { exponentialBackoff, type RequestPolicy, type RetryRule } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import type { Deadline } from '../../time/deadline.js';
import type { Pace } from './pace.js';
import type { ProgressLog } from './progress-log.js';

/**
 * How long a wait tolerates a 404: for an operation not yet seen, and for one seen before. Milliseconds, promises of the
 * contract.
 */
const graceForNew = 5_000;
const graceForSeen = 30_000;
/** Milliseconds, a promise of the contract: the longest `Retry-After` that a failed poll obeys. */
const maxRetryAfter = 60_000;

/** All requests that are being retried share this id. */
const retried = '';

/** A 404 that lasts longer than it is tolerated. */
export class NotFoundError extends RequestError {
  constructor(message: string, error: RequestError) {
    super(message, error, { cause: error });
  }
}

/** A request for the operations of a project, or for one of them. */
export interface PollTarget {
  readonly projectId: string;
  readonly operationId?: string;
  readonly wasSeen: boolean;
}

/** A failure that ends the wait: at once, or after the other requests of the same poll. */
export interface PollFailure {
  readonly error: Error;
  readonly endsAtOnce: boolean;
}

/** Decides which failed requests are retried, how long each is tolerated, and which failure ends the wait. */
export class PollFailures {
  readonly #deadline: Deadline;
  readonly #progress: ProgressLog;
  readonly #pace: Pace;
  readonly #retryUntilResponded: RetryRule;
  readonly #responded = new Set<string>();
  /** When the 404s of an operation or a project began. */
  readonly #notFoundSince = new Map<string, number>();
  /** The last failure of each request that has not succeeded since. */
  readonly #failures = new Map<string, RequestError>();
  /** When a failed request may be repeated, according to its `Retry-After`. */
  readonly #notBefore = new Map<string, number>();

  constructor(deadline: Deadline, progress: ProgressLog, pace: Pace, random: () => number) {
    this.#deadline = deadline;
    this.#progress = progress;
    this.#pace = pace;
    this.#retryUntilResponded = exponentialBackoff(random);
  }

  /** True if the project has ever given a usable response. */
  hasResponded(projectId: string): boolean {
    return this.#responded.has(projectId);
  }

  /** True if `Retry-After` allows another request. */
  isDue(id: string): boolean {
    return (this.#notBefore.get(id) ?? 0) <= this.#deadline.clock.now();
  }

  /** The final poll requests everything that is pending. */
  clearRetryAfter(): void {
    this.#notBefore.clear();
  }

  get lastFailure(): RequestError | undefined {
    return this.#failures.values().next().value;
  }

  recordSuccess(projectId: string, id: string): void {
    this.#responded.add(projectId);
    this.#notFoundSince.delete(id);
    this.#failures.delete(retried);
    this.#failures.delete(id);
    if (this.#failures.size === 0) this.#progress.serviceRecovered();
  }

  /**
   * A throttled request is retried until the deadline. A failed one is retried only until the first response of its
   * project. After that, the next poll repeats it.
   */
  retryPolicy(projectId: string): Pick<RequestPolicy, 'retry' | 'onRetry'> {
    return {
      retry: (error, errorCount) => {
        if (error.isThrottled) return this.#pace.slowDown(error);
        return this.hasResponded(projectId) ? undefined : this.#retryUntilResponded(error, errorCount);
      },
      onRetry: (error) => {
        this.#failures.set(retried, error);
        this.#progress.requestFailed(error);
      },
    };
  }

  /** Undefined if the next poll repeats the request. */
  handleFailure(target: PollTarget, error: RequestError, isLastPoll: boolean): PollFailure | undefined {
    const id = target.operationId ?? target.projectId;
    this.#failures.set(id, error);
    const now = this.#deadline.clock.now();
    if (error.status === 404) {
      const since = this.#notFoundSince.get(id) ?? now;
      this.#notFoundSince.set(id, since);
      if (this.#deadline.isUnbounded || now - since >= (target.wasSeen ? graceForSeen : graceForNew))
        return { error: notFoundError(target, error), endsAtOnce: false };
      if (!isLastPoll) this.#progress.requestFailed(error);
      return undefined;
    }
    if (error.isThrottled || error.isPermanent) return { error, endsAtOnce: true };
    if (isLastPoll || !this.hasResponded(target.projectId)) return { error, endsAtOnce: false };
    this.#progress.requestFailed(error);
    this.#notBefore.set(id, now + Math.min(error.retryAfterMs ?? 0, maxRetryAfter));
    return undefined;
  }
}

function notFoundError({ projectId, operationId, wasSeen }: PollTarget, error: RequestError): NotFoundError {
  const project = `Project ${sanitizeId(projectId)}`;
  const said = `(${error.message})`;
  if (operationId === undefined) return new NotFoundError(`${project} was not found ${said}`, error);
  const id = sanitizeId(operationId);
  return new NotFoundError(
    wasSeen
      ? `${project} no longer has operation ${id} ${said}`
      : `${project} has no operation ${id} ${said}. Does it belong to another project?`,
    error,
  );
}
