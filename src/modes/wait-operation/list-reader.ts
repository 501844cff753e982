import type { Operation } from '../../api/records.js';
import type { RequestPolicy } from '../../http/retry.js';
import type { PollContext } from './project-poller.js';
import type { TrackedOperations } from './tracked-operations.js';

/** A promise of the contract: the first poll for `all` reads up to this many of the newest operations, more with `since`. */
const maxRecordsAtFirst = 1_000;
/** A promise of the contract: every other list is read up to this many of the newest operations. */
const maxRecordsLater = 200;
/**
 * Milliseconds, a promise of the contract. A new operation may not be listed yet, so an empty list counts only if a
 * poll this much later shows none either.
 */
const graceForUnlisted = 5_000;
/**
 * Milliseconds. A slower list counts as hanging, and its operations are requested singly. 200 records take far less
 * time.
 */
const hangsAfter = 1_000;

/** Reads the list of operations of one project, and decides when an empty list is trusted. */
export class ListReader {
  readonly #tracked: TrackedOperations;
  readonly #context: PollContext;
  #readingSince: number | undefined;
  /** True if the latest read reached the end of the list. */
  #isRead = false;
  #firstReadAt: number | undefined;
  /** True once the list has been read again after `graceForUnlisted`, or by the only poll of `timeout: 0`. */
  #isEmptyListTrusted = false;

  constructor(tracked: TrackedOperations, context: PollContext) {
    this.#tracked = tracked;
    this.#context = context;
  }

  get isReading(): boolean {
    return this.#readingSince !== undefined;
  }

  get isHanging(): boolean {
    const since = this.#readingSince ?? Number.POSITIVE_INFINITY;
    return this.#context.deadline.clock.now() - since >= hangsAfter;
  }

  /** True if the list shows that there is nothing more to wait for. */
  get isConclusive(): boolean {
    return this.#isRead && (this.#isEmptyListTrusted || !this.#tracked.isEmpty);
  }

  /** When a poll can confirm that the list is empty, on the step's clock; 0 if there is nothing to confirm. */
  get emptyListTrustedAt(): number {
    if (this.#firstReadAt === undefined || this.#isEmptyListTrusted || !this.#tracked.isEmpty) return 0;
    return this.#firstReadAt + graceForUnlisted;
  }

  /** Calls `update` for each operation that the wait is for. Removes those that the list shows from `unseen`. */
  async read(unseen: Set<string>, policy: RequestPolicy, update: (operation: Operation) => void): Promise<void> {
    const { deadline, progress } = this.#context;
    const began = deadline.clock.now();
    this.#readingSince = began;
    this.#isRead = false;
    try {
      await this.#readPages(unseen, policy, update);
    } finally {
      this.#readingSince = undefined;
    }
    this.#isRead = true;
    this.#firstReadAt ??= deadline.clock.now();
    // Sums of fractional milliseconds can be slightly too small, hence the `+ 1`.
    this.#isEmptyListTrusted ||= deadline.isUnbounded || began + 1 > this.#firstReadAt + graceForUnlisted;
    if (this.#tracked.isEmpty && !this.#isEmptyListTrusted) progress.listIsEmpty();
  }

  async #readPages(unseen: Set<string>, policy: RequestPolicy, update: (operation: Operation) => void): Promise<void> {
    const { api, began, deadline, failures } = this.#context;
    const tracked = this.#tracked;
    const { projectId, target } = tracked;
    const isFirstForAll = 'all' in target && tracked.isFirstPoll;
    const maxRecords = isFirstForAll ? maxRecordsAtFirst : maxRecordsLater;
    // The first poll reads back to `since`, however many operations there are.
    const max = isFirstForAll && target.since !== undefined ? Number.POSITIVE_INFINITY : maxRecords;
    let read = 0;
    tracked.startListing();
    for await (const page of api.operations(projectId, max, policy)) {
      failures.recordSuccess(projectId, projectId);
      read += page.length;
      // `since` is measured on the service's clock, which is known after the first response.
      const nowMs = api.serviceEpochMs(deadline.clock);
      if ('all' in target) tracked.startPage(page, nowMs - (deadline.clock.now() - began));
      for (const operation of page) {
        const isNew = 'all' in target && tracked.trackIfNew(operation, nowMs);
        if (unseen.delete(operation.id) || isNew) update(operation);
      }
      if (('ids' in target && unseen.size === 0) || (read >= maxRecords && tracked.isBeforeSince(page))) break;
    }
    failures.recordSuccess(projectId, projectId);
    tracked.finishListing(read < maxRecords);
  }
}
