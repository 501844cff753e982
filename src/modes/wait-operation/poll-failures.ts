import { UnreadableList } from '../../api/paging.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { backoff, checkRetryAfter, noRetry, type RequestPolicy } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import { graceForNotFound, maxPatience, maxRetryAfter, minAttempts, minPatience, resendAfter } from './limits.js';
import type { Pace } from './pace.js';
import type { ProgressLog } from './progress-log.js';

/** The pauses between attempts until the first response, in milliseconds. */
const firstPauses = { firstMs: 1_000, maxMs: 8_000 };
/** The pauses after a 423, in milliseconds. */
const lockPauses = { firstMs: 1_000, maxMs: 30_000 };

/**
 * - `regular`: reads what is pending, and the lists that are due
 * - `early`: reads only the lists that are due before the next regular poll
 * - `final`: reads everything once, at the deadline or with `timeout: 0`
 */
export type PollKind = 'regular' | 'early' | 'final';

export interface PollPolicy extends Pick<RequestPolicy, 'deadline' | 'queue'> {
  readonly kind: PollKind;
}

/** The target of a request: one operation or, without `operationId`, the list of operations of a project. */
export interface PollTarget {
  readonly projectId: string;
  readonly operationId?: string;
  /** True if an earlier request found this operation or project. */
  readonly wasSeen: boolean;
}

/** Decides which failed requests are retried, and which failures end the wait. */
export class PollFailures {
  /** The time of the latest usable response, by the id of its project. */
  readonly responded = new Map<string, number>();
  /** The time of the first 404 since the last success, for each id of an operation or a project. */
  readonly #notFoundSince = new Map<string, number>();
  /** The last failure for each id of an operation or a project that is still failing. */
  readonly #failures = new Map<string, RequestError>();
  /** The number of 423 in a row, for each id. */
  readonly #locks = new Map<string, number>();
  /** The time at which the `Retry-After` of a failed request ends, by the id of the operation or project. */
  readonly #notBefore = new Map<string, number>();

  constructor(
    private readonly deadline: Deadline,
    private readonly progress: ProgressLog,
    private readonly pace: Pace,
    private readonly random: () => number,
    private readonly pollsOnce: boolean,
  ) {}

  /** The time at which the `Retry-After` of an earlier failure ends, on the step's clock. */
  blockedUntil(id: string): number {
    return this.#notBefore.get(id) ?? 0;
  }

  isDue(id: string): boolean {
    return this.blockedUntil(id) <= this.deadline.clock.now();
  }

  /** The final poll ignores `Retry-After`, so that it covers all pending operations. */
  clearRetryAfter(): void {
    this.#notBefore.clear();
  }

  get lastFailure(): RequestError | undefined {
    return [...this.#failures.values()].at(-1);
  }

  recordSuccess(projectId: string, id: string): void {
    this.responded.set(projectId, this.deadline.clock.now());
    this.#notFoundSince.delete(id);
    this.#locks.delete(id);
    this.#failures.delete(id);
    if (this.#failures.size === 0) this.progress.serviceRecovered();
  }

  /**
   * The policy of one request. Until the first response for its project, a failed request is retried. After that, the next
   * poll repeats the request. A throttled request is always left to the next poll, so that it does not delay other projects.
   */
  requestPolicy(projectId: string, id: string, policy: PollPolicy): RequestPolicy {
    if (policy.kind === 'final') return { ...policy, retry: noRetry };
    let failingSince: number | undefined;
    return {
      ...policy,
      resendAfter,
      retry: (error, errorCount, beganAt) => {
        if (error.isThrottled) checkRetryAfter(error, this.deadline);
        if (error.isThrottled || this.responded.has(projectId) || !error.transient) return undefined;
        failingSince ??= beganAt;
        const failedFor = this.deadline.clock.now() - failingSince;
        const isEarly = failedFor < minPatience;
        if (errorCount >= minAttempts && (error.isUnknownHost || !isEarly)) return undefined;
        const left = maxPatience - failedFor;
        const usual = Math.min(left, backoff(errorCount, firstPauses, this.random()));
        const pause = Math.max(usual, cappedRetryAfter(error));
        // In the first 30 s, a request is retried even if its `Retry-After` ends after a minute.
        return isEarly || pause <= left ? pause : undefined;
      },
      onRetry: (error) => {
        this.#noteFailure(id, error);
        this.progress.requestFailed(error);
      },
    };
  }

  /** The map keeps the order in which its keys were added, so the latest failure is the last one. */
  #noteFailure(id: string, error: RequestError): void {
    this.#failures.delete(id);
    this.#failures.set(id, error);
  }

  noteRetryAfter(id: string, error: unknown): void {
    if (!(error instanceof RequestError)) return;
    const pause = error.status === 423 ? this.#pauseAfterLock(id, error) : cappedRetryAfter(error);
    const until = error.status === 429 ? this.pace.slowDown(error) : this.deadline.clock.now() + pause;
    this.#notBefore.set(id, until);
  }

  /** A 423 is about one resource, so it delays no other request. */
  #pauseAfterLock(id: string, { retryAfterMs = 0 }: RequestError): number {
    const count = (this.#locks.get(id) ?? 0) + 1;
    this.#locks.set(id, count);
    return Math.max(retryAfterMs, backoff(count, lockPauses, this.random()));
  }

  /** Returns the error that ends the wait for the project, or undefined if the next poll repeats the request. */
  finalError(target: PollTarget, error: RequestError, kind: PollKind): RequestError | undefined {
    const id = target.operationId ?? target.projectId;
    this.#noteFailure(id, error);
    if (error.isServiceStatus(404)) {
      const now = this.deadline.clock.now();
      const since = this.#notFoundSince.get(id) ?? now;
      this.#notFoundSince.set(id, since);
      if (this.pollsOnce || now - since >= graceForNotFound[target.wasSeen ? 'seen' : 'new'])
        return notFoundError(target, error);
    } else {
      if (this.pollsOnce || error.isPermanent || error instanceof UnreadableList) return error;
      // The service has not responded yet, and no retry is left. So the base URL is probably wrong.
      if (kind !== 'final' && !error.isThrottled && !this.responded.has(target.projectId)) return error;
    }
    if (kind === 'final') return undefined;
    this.noteRetryAfter(id, error);
    this.progress.requestFailed(error);
    return undefined;
  }
}

/** True if single requests can replace a list that failed. They would fail too after a 401, 403 or 429. */
export function isListReplaceable(error: unknown, { deadline, kind }: PollPolicy): boolean {
  if (error instanceof RetryAfterExceedsDeadline) return false;
  if (error instanceof DeadlineExceeded) return !deadline.isExpired;
  if (!(error instanceof RequestError) || error.isServiceStatus(401) || error.isServiceStatus(403)) return false;
  return kind === 'final' || error.status !== 429;
}

function cappedRetryAfter({ retryAfterMs = 0 }: RequestError): number {
  return Math.min(retryAfterMs, maxRetryAfter);
}

function notFoundError({ projectId, operationId, wasSeen }: PollTarget, error: RequestError): RequestError {
  const problem = wasSeen ? 'no longer has operation' : 'has no operation';
  const what = operationId === undefined ? 'was not found' : `${problem} ${sanitizeId(operationId)}`;
  const question = operationId === undefined || wasSeen ? '' : '. Does it belong to another project?';
  const message = `Project ${sanitizeId(projectId)} ${what} (${error.message})${question}`;
  return new RequestError(message, error, { cause: error });
}
