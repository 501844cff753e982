import type { Operation } from '../../api/records.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import type { RequestPolicy } from '../../http/retry.js';
import { CancelledError, DeadlineExceeded } from '../../time/deadline.js';
import { Idleness } from './idleness.js';
import { maxPolledSingly, maxSingle } from './limits.js';
import { ListReader } from './list-reader.js';
import type { PollContext, PollKind, PollTarget } from './poll-failures.js';
import type { Target } from './settings.js';
import { TrackedOperations } from './tracked-operations.js';

interface PollPolicy extends Pick<RequestPolicy, 'deadline' | 'queue'> {
  readonly kind: PollKind;
}

/**
 * Sends what is due for one project:
 * - of given ids, up to 2 pending ones singly; for more, the list, and then singly what it does not show
 * - for `all`, the list if an operation is pending, or a read could prove that none is; then singly what it does not show
 * - in place of a list that hangs, that got a 429, or that must not be read before its `Retry-After` ends, single requests
 */
export class ProjectPoller {
  readonly tracked: TrackedOperations;
  /** Undefined in a wait for given ids. */
  readonly idleness: Idleness | undefined;
  /** The failure that ended the wait for this project. */
  failure: RequestError | undefined;
  /** True if the latest request got no usable response. */
  isSilent = false;
  readonly #list: ListReader;
  /** True if the latest list of given ids got a 429. Then the next poll requests them singly in its place. */
  #isListThrottled = false;
  /** Ids of operations that are being requested singly. */
  readonly #polledIds = new Set<string>();

  constructor(
    readonly id: string,
    target: Target,
    private readonly context: PollContext,
  ) {
    this.tracked = new TrackedOperations('ids' in target ? target.ids : [], id);
    this.idleness = 'all' in target ? new Idleness(id, target, this.tracked.pending, context) : undefined;
    this.#list = new ListReader(id, this.idleness, context);
  }

  /** True if no operation is pending, and no later response can change this. */
  get isSettled(): boolean {
    return this.tracked.pending.size === 0 && (this.idleness?.isProven ?? true);
  }

  /** True if the wait for this project has failed, and no request for it is open. */
  get hasGivenUp(): boolean {
    return this.failure !== undefined && !this.#list.isReading && this.#polledIds.size === 0;
  }

  /** True if later steps may go on with the project. `isLate`: the deadline came first, so the last read counts. */
  isIdle(isLate: boolean): boolean {
    const { idleness, tracked } = this;
    const isRead = isLate ? idleness?.wasIdle : idleness?.hasProof;
    return isRead === true && tracked.pending.size === 0 && !tracked.hasFailed && this.failure === undefined;
  }

  /** True if each regular poll reads something of this project. */
  get isBusy(): boolean {
    return this.failure === undefined && (this.tracked.pending.size > 0 || this.idleness?.isOverdue === true);
  }

  /** When an early poll reads the list, on the step's clock. */
  get dueAt(): number {
    const isDueLater = this.failure !== undefined || this.tracked.pending.size > 0 || this.#list.isReading;
    if (this.idleness === undefined || isDueLater) return Number.POSITIVE_INFINITY;
    return Math.max(this.idleness.proofDueAt, this.context.failures.blockedUntil(this.id));
  }

  /** True if a poll would send a request now. */
  get hasWork(): boolean {
    return this.#listIsDue('regular') || this.#dueIds('regular').length > 0;
  }

