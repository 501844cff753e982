import { fieldText, fieldTime, type Operation } from '../../api/records.js';
import type { RequestPolicy } from '../../http/retry.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';
import type { PollContext } from './project-poller.js';
import { creationTime, type Target, type TrackedOperations } from './tracked-operations.js';

// The contract promises these values. Times are in milliseconds.

/** Maximum number of operations in the first poll of a wait for `all`. With `since`, that poll may read more. */
const maxRecordsAtFirst = 1_000;
/** Maximum number of operations in each later poll. */
const maxRecordsLater = 200;
/** A list may lack a new operation at first. An empty list is trusted only if the list is still empty after this time. */
export const graceForUnlisted = 5_000;
/** If a wait finds nothing to wait for, its report names the operations that failed within this time. */
export const recentFailureAge = 300_000;
/** The service itself starts these operations. They are part of a wait only if `filter` names `action`. */
const automaticActions = ['suspend_compute', 'check_availability'];

/** After this many milliseconds, the operations of a slow list are requested individually. 200 records take far less time. */
const listHangsAfter = 1_000;

/** Reads the list of operations of one project. In a wait for `all`, decides which operations are part of the wait. */
export class ListReader {
  /** Operations that failed shortly before the first poll. An annotation names them, but the wait ignores them. */
  readonly failedBefore = new Map<string, Operation>();
  /** Number of unfinished operations in the latest list that the filter excludes. */
  excludedCount = 0;
  /** Number of unfinished operations in the latest list that are excluded, because the service itself started them. */
  automaticCount = 0;
  /** The start of the current read. Undefined between two reads. */
  #readingSince: number | undefined;
  /** The end of the first complete read. */
  #firstReadAt: number | undefined;
  /** False during a read, and after a read that failed. */
  #isRead = false;
  /** True if a complete read began at least `graceForUnlisted` after the first, or if there is only one (`timeout: 0`). */
  #isEmptyListTrusted = false;
  readonly #listedIds = new Set<string>();
  // The following times are in milliseconds since 1970.
  /** The oldest creation time in the first read. +∞ before that read, and -∞ if it contained all operations. */
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** The newest creation time on the first page. The page may be unsorted. */
  #newestAtFirst: number | undefined;
  /** With `since`, operations created after this time are part of the wait even if they have ended. */
  #countedFrom: number | undefined;

  constructor(
    private readonly projectId: string,
    private readonly target: Target,
    private readonly tracked: TrackedOperations,
    private readonly context: PollContext,
  ) {}

  get isReading(): boolean {
    return this.#readingSince !== undefined;
  }

  get isHanging(): boolean {
    const since = this.#readingSince ?? Number.POSITIVE_INFINITY;
    return this.context.deadline.clock.now() - since >= listHangsAfter;
  }

  /** True if the latest list contains every operation that is part of the wait. */
  get isConclusive(): boolean {
    return this.#isRead && (this.#isEmptyListTrusted || !this.tracked.isEmpty);
  }

  /** The earliest time on the step's clock at which a poll can confirm an empty list. 0 if none is to be confirmed. */
  get emptyListTrustedAt(): number {
    if (this.#firstReadAt === undefined || this.#isEmptyListTrusted || !this.tracked.isEmpty) return 0;
    return this.#firstReadAt + graceForUnlisted;
  }

  /** Calls `update` for each listed operation that is part of the wait. Removes every listed id from `unseen`. */
  async read(unseen: Set<string>, policy: RequestPolicy, update: (operation: Operation) => void): Promise<void> {
    const { deadline, progress } = this.context;
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
    // Times have fractions of a millisecond, so the `+ 1` allows for rounding errors.
    this.#isEmptyListTrusted ||= deadline.isUnbounded || began + 1 > this.#firstReadAt + graceForUnlisted;
    if (this.tracked.isEmpty && !this.#isEmptyListTrusted) progress.listIsEmpty();
  }

  async #readPages(unseen: Set<string>, policy: RequestPolicy, update: (operation: Operation) => void): Promise<void> {
    const { api, began, deadline, failures } = this.context;
    const projectId = this.projectId;
    const forAll = 'all' in this.target ? this.target : undefined;
    const since = forAll?.since;
    const isFirstForAll = forAll !== undefined && this.#firstReadAt === undefined;
    const maxRecords = isFirstForAll ? maxRecordsAtFirst : maxRecordsLater;
    let read = 0;
    this.excludedCount = 0;
    this.automaticCount = 0;
    for await (const { records } of api.operations(projectId, policy)) {
      // The first poll must read back to `since`, so it has no maximum. The end of this loop ends the read.
      const page = records.slice(0, isFirstForAll ? undefined : maxRecords - read);
      if (page.length === 0) continue;
      failures.recordSuccess(projectId, projectId);
      read += page.length;
      // `since` is measured on the service's clock, and only a response tells its time.
      const nowMs = api.serviceEpochMs(deadline.clock);
      if (since !== undefined) this.#countedFrom ??= nowMs - (deadline.clock.now() - began) - since;
      this.#newestAtFirst ??= Math.max(...page.map((operation) => creationTime(operation)));
      for (const operation of page) {
        const shouldTrack = forAll !== undefined && this.#shouldTrack(operation, forAll.all, nowMs);
        if (unseen.delete(operation.id) || shouldTrack) update(operation);
      }
      const isBeforeSince = creationTime(page.at(-1), 0) < (this.#countedFrom ?? Number.POSITIVE_INFINITY);
      const isEnough = read >= maxRecords && (isBeforeSince || !isFirstForAll);
      if (isEnough || (forAll === undefined && unseen.size === 0)) break;
    }
    failures.recordSuccess(projectId, projectId);
    // If the first read covered the whole list, every operation that appears later is new, whatever its creation time is.
    if (isFirstForAll && read < maxRecords) this.#oldestAtFirst = Number.NEGATIVE_INFINITY;
  }

  /** Returns true if the operation is part of the wait. `nowMs` is the time on the service's clock. */
  #shouldTrack(operation: Operation, filter: Filter, nowMs: number): boolean {
    const { id, record } = operation;
    const createdAt = creationTime(operation);
    const isFirst = this.#firstReadAt === undefined;
    // The first read may fail after its first page. Operations newer than this page were created after that read began.
    const isNewer = createdAt > (isFirst ? (this.#newestAtFirst ?? Number.POSITIVE_INFINITY) : this.#oldestAtFirst);
    const appeared = isNewer && !this.#listedIds.has(id);
    this.#listedIds.add(id);
    if (isFirst) this.#oldestAtFirst = Math.min(this.#oldestAtFirst, createdAt);
    const phase = phaseForStatus(operation.status);
    if (!filter.names('action') && automaticActions.includes(fieldText(operation, 'action') ?? '')) {
      if (phase === 'pending') this.automaticCount++;
      return false;
    }
    if (!filter.admits(record)) {
      if (phase === 'pending') this.excludedCount++;
      return false;
    }
    const isRecentEnough = this.#countedFrom !== undefined && createdAt >= this.#countedFrom;
    if (appeared || phase === 'pending' || isRecentEnough) return true;
    if (isFirst && phase === 'failed' && nowMs - (fieldTime(operation, 'updated_at') ?? 0) < recentFailureAge)
      this.failedBefore.set(id, operation);
    return false;
  }
}
