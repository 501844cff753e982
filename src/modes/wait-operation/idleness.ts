import { type ListPlace, type Page, UnreadableList } from '../../api/paging.js';
import { fieldTime, type Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';
import { sanitizeId } from '../../text/sanitize-line.js';
import { graceForUnlisted, maxAgeOfIdleness, overlap } from './limits.js';
import { placeOf } from './place-of.js';
import type { PollContext } from './poll-context.js';
import type { AllOperations } from './settings.js';

const never = Number.NEGATIVE_INFINITY;

/** An operation without a creation time counts as new. */
function createdAt(operation: Operation): number {
  return fieldTime(operation, 'created_at') ?? Number.POSITIVE_INFINITY;
}

/** A poll may end before its read is complete. Then the next poll goes on from here. */
interface Read extends ListPlace {
  /** On the step's clock. */
  readonly began: number;
  /** True if an operation on the pages so far is pending. */
  readonly showsPending: boolean;
}

/**
 * Follows the reads of one list in a wait for `all`. Decides which operations are part of the wait, and whether the project is
 * idle. The first read ends when it has enough records. Each later read goes back to the start of the read before it, and a
 * minute further. So no operation can hide between two reads.
 *
 * A list may lack a new operation for 5 s, so the first read proves nothing. If it ends at 0.2 s, a proof is due at 5.2 s
 * (`proofDueAt`). A complete read that begins then or later, and shows nothing pending, proves that the project is idle
 * (`isProven`). Without this proof, each regular poll reads again (`isOverdue`). Much later, `expireIfOld()` can ask for
 * a new proof, and then `isProven` is false until it comes. `wasProven` stays true.
 */
export class Idleness {
  /** Operations that failed shortly before the wait. A notice names them, but the wait ignores them. */
  readonly failedBefore = new Map<string, Operation>();
  /** The unfinished operations of the latest read that the wait ignores, by id. */
  readonly ignored = { excluded: new Set<string>(), automatic: new Set<string>() };
  /** The number of operations in the first read, if it left out older ones. */
  cutAfter: number | undefined;
  isFirstRead = true;
  /** The ids of operations that had ended in the first read. */
  readonly #endedBefore = new Set<string>();
  /** The creation time of the oldest operation in the first read. */
  #oldestMs = Number.POSITIVE_INFINITY;
  /** The ids in the latest complete read. */
  #latestIds: ReadonlySet<string> = new Set();
  #read: Read | undefined;
  // The following times are on the step's clock.
  /** The next read goes back to this time: the start of the latest complete read, or of the wait after the first read. */
  #completeFrom = never;
  /** The end of the latest complete read. */
  #completeAt = never;
  /** The start of the wait on the service's clock. If the clocks of replicas differ, the earliest time is used. */
  #beganMs = Number.POSITIVE_INFINITY;
  /** The start of the latest complete read, if it showed nothing pending. Otherwise `never`. */
  #idleFrom = never;
  /** Until this time, the list may lack a new operation. With `timeout: 0` it stays 0, so the first read is proof. */
  #graceEndsAt = 0;
  /** Only a complete read that began at this time or later proves that the project is idle. */
  #provenFrom = 0;
  /** The start of the latest poll that read the list, even if the read failed or did not end. */
  #triedAt = never;

  constructor(
    private readonly projectId: string,
    private readonly target: AllOperations,
    private readonly pendingIds: ReadonlySet<string>,
    private readonly context: PollContext,
  ) {}

  /** True if a read proves that the project is idle. */
  get isProven(): boolean {
    return this.#idleFrom >= this.#provenFrom;
  }

  /** Like `isProven`, but stays true after `expireIfOld()`. `isLate` (after a timeout): a read of the first 5 s is proof, too. */
  wasProven(isLate: boolean): boolean {
    if (!isLate) return this.#idleFrom >= this.#graceEndsAt;
    return this.#idleFrom !== never && this.#read?.cursor === undefined;
  }

  /** True if a read began late enough for proof, but failed or showed something pending. Then each regular poll reads again. */
  get isOverdue(): boolean {
    return this.#triedAt >= this.#provenFrom && !this.isProven;
  }

  /** If the project has no pending operations, an early poll reads its list at this time. */
  get proofDueAt(): number {
    return this.#triedAt >= this.#provenFrom ? Number.POSITIVE_INFINITY : this.#provenFrom;
  }

  /** If the latest complete read is old, asks for a new proof and returns true. */
  expireIfOld(): boolean {
    if (this.#now - this.#completeAt <= maxAgeOfIdleness) return false;
    this.#provenFrom = this.#now;
    return true;
  }

  /** Starts a read, or goes on with one. Returns the place to start from. */
  startRead(): ListPlace {
    this.#triedAt = this.#now;
    const canProve = this.#triedAt >= this.#provenFrom;
    // An unfinished read that began too early cannot prove anything. So a new read replaces it, unless it is the first one.
    const isTooOld = canProve && !this.isFirstRead && (this.#read?.began ?? 0) < this.#provenFrom;
    if (this.#read?.cursor !== undefined && !isTooOld) return this.#read;
    for (const ids of Object.values(this.ignored)) ids.clear();
    this.#read = { began: this.#now, cursor: undefined, seenIds: new Set(), showsPending: false };
    return this.#read;
  }

  /** Calls `update` for each operation of the page that is part of the wait. Returns true if the page completes the read. */
  takePage({ records, cursor, missing }: Page<Operation>, update: (operation: Operation) => void): boolean {
    this.#beganMs = Math.min(this.#beganMs, this.#serviceTimeAt(this.context.began));
    const scope = {
      filter: this.target.all,
      beganMs: this.#beganMs,
      sinceMs: this.#sinceMs,
      nowMs: this.#serviceTimeAt(this.#now),
    };
    for (const operation of records) {
      if (this.isFirstRead) this.#oldestMs = Math.min(this.#oldestMs, createdAt(operation));
      if (this.isFirstRead && phaseForStatus(operation.status) !== 'pending') this.#endedBefore.add(operation.id);
      const seen = this.isFirstRead ? 'first' : this.#endedBefore.has(operation.id) ? 'again' : 'later';
      const place = placeOf(operation, { ...scope, seen });
      if (place === 'excluded' || place === 'automatic') this.ignored[place].add(operation.id);
      if (place === 'failed-before') this.failedBefore.set(operation.id, operation);
      if (place === 'awaited') update(operation);
    }
    const incomplete = `The list of operations of project ${sanitizeId(this.projectId)} is incomplete: ${missing}. An unfinished operation may be missing from the list`;
    if (missing !== undefined) throw new UnreadableList(incomplete);
    // The read is complete, but `ProjectPoller` reads further pages to find pending operations.
    if (this.#read === undefined) return true;
    // `pages` has already added the ids of this page.
    const { began, seenIds } = this.#read;
    const showsPending = this.#read.showsPending || records.some(({ id }) => this.pendingIds.has(id));
    // Something is pending, so no earlier read proves anything.
    if (showsPending) this.#idleFrom = never;
    const isComplete = this.#isFarEnough(records, seenIds.size) || cursor === undefined;
    this.#read = isComplete ? undefined : { began, cursor, seenIds, showsPending };
    if (!isComplete) return false;
    this.#completeFrom = this.isFirstRead ? this.context.began : began;
    this.#completeAt = this.#now;
    this.#latestIds = seenIds;
    if (this.isFirstRead) this.#endFirstRead(cursor === undefined ? undefined : seenIds.size);
    if (!showsPending) this.#idleFrom = began;
    return true;
  }

  #endFirstRead(cutAfter: number | undefined): void {
    const { pollsOnce, progress } = this.context;
    this.isFirstRead = false;
    if (!pollsOnce) this.#graceEndsAt = this.#now + graceForUnlisted;
    this.#provenFrom = this.#graceEndsAt;
    if (!pollsOnce && this.pendingIds.size === 0) progress.nothingPending();
    this.cutAfter = cutAfter;
    if (cutAfter !== undefined) progress.listIsCut(this.projectId, cutAfter);
  }

  /** True if the records reach back far enough. The order of the records does not matter. */
  #isFarEnough(records: readonly Operation[], count: number): boolean {
    const reachBackTo = (some: readonly Operation[], timeMs: number) => some.some((one) => createdAt(one) < timeMs);
    // If the clock of a replica is ahead, a new operation can look old. So only operations of the read before can end a read.
    const known = records.filter(({ id }) => this.#latestIds.has(id));
    // The first read stopped before the older operations. A later read need not go back further than the first one did.
    const isBehindCut = this.cutAfter !== undefined && reachBackTo(records, this.#oldestMs - overlap);
    if (!this.isFirstRead) return isBehindCut || reachBackTo(known, this.#serviceTimeAt(this.#completeFrom) - overlap);
    const sinceMs = this.#sinceMs;
    return count >= this.context.maxFirstRead && (sinceMs === undefined || reachBackTo(records, sinceMs));
  }

  get #sinceMs(): number | undefined {
    const { api, clock, began } = this.context;
    const { since } = this.target;
    return since === undefined ? undefined : api.epochMsForAges(clock) - (this.#now - began) - since;
  }

  get #now(): number {
    return this.context.clock.now();
  }

  /** Converts a time on the step's clock into milliseconds since 1970 on the service's clock. */
  #serviceTimeAt(time: number): number {
    const { api, clock } = this.context;
    return api.serviceEpochMs(clock) - (this.#now - time);
  }
}