  /** Starts all requests that are due. The promises never reject, because failures go to `onFailure`. */
  poll(policy: PollPolicy): Promise<void>[] {
    if (this.#listIsDue(policy.kind)) return [this.#pollList(policy)];
    const ids = this.#dueIds(policy.kind);
    this.#isListThrottled = false;
    return ids.map((id) => this.#pollOperation(id, policy));
  }

  #listIsDue(kind: PollKind): boolean {
    if (this.#list.isReading || this.failure !== undefined || !this.context.failures.isDue(this.id)) return false;
    if (this.idleness === undefined) return this.tracked.pending.size > maxPolledSingly && !this.#isListThrottled;
    const readsAll = kind === 'final' || kind === 'only' || (kind === 'regular' && this.isBusy);
    return readsAll || this.dueAt <= this.context.deadline.clock.now();
  }

  /** The ids to request singly, although the list is not read now. */
  #dueIds(kind: PollKind): string[] {
    if (kind === 'early' || this.failure !== undefined) return [];
    const isGiven = this.idleness === undefined;
    const isFew = isGiven && this.tracked.pending.size <= maxPolledSingly;
    const isReplaced = this.#list.isHanging || this.#isListThrottled || !this.context.failures.isDue(this.id);
    return isFew || isReplaced ? this.#singleIds(this.tracked.pending, kind) : [];
  }

  #singleIds(ids: Iterable<string>, kind: PollKind): string[] {
    const due = [...ids].filter((id) => !this.#polledIds.has(id) && this.context.failures.isDue(id));
    // No later poll could request the others.
    if (kind === 'final' || kind === 'only') return due;
    return due.slice(0, Math.max(0, maxSingle - this.#polledIds.size));
  }

  async #pollList(policy: PollPolicy): Promise<void> {
    const { failures, onChange } = this.context;
    const unseen = new Set(this.tracked.pending);
    const wasSeen = failures.hasResponded(this.id);
    try {
      await this.#list.read(unseen, this.#listPolicy(policy), (operation) => this.#update(operation));
    } catch (error) {
      const isReplaceable = this.#isReplaceable(error, policy);
      this.#isListThrottled = this.idleness === undefined && error instanceof RequestError && error.status === 429;
      if (!isReplaceable) unseen.clear();
      // In a wait for all, only the list shows whether a project is idle.
      if (isReplaceable && this.idleness === undefined) failures.noteRetryAfter(this.id, error);
      else this.#handleFailure({ projectId: this.id, wasSeen }, error, policy.kind);
    } finally {
      onChange();
    }
    if (this.failure !== undefined) return;
    await Promise.all(this.#singleIds(unseen, policy.kind).map((id) => this.#pollOperation(id, policy)));
  }

  /** Single requests replace a failed list of given ids, so only a throttled list is retried, or ends the wait. */
  #listPolicy(policy: PollPolicy): RequestPolicy {
    const usual = this.#requestPolicy(policy);
    if (this.idleness !== undefined) return usual;
    const deadline = policy.kind === 'final' ? policy.deadline.within(policy.deadline.remaining / 2) : policy.deadline;
    return { ...usual, deadline, retry: (error, ...of) => (error.isThrottled ? usual.retry(error, ...of) : undefined) };
  }

  #requestPolicy(policy: PollPolicy): RequestPolicy {
    return { ...policy, ...this.context.failures.retryPolicy(this.id, policy.kind) };
  }

  /** True if single requests can replace the list. With a rejected API key, or right after a 429, they would fail too. */
  #isReplaceable(error: unknown, { deadline, kind }: PollPolicy): boolean {
    if (error instanceof RetryAfterExceedsDeadline) return false;
    if (error instanceof DeadlineExceeded) return !deadline.isExpired;
    if (!(error instanceof RequestError) || error.isServiceStatus(401) || error.isServiceStatus(403)) return false;
    return kind === 'final' || kind === 'only' || error.status !== 429;
  }

  async #pollOperation(id: string, policy: PollPolicy): Promise<void> {
    const { api, onChange } = this.context;
    this.#polledIds.add(id);
    this.tracked.moveToEnd(id);
    try {
      this.#update(await api.operation(this.id, id, this.#requestPolicy(policy)));
    } catch (error) {
      const wasSeen = this.tracked.get(id) !== undefined;
      this.#handleFailure({ projectId: this.id, operationId: id, wasSeen }, error, policy.kind);
    } finally {
      this.#polledIds.delete(id);
      onChange();
    }
  }

  #update(operation: Operation): void {
    const { progress, failures } = this.context;
    const from = this.tracked.get(operation.id)?.status;
    if (this.tracked.update(operation)) progress.statusChanged(operation, from);
    failures.recordSuccess(this.id, operation.id);
  }

  #handleFailure(target: PollTarget, error: unknown, kind: PollKind): void {
    // The waiter itself handles a deadline and a cancellation.
    if (error instanceof DeadlineExceeded || error instanceof CancelledError) return;
    if (error instanceof RequestError && !(error instanceof RetryAfterExceedsDeadline)) {
      // Even after a final failure, a 429 delays the requests that are open.
      const failure = this.context.failures.finalError(target, error, kind);
      this.failure ??= failure;
    } else this.context.onFatalError(error as Error);
  }
}
