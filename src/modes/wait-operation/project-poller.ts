import type { ControlApi } from '../../api/control-api.js';
import { fieldTime, type Operation } from '../../api/records.js';
import { RequestError } from '../../http/errors.js';
import type { RequestPolicy, RetryRule } from '../../http/retry.js';
import { CancelledError, type Deadline, DeadlineExceeded } from '../../time/deadline.js';
import type { PollFailure, PollFailures, PollTarget } from './poll-failures.js';
import type { ProgressLog } from './progress-log.js';
import type { Target } from './tracked-operations.js';
import { TrackedOperations } from './tracked-operations.js';

/** A promise of the contract: the first poll for `all` reads up to this many of the newest operations, more with `since`. */
const maxRecordsAtFirst = 1_000;
/** A promise of the contract: every other list is read up to this many of the newest operations. */
const maxRecordsLater = 200;
/** A promise of the contract: a list replaces single requests if more ids than this are pending. */
const maxPolledSingly = 2;
/**
 * Milliseconds, a promise of the contract. A new operation may not be listed yet, so an empty list counts only if a
 * poll this much later shows none either.
 */
const graceForUnlisted = 5_000;
/**
 * Milliseconds. A slower list counts as hanging, and its operations are requested singly. 200 records take far less
 * time.
 */
const listHangsAfter = 1_000;

export interface PollPolicy extends RequestPolicy {
  /** True for the final poll, and for the only poll of `timeout: 0`. */
  readonly isLast: boolean;
}

/** Connects each project to its wait. */
interface PollContext {
  readonly api: ControlApi;
  /** The deadline of the whole wait. */
  readonly deadline: Deadline;
  /** Start of the wait, on the step's clock. */
  readonly began: number;
  readonly progress: ProgressLog;
  readonly failures: PollFailures;
  /** Called after each response and each failure. */
  readonly onChange: () => void;
  /** Called for a failure that ends the wait. */
  readonly onFailure: (failure: PollFailure) => void;
}

/** One project of a wait: its operations, and the requests that are due. */
export class ProjectPoller {
  readonly id: string;
  readonly tracked: TrackedOperations;
  readonly #target: Target;
  readonly #context: PollContext;
  /** Ids of operations that are being requested singly. */
  readonly #polledIds = new Set<string>();
  #listingSince: number | undefined;
  /** True if the latest read of the list reached its end. */
  #isListRead = false;
  /** True once the list has been read again after `graceForUnlisted`, or by the only poll of `timeout: 0`. */
  #isEmptyListTrusted = false;
  #firstReadAt: number | undefined;
  #countedFrom: number | undefined;

  constructor(id: string, target: Target, context: PollContext) {
    this.id = id;
    this.tracked = new TrackedOperations(target, id);
    this.#target = target;
    this.#context = context;
  }

