import { RequestError } from '../../http/errors.js';
import { exponentialBackoff, type RequestPolicy, type RetryRule } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import type { Deadline } from '../../time/deadline.js';
import type { Pace } from './pace.js';
import type { ProgressLog } from './progress-log.js';

/** How long a wait tolerates a 404 for an operation that may be new, in milliseconds. The contract promises this. */
const graceForNew = 5_000;
/** How long a wait tolerates a 404 for an operation that was found before, in milliseconds. The contract promises this. */
const graceForSeen = 30_000;
/** Maximum pause for the `Retry-After` of a failed poll, in milliseconds. The contract promises this. */
const maxRetryAfter = 60_000;

/** Failures of requests that are being retried share this id. Ids of operations and projects are never empty. */
const retried = '';

/** The target of a request: one operation or, without `operationId`, the list of operations of a project. */
export interface PollTarget {
  readonly projectId: string;
  readonly operationId?: string;
  /** True if an earlier request found this operation or project. */
  readonly wasSeen: boolean;
}

/** A failure that ends the wait. */
export interface PollFailure {
  readonly error: Error;
  /** If false, the wait ends after the other requests of the same poll. */
  readonly endsAtOnce: boolean;
}

/** Decides which failed requests are retried, and which failures end the wait. */
export class PollFailures {
  readonly #retryUntilResponded: RetryRule;
  readonly #responded = new Set<string>();
  /** The time of the first 404 since the last success, for each id of an operation or a project. */
  readonly #notFoundSince = new Map<string, number>();
  /** The last failure for each id that is still failing. */
  readonly #failures = new Map<string, RequestError>();
  /** When the `Retry-After` of a failed request expires, by the id of the operation or project. */
  readonly #notBefore = new Map<string, number>();

  constructor(
    private readonly deadline: Deadline,
    private readonly progress: ProgressLog,
    private readonly pace: Pace,
    random: () => number,
  ) {
    this.#retryUntilResponded = exponentialBackoff(random);
  }

  hasResponded(projectId: string): boolean {
    return this.#responded.has(projectId);
  }

  /** False until the `Retry-After` of an earlier failure ends. */
  isDue(id: string): boolean {
    return (this.#notBefore.get(id) ?? 0) <= this.deadline.clock.now();
  }

  /** The final poll ignores `Retry-After`, so that it covers all pending operations. */
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
    if (this.#failures.size === 0) this.progress.serviceRecovered();
  }

  /**
   * A throttled request is retried until the deadline. Other failed requests are retried only until the first response for
   * their project. After that, the next poll repeats them.
   */
  retryPolicy(projectId: string): Pick<RequestPolicy, 'retry' | 'onRetry'> {
    return {
      retry: (error, errorCount) => {
        if (error.isThrottled) return this.pace.slowDown(error);
        return this.hasResponded(projectId) ? undefined : this.#retryUntilResponded(error, errorCount);
      },
      onRetry: (error) => {
        this.#failures.set(retried, error);
        this.progress.requestFailed(error);
      },
    };
  }

  /** Returns undefined if the next poll repeats the request. */
  handleFailure(target: PollTarget, error: RequestError, isLastPoll: boolean): PollFailure | undefined {
    const id = target.operationId ?? target.projectId;
    this.#failures.set(id, error);
    const now = this.deadline.clock.now();
    if (error.status === 404) {
      const since = this.#notFoundSince.get(id) ?? now;
      this.#notFoundSince.set(id, since);
      if (this.deadline.isUnbounded || now - since >= (target.wasSeen ? graceForSeen : graceForNew))
        return { error: notFoundError(target, error), endsAtOnce: false };
      if (!isLastPoll) this.progress.requestFailed(error);
      return undefined;
    }
    if (error.isThrottled || error.isPermanent) return { error, endsAtOnce: true };
    // Set even if the failure ends the wait: one more request may follow before the end, and must respect `Retry-After`.
    this.#notBefore.set(id, now + Math.min(error.retryAfterMs ?? 0, maxRetryAfter));
    if (isLastPoll || !this.hasResponded(target.projectId)) return { error, endsAtOnce: false };
    this.progress.requestFailed(error);
    return undefined;
  }
}

function notFoundError({ projectId, operationId, wasSeen }: PollTarget, error: RequestError): RequestError {
  const problem = wasSeen ? 'no longer has operation' : 'has no operation';
  const what = operationId === undefined ? 'was not found' : `${problem} ${sanitizeId(operationId)}`;
  const question = operationId === undefined || wasSeen ? '' : '. Does it belong to another project?';
  const message = `Project ${sanitizeId(projectId)} ${what} (${error.message})${question}`;
  return new RequestError(message, error, { cause: error });
}
