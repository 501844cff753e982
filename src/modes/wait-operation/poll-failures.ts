import { EndlessList } from '../../api/paging.js';
import { RequestError } from '../../http/errors.js';
import { backoff, checkRetryAfter, noRetry, type RequestPolicy } from '../../http/retry.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import type { Deadline } from '../../time/deadline.js';
import { IncompleteList } from './incomplete-list.js';
import type { Pace } from './pace.js';
import type { PollFailure, PollKind, PollTarget } from './poll.js';
import type { ProgressLog } from './progress-log.js';

/** How long a wait tolerates a 404 for an operation that may be new, in milliseconds. The contract promises this. */
const graceForNew = 5_000;
/** How long a wait tolerates a 404 for an operation that was found before, in milliseconds. The contract promises this. */
const graceForSeen = 30_000;
/** Maximum pause for the `Retry-After` of a failed poll, in milliseconds. The contract promises this. */
const maxRetryAfter = 60_000;
/**
 * Until the first response, a request is given up after this many attempts, but not before `minPatience`. After
 * `maxPatience`, no new attempt begins. The contract promises these three values.
 */
const minAttempts = 5;
const minPatience = 30_000;
const maxPatience = 60_000;
/** The pauses between these attempts. */
const firstPauses = { firstMs: 1_000, maxMs: 8_000 };

/** A request without a response for this long is sent once more, on a new connection. The contract promises this. */
const resendAfter = 5_000;

/** Failures of requests that are being retried share this id. Ids of operations and projects are never empty. */
const retried = '';

/** Decides which failed requests are retried, and which failures end the wait. */
export class PollFailures {
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
    private readonly random: () => number,
  ) {}

  hasResponded(projectId: string): boolean {
    return this.#responded.has(projectId);
  }

  /** When the `Retry-After` of an earlier failure ends, on the step's clock. */
  dueAt(id: string): number {
    return this.#notBefore.get(id) ?? 0;
  }

  isDue(id: string): boolean {
    return this.dueAt(id) <= this.deadline.clock.now();
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
   * The policy of one request. A throttled request is retried until the deadline. Other failed requests are retried only
   * until the first response for their project. After that, the next poll repeats them.
   */
  retryPolicy(projectId: string, kind: PollKind): Pick<RequestPolicy, 'retry' | 'onRetry' | 'resend'> {
    if (kind === 'final' || kind === 'only') return { retry: noRetry };
    let began = this.deadline.clock.now();
    let failedSince: number | undefined;
    return {
      resend: { afterMs: resendAfter, hold: () => this.pace.hold() },
      retry: (error, errorCount) => {
        const now = this.deadline.clock.now();
        if (error.isThrottled) {
          checkRetryAfter(error, this.deadline);
          const pause = this.pace.slowDown(error);
          // The contract does not count a throttled response as a failure.
          began = now + pause;
          if (failedSince !== undefined) failedSince += pause;
          return pause;
        }
        if (this.hasResponded(projectId) || !error.transient) return undefined;
        // A lost response counts from the time when the request is sent once more.
        failedSince ??= Math.min(now, began + resendAfter);
        const failedFor = now - failedSince;
        const left = maxPatience - failedFor;
        const pause = Math.max(
          Math.min(backoff(errorCount, firstPauses, this.random()), left),
          cappedRetryAfter(error),
        );
        if (failedFor < minPatience) return errorCount >= minAttempts && error.isUnknownHost ? undefined : pause;
        return errorCount >= minAttempts || left <= 0 || pause > left ? undefined : pause;
      },
      onRetry: (error) => {
        this.#failures.set(retried, error);
        this.progress.requestFailed(error);
      },
    };
  }

  noteRetryAfter(id: string, error: unknown): void {
    if (error instanceof RequestError) this.#notBefore.set(id, this.deadline.clock.now() + cappedRetryAfter(error));
  }

  /** Returns undefined if the next poll repeats the request. */
  handleFailure(target: PollTarget, error: RequestError, kind: PollKind): PollFailure | undefined {
    const id = target.operationId ?? target.projectId;
    this.#failures.set(id, error);
    if (error.isServiceStatus(404)) {
      const now = this.deadline.clock.now();
      const since = this.#notFoundSince.get(id) ?? now;
      this.#notFoundSince.set(id, since);
      if (kind === 'only' || now - since >= (target.wasSeen ? graceForSeen : graceForNew))
        return { error: notFoundError(target, error), endsAtOnce: false };
      if (kind !== 'final') this.progress.requestFailed(error);
      return undefined;
    }
    if (error.isPermanent || isUnreadable(error) || (error.isThrottled && kind !== 'final'))
      return { error, endsAtOnce: true };
    // Set even if the failure ends the wait: one more request may follow before the end, and must respect `Retry-After`.
    this.noteRetryAfter(id, error);
    if (kind === 'only') return { error, endsAtOnce: false };
    if (kind === 'final') return undefined;
    // An error that no retry can change, before the first response: the base URL is probably wrong.
    if (!this.hasResponded(target.projectId)) return { error, endsAtOnce: false };
    this.progress.requestFailed(error);
    return undefined;
  }
}

/** True if the list cannot be read to its end, so that no later poll can help. */
function isUnreadable(error: RequestError): boolean {
  return error instanceof IncompleteList || error instanceof EndlessList;
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
