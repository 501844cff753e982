import type { Operation } from '../../api/records.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import type { RequestPolicy } from '../../http/retry.js';
import { CancelledError, DeadlineExceeded } from '../../time/deadline.js';
import { Idleness } from './idleness.js';
import { maxPages, maxPolledSingly, maxRecords, maxSingle } from './limits.js';
import type { PollContext } from './poll-context.js';
import { isListReplaceable, type PollKind, type PollPolicy, type PollTarget } from './poll-failures.js';
import type { Target } from './settings.js';
import { TrackedOperations } from './tracked-operations.js';

/** After this many milliseconds without a page, the operations of a slow list are requested singly. */
const hangsAfter = 1_000;

/**
 * Sends the requests that are due for one project:
 * - For given ids, it requests up to 2 pending operations singly. If more are pending, it reads the list.
 * - For `all`, it reads the list if an operation is pending, or if a read could prove that none is.
 * - After it reads a list, it requests singly the pending operations that the list does not show.
 * - If a list hangs, gets a 429, or must wait for its `Retry-After`, it sends single requests in place of the list.
 */
export class ProjectPoller {
  readonly tracked: TrackedOperations;
  /** Undefined in a wait for given ids. */
  readonly idleness: Idleness | undefined;
  /** The failure that ended the wait for this project. */
  failure: RequestError | undefined;
  /** The operation whose request failed. */
  failedId: string | undefined;
  /** The start of the read of the list, or the arrival of its latest page. Undefined between two reads. */
  #listActiveAt: number | undefined;
  /** True if the latest list got a 429 in a wait for given ids. Then the next poll requests the ids singly. */
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
  }

  /** True if no operation is pending, and no later response can change this. */
  get isSettled(): boolean {
    return this.tracked.pending.size === 0 && (this.idleness?.isProven ?? true);
  }

  /** True if the wait for this project has failed, and no request for it is open. */
  get hasGivenUp(): boolean {
    return this.failure !== undefined && this.#listActiveAt === undefined && this.#polledIds.size === 0;
  }

  /** True if each regular poll reads something of this project. */
  get isBusy(): boolean {
    return this.failure === undefined && (this.tracked.pending.size > 0 || this.idleness?.isOverdue === true);
  }

  /** An early poll reads the list at this time, on the step's clock. */
  get dueAt(): number {
    const isRegular = this.failure !== undefined || this.tracked.pending.size > 0 || this.#listActiveAt !== undefined;
    if (this.idleness === undefined || isRegular) return Number.POSITIVE_INFINITY;
    return Math.max(this.idleness.proofDueAt, this.context.failures.blockedUntil(this.id));
  }

  /** True if a poll would send a request now. */
  get hasWork(): boolean {
    return this.#listIsDue('regular') || this.#dueIds('regular').length > 0;
  }

  /** Starts all requests that are due. The promises never reject: each failure is noted, or ends the wait. */
  poll(policy: PollPolicy): Promise<void>[] {
    if (this.#listIsDue(policy.kind)) return [this.#pollList(policy)];
    const ids = this.#dueIds(policy.kind);
    this.#isListThrottled = false;
    return ids.map((id) => this.#pollOperation(id, policy));
  }

  #listIsDue(kind: PollKind): boolean {
    const { clock, failures } = this.context;
    if (this.#listActiveAt !== undefined || this.failure !== undefined || !failures.isDue(this.id)) return false;
    if (this.idleness === undefined) return this.tracked.pending.size > maxPolledSingly && !this.#isListThrottled;
    const readsAll = kind === 'final' || (kind === 'regular' && this.isBusy);
    return readsAll || this.dueAt <= clock.now();
  }

  /** The ids to request singly in a poll that does not read the list. */
  #dueIds(kind: PollKind): string[] {
    if (kind === 'early' || this.failure !== undefined) return [];
    const isFew = this.idleness === undefined && this.tracked.pending.size <= maxPolledSingly;
    const { clock, failures } = this.context;
    const isHanging = this.#listActiveAt !== undefined && clock.now() - this.#listActiveAt >= hangsAfter;
    const isReplaced = isHanging || this.#isListThrottled || !failures.isDue(this.id);
    return isFew || isReplaced ? this.#singleIds(this.tracked.pending, kind) : [];
  }

  #singleIds(ids: Iterable<string>, kind: PollKind): string[] {
    const due = [...ids].filter((id) => !this.#polledIds.has(id) && this.context.failures.isDue(id));
    // No poll follows that could request the rest.
    if (kind === 'final') return due;
    return due.slice(0, Math.max(0, maxSingle - this.#polledIds.size));
  }

  async #pollList(policy: PollPolicy): Promise<void> {
    const { clock, failures, onChange } = this.context;
    const unseen = new Set(this.tracked.pending);
    const wasSeen = failures.responded.has(this.id);
    this.#listActiveAt = clock.now();
    try {
      await this.#readList(unseen, this.#listPolicy(policy));
    } catch (error) {
      const isReplaceable = isListReplaceable(error, policy);
      this.#isListThrottled = this.idleness === undefined && error instanceof RequestError && error.status === 429;
      if (!isReplaceable) unseen.clear();
      // In a wait for all, only the list shows whether a project is idle.
      if (isReplaceable && this.idleness === undefined) failures.noteRetryAfter(this.id, error);
      else this.#handleFailure({ projectId: this.id, wasSeen }, error, policy.kind);
    } finally {
      this.#listActiveAt = undefined;
      onChange();
    }
    if (this.failure !== undefined) return;
    await Promise.all(this.#singleIds(unseen, policy.kind).map((id) => this.#pollOperation(id, policy)));
  }

  /** Goes on with the read of the previous poll, if that read did not end. Removes every listed id from `unseen`. */
  async #readList(unseen: Set<string>, policy: RequestPolicy): Promise<void> {
    const { id, idleness } = this;
    const { api, clock, failures, onChange } = this.context;
    let pages = 0;
    let records = 0;
    for (;;) {
      const place = idleness?.startRead();
      for await (const page of api.operations(id, policy, place)) {
        failures.recordSuccess(id, id);
        this.#listActiveAt = clock.now();
        // This comes first, because `takePage` could ignore an operation that has ended by now.
        for (const operation of page.records)
          if (unseen.delete(operation.id) || this.tracked.pending.has(operation.id)) this.#update(operation);
        const isComplete = idleness?.takePage(page, this.#update) ?? true;
        // A page can show the end of one operation and the start of another. So `onChange` runs only after the whole page.
        onChange();
        pages++;
        records += page.records.length;
        const hasAll = unseen.size <= maxSingle || pages >= maxPages;
        // The first read ends only when it is complete, because with `since` it may need more records.
        if (isComplete ? hasAll : records >= maxRecords && !idleness?.isFirstRead) return;
      }
      // A read that continued an earlier one did not show the newest operations. So a new read follows.
      if (place?.cursor === undefined) return;
    }
  }

  /** A failed list of given ids is not retried, because single requests replace it. But a long `Retry-After` ends the wait. */
  #listPolicy(policy: PollPolicy): RequestPolicy {
    const usual = this.context.failures.requestPolicy(this.id, this.id, policy);
    if (this.idleness !== undefined) return usual;
    const deadline = policy.kind === 'final' ? policy.deadline.within(policy.deadline.remaining / 2) : policy.deadline;
    return { ...usual, deadline, retry: (error, ...of) => (error.isThrottled ? usual.retry(error, ...of) : undefined) };
  }

  async #pollOperation(id: string, policy: PollPolicy): Promise<void> {
    const { api, failures, onChange } = this.context;
    this.#polledIds.add(id);
    this.tracked.moveToEnd(id);
    try {
      this.#update(await api.operation(this.id, id, failures.requestPolicy(this.id, id, policy)));
    } catch (error) {
      const wasSeen = this.tracked.get(id) !== undefined;
      this.#handleFailure({ projectId: this.id, operationId: id, wasSeen }, error, policy.kind);
    } finally {
      this.#polledIds.delete(id);
      onChange();
    }
  }

  readonly #update = (operation: Operation): void => {
    const { progress, failures } = this.context;
    const from = this.tracked.get(operation.id)?.status;
    if (this.tracked.update(operation)) progress.statusChanged(operation, from);
    failures.recordSuccess(this.id, operation.id);
  };

  #handleFailure(target: PollTarget, error: unknown, kind: PollKind): void {
    // The waiter itself handles a deadline and a cancellation.
    if (error instanceof DeadlineExceeded || error instanceof CancelledError) return;
    if (error instanceof RequestError && !(error instanceof RetryAfterExceedsDeadline)) {
      // This also runs after the wait for the project has failed: a 429 must delay the requests that wait to be sent.
      const failure = this.context.failures.finalError(target, error, kind);
      if (failure !== undefined && this.failure === undefined) this.failedId = target.operationId;
      this.failure ??= failure;
    } else this.context.onFatalError(error as Error);
  }
}