  /** True if nothing is pending, for good. Nothing else makes a wait succeed. */
  get isSettled(): boolean {
    if (this.tracked.pending.size > 0) return false;
    if ('ids' in this.#target) return true;
    return this.#isListRead && (this.#isEmptyListTrusted || !this.tracked.isEmpty);
  }

  /** When a poll can confirm that the list is empty, on the step's clock; 0 if there is nothing to confirm. */
  get emptyListTrustedAt(): number {
    if (this.#firstReadAt === undefined || this.#isEmptyListTrusted || !this.tracked.isEmpty) return 0;
    return this.#firstReadAt + graceForUnlisted;
  }

  /** True if a request is due that is not open already. */
  get hasWork(): boolean {
    return this.#listIsDue || this.#dueIds.length > 0;
  }

  /**
   * Starts all requests that are due. Each promise resolves once the response or the failure is processed, and never
   * rejects.
   */
  poll(policy: PollPolicy): Promise<void>[] {
    if (this.#listIsDue) return [this.#pollList(policy)];
    return this.#dueIds.map((id) => this.#pollOperation(id, policy));
  }

  get #usesList(): boolean {
    return 'all' in this.#target || this.tracked.pending.size > maxPolledSingly;
  }

  get #listIsDue(): boolean {
    return this.#usesList && this.#listingSince === undefined && this.#context.failures.isDue(this.id);
  }

  get #dueIds(): string[] {
    const { deadline } = this.#context;
    if (this.#usesList && deadline.clock.now() - (this.#listingSince ?? Number.POSITIVE_INFINITY) < listHangsAfter)
      return [];
    return this.#notBeingPolled(this.tracked.pending);
  }

  #notBeingPolled(ids: Iterable<string>): string[] {
    return [...ids].filter((id) => !this.#polledIds.has(id) && this.#context.failures.isDue(id));
  }

  async #pollList(policy: PollPolicy): Promise<void> {
    const unseen = await this.#readList(policy);
    await Promise.all(unseen.map((id) => this.#pollOperation(id, policy)));
  }

  /** Returns the ids of pending operations that need a request of their own. */
  async #readList(policy: PollPolicy): Promise<string[]> {
    const { deadline, progress, failures, onChange } = this.#context;
    const { tracked } = this;
    const givenIds = 'ids' in this.#target;
    const began = deadline.clock.now();
    const unseen = new Set(tracked.pending);
    const wasSeen = failures.hasResponded(this.id);
    this.#listingSince = began;
    this.#isListRead = false;
    tracked.startListing();
    try {
      await this.#readPages(unseen, givenIds ? { ...policy, retry: withoutUnusable(policy.retry) } : policy);
      this.#isListRead = true;
      this.#firstReadAt ??= deadline.clock.now();
      // Sums of fractional milliseconds can be slightly too small, hence the `+ 1`.
      this.#isEmptyListTrusted ||= deadline.isUnbounded || began + 1 > this.#firstReadAt + graceForUnlisted;
      if (tracked.isEmpty && !this.#isEmptyListTrusted) progress.listIsEmpty();
    } catch (error) {
      // Single requests replace a list that is unusable. They do not help if the service itself fails.
      if (!givenIds || !isUnusable(error)) {
        this.#handleFailure({ projectId: this.id, wasSeen }, error, policy);
        return [];
      }
    } finally {
      this.#listingSince = undefined;
      onChange();
    }
    return this.#notBeingPolled(unseen);
  }

  async #readPages(unseen: Set<string>, policy: PollPolicy): Promise<void> {
    const { api, deadline, failures } = this.#context;
    const { tracked } = this;
    const target = this.#target;
    const maxRecords = 'all' in target && tracked.isFirstPoll ? maxRecordsAtFirst : maxRecordsLater;
    let read = 0;
    // The first poll reads back to `since`, however many operations there are.
    const isBounded = !tracked.isFirstPoll || 'ids' in target || target.since === undefined;
    for await (const page of api.operations(this.id, isBounded ? maxRecords : Number.POSITIVE_INFINITY, policy)) {
      failures.recordSuccess(this.id, this.id);
      read += page.length;
      if ('all' in target) {
        this.#countFrom(target.since);
        tracked.startPage(page);
      }
      for (const operation of page) {
        const isOurs =
          'ids' in target
            ? unseen.has(operation.id)
            : tracked.trackIfNew(operation, api.serviceEpochMs(deadline.clock));
        if (unseen.delete(operation.id) || isOurs) this.#update(operation);
      }
      if (('ids' in target && unseen.size === 0) || (read >= maxRecords && this.#isBeforeSince(page))) break;
    }
    failures.recordSuccess(this.id, this.id);
    tracked.finishListing(read < maxRecords);
  }

  /** `since` is measured on the service's clock, which is known after the first response. */
  #countFrom(since: number | undefined): void {
    const { api, deadline, began } = this.#context;
    if (since === undefined || this.#countedFrom !== undefined) return;
    this.#countedFrom = api.serviceEpochMs(deadline.clock) - (deadline.clock.now() - began) - since;
    this.tracked.countFrom(this.#countedFrom);
  }

  /** The list is sorted by creation, newest first. */
  #isBeforeSince(page: readonly Operation[]): boolean {
    const oldest = page.at(-1);
    return (
      oldest === undefined || (fieldTime(oldest, 'created_at') ?? 0) < (this.#countedFrom ?? Number.POSITIVE_INFINITY)
    );
  }

  async #pollOperation(id: string, policy: PollPolicy): Promise<void> {
    const { api, onChange } = this.#context;
    this.#polledIds.add(id);
    try {
      this.#update(await api.operation(this.id, id, policy));
    } catch (error) {
      const wasSeen = this.tracked.get(id) !== undefined;
      this.#handleFailure({ projectId: this.id, operationId: id, wasSeen }, error, policy);
    } finally {
      this.#polledIds.delete(id);
      onChange();
    }
  }

  #update(operation: Operation): void {
    const { progress, failures, onChange } = this.#context;
    const from = this.tracked.get(operation.id)?.status;
    if (this.tracked.update(operation)) progress.statusChanged(operation, from);
    failures.recordSuccess(this.id, operation.id);
    onChange();
  }

  #handleFailure(target: PollTarget, error: unknown, { isLast }: PollPolicy): void {
    const { failures, onFailure } = this.#context;
    // The polling loop has the same deadline and the same cancellation, and handles both.
    if (error instanceof DeadlineExceeded || error instanceof CancelledError) return;
    const failure =
      error instanceof RequestError
        ? failures.handleFailure(target, error, isLast)
        : { error: error as Error, endsAtOnce: true };
    if (failure !== undefined) onFailure(failure);
  }
}

/** A complete response without usable content. */
function isUnusable(error: unknown): boolean {
  return error instanceof RequestError && error.status !== undefined && error.status < 300;
}

function withoutUnusable(retry: RetryRule): RetryRule {
  return (error, errorCount) => (isUnusable(error) ? undefined : retry(error, errorCount));
}
