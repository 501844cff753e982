import { fieldText, fieldTime, type Operation } from '../../api/records.js';
import type { RequestPolicy } from '../../http/retry.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';
import type { PollContext } from './project-poller.js';
import { creationTime, type Target, type TrackedOperations } from './tracked-operations.js';

/** A promise of the contract: the first poll for `all` reads up to this many of the newest operations, more with `since`. */
const maxRecordsAtFirst = 1_000;
/** A promise of the contract: every other list is read up to this many of the newest operations. */
const maxRecordsLater = 200;
/**
 * Milliseconds, a promise of the contract. A new operation may be missing from the list at first. So an empty list is
 * trusted only if a poll this much later is still empty.
 */
const graceForUnlisted = 5_000;
/**
 * Milliseconds. A slower list counts as hanging, and its operations are requested singly. 200 records take far less
 * time.
 */
const listHangsAfter = 1_000;

/** Milliseconds, a promise of the contract: the notice of a wait that found nothing names failures this recent. */
const recentFailureAge = 300_000;
/** The service starts these by itself. They count only if the filter names `action`: a promise of the contract. */
const automaticActions = ['suspend_compute', 'check_availability'];

/** Reads the list of operations of one project. For `all`, decides which of them count, and when an empty list is trusted. */
export class ListReader {
  readonly #projectId: string;
  readonly #target: Target;
  readonly #tracked: TrackedOperations;
  readonly #context: PollContext;
  #readingSince: number | undefined;
  /** When the list was first read to its end. */
  #firstReadAt: number | undefined;
  /** True if the latest read reached the end. */
  #isRead = false;
  /** True once the list has been read again after `graceForUnlisted`, or by the only poll of `timeout: 0`. */
  #isEmptyListTrusted = false;
  readonly #failedBefore = new Map<string, Operation>();
  #excludedCount = 0;
  /** Every id that the list has shown. */
  readonly #shown = new Set<string>();
  // Times of creation, in milliseconds since 1970.
  /** The oldest that the first read has shown; -∞ if it showed all. */
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** The newest on the first page. The page may be out of order. */
  #newestAtFirst: number | undefined;
  /** Operations created since then count even if they ended before the first poll. */
  #countedFrom: number | undefined;

  constructor(projectId: string, target: Target, tracked: TrackedOperations, context: PollContext) {
    this.#projectId = projectId;
    this.#target = target;
    this.#tracked = tracked;
    this.#context = context;
  }

  get isReading(): boolean {
    return this.#readingSince !== undefined;
  }

  get isHanging(): boolean {
    const since = this.#readingSince ?? Number.POSITIVE_INFINITY;
    return this.#context.deadline.clock.now() - since >= listHangsAfter;
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

  /** Operations that failed shortly before the first poll. They do not count, but the notice names them. */
  get failedBefore(): readonly Operation[] {
    return [...this.#failedBefore.values()];
  }

  /** Number of unfinished operations that the filter left out of the last list. */
  get excludedCount(): number {
    return this.#excludedCount;
  }

  /** Calls `update` for each operation that the wait is for. Deletes from `unseen` every id that the list contains. */
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
    const projectId = this.#projectId;
    const forAll = 'all' in this.#target ? this.#target : undefined;
    const since = forAll?.since;
    const isFirstForAll = forAll !== undefined && this.#firstReadAt === undefined;
    const maxRecords = isFirstForAll ? maxRecordsAtFirst : maxRecordsLater;
    // The first poll reads back to `since`, however many operations there are.
    const max = isFirstForAll && since !== undefined ? Number.POSITIVE_INFINITY : maxRecords;
    let read = 0;
    this.#excludedCount = 0;
    for await (const page of api.operations(projectId, max, policy)) {
      failures.recordSuccess(projectId, projectId);
      read += page.length;
      // `since` is measured on the service's clock, which is known after the first response.
      const nowMs = api.serviceEpochMs(deadline.clock);
      if (since !== undefined) this.#countedFrom ??= nowMs - (deadline.clock.now() - began) - since;
      this.#newestAtFirst ??= Math.max(...page.map(createdOrNew));
      for (const operation of page) {
        const shouldTrack = forAll !== undefined && this.#shouldTrack(operation, forAll.all, nowMs);
        if (unseen.delete(operation.id) || shouldTrack) update(operation);
      }
      const isBeforeSince = creationTime(page.at(-1), 0) < (this.#countedFrom ?? Number.POSITIVE_INFINITY);
      if (forAll === undefined ? unseen.size === 0 : read >= maxRecords && isBeforeSince) break;
    }
    failures.recordSuccess(projectId, projectId);
    // Without the whole list, older operations may become visible later, and must not count as new.
    if (isFirstForAll && read < maxRecords) this.#oldestAtFirst = Number.NEGATIVE_INFINITY;
  }

  /**
   * Records that the list shows the operation. Returns true if the filter admits it and it is unfinished, appeared
   * between two polls, or is recent enough for `since`. `nowMs`: now, on the service's clock.
   */
  #shouldTrack(operation: Operation, filter: Filter, nowMs: number): boolean {
    const { id, record } = operation;
    const createdAt = createdOrNew(operation);
    const isFirst = this.#firstReadAt === undefined;
    // A first poll that failed halfway has still shown a page. Operations newer than that page were created later.
    const isNewer = createdAt > (isFirst ? (this.#newestAtFirst ?? Number.POSITIVE_INFINITY) : this.#oldestAtFirst);
    const appeared = isNewer && !this.#shown.has(id);
    this.#shown.add(id);
    if (isFirst) this.#oldestAtFirst = Math.min(this.#oldestAtFirst, createdAt);
    if (!filter.names('action') && automaticActions.includes(fieldText(operation, 'action') ?? '')) return false;
    const phase = phaseForStatus(operation.status);
    if (!filter.admits(record)) {
      if (phase === 'pending') this.#excludedCount++;
      return false;
    }
    const isRecentEnough = this.#countedFrom !== undefined && createdAt >= this.#countedFrom;
    if (appeared || phase === 'pending' || isRecentEnough) return true;
    if (isFirst && phase === 'failed' && nowMs - (fieldTime(operation, 'updated_at') ?? 0) < recentFailureAge)
      this.#failedBefore.set(id, operation);
    return false;
  }
}

/** An operation without a time of creation may be new. */
function createdOrNew(operation: Operation): number {
  return creationTime(operation, Number.POSITIVE_INFINITY);
}
