import { fieldText, fieldTime, type Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';

/** The ids that were given, or all unfinished operations that the filter admits. */
export type Target =
  | { readonly ids: readonly string[] }
  | {
      readonly all: Filter;
      /** Milliseconds. Operations that were created within this time before the start count even if they have ended. */
      readonly since?: number | undefined;
    };

/** Milliseconds, a promise of the contract: the notice of a wait that found nothing names failures this recent. */
const recentFailureAge = 300_000;
/** The service starts these by itself. */
const automaticActions = new Set(['suspend_compute', 'check_availability']);

export interface TrackedOperation {
  readonly id: string;
  readonly projectId: string;
  /** As last seen. Undefined if it was never seen. */
  readonly operation: Operation | undefined;
}

/** An operation that was never seen is pending. */
export function isPending({ operation }: TrackedOperation): boolean {
  return operation === undefined || phaseForStatus(operation.status) === 'pending';
}

export function isFailed({ operation }: TrackedOperation): boolean {
  return operation !== undefined && phaseForStatus(operation.status) === 'failed';
}

/** The operations of one project that a wait tracks, each in its last known state. */
export class TrackedOperations {
  readonly #filter: Filter | undefined;
  readonly #all = new Map<string, TrackedOperation>();
  readonly #pending = new Set<string>();
  #hasFailed = false;
  /** Only for `all`: every id that the list has shown. */
  readonly #shown = new Set<string>();
  /** Milliseconds since 1970: the oldest creation that the first poll has shown. */
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** Milliseconds since 1970: the newest creation on the first page. The page may be out of order. */
  #newestAtFirst: number | undefined;
  #firstPoll = true;
  #countedFrom: number | undefined;
  readonly #failedBefore = new Map<string, Operation>();
  readonly #excluded = new Set<string>();

  constructor(
    readonly target: Target,
    readonly projectId: string,
  ) {
    this.#filter = 'all' in target ? target.all : undefined;
    for (const id of 'ids' in target ? target.ids : []) {
      this.#all.set(id, { id, projectId, operation: undefined });
      this.#pending.add(id);
    }
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  get all(): readonly TrackedOperation[] {
    return [...this.#all.values()];
  }

  /** Operations that failed shortly before the first poll. They do not count, but the notice names them. */
  get failedBefore(): readonly Operation[] {
    return [...this.#failedBefore.values()];
  }

  /** Number of unfinished operations that the filter left out of the last list. */
  get excludedCount(): number {
    return this.#excluded.size;
  }

  /** The ids of those that `isPending`. A set of its own, because each change asks for it. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get(id: string): Operation | undefined {
    return this.#all.get(id)?.operation;
  }

  /** Returns true if the status changed. */
  update(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // A terminal status does not change again. Of two parallel requests, the slower one may bring an older status.
    if (before !== undefined && phaseForStatus(before.status) !== 'pending') return false;
    this.#all.set(id, { id, projectId: this.projectId, operation });
    const phase = phaseForStatus(status);
    if (phase === 'pending') this.#pending.add(id);
    else this.#pending.delete(id);
    if (phase === 'failed') this.#hasFailed = true;
    return before?.status !== status;
  }

  startListing(): void {
    this.#excluded.clear();
  }

  /**
   * Must run before `trackIfNew` for the operations of the page. `beganMs`: start of the wait, in milliseconds since 1970 on
   * the service's clock.
   */
  startPage(page: readonly Operation[], beganMs: number): void {
    this.#newestAtFirst ??= Math.max(...page.map(creationTimeIfNew));
    if ('all' in this.target && this.target.since !== undefined) this.#countedFrom ??= beganMs - this.target.since;
  }

  /**
   * Records that the list shows the operation. Returns true if the filter admits it and it is unfinished, appeared
   * between two polls, or is recent enough for `since`. `nowMs`: now, on the service's clock.
   */
  trackIfNew(operation: Operation, nowMs: number): boolean {
    const createdAt = creationTimeIfNew(operation);
    // A first poll that failed halfway has still shown a page. Operations newer than that page were created later.
    const isNewer =
      createdAt > (this.#firstPoll ? (this.#newestAtFirst ?? Number.POSITIVE_INFINITY) : this.#oldestAtFirst);
    const appeared = isNewer && !this.#shown.has(operation.id);
    this.#shown.add(operation.id);
    if (this.#firstPoll) this.#oldestAtFirst = Math.min(this.#oldestAtFirst, createdAt);
    const phase = phaseForStatus(operation.status);
    if (!this.#counts(operation)) return false;
    if (this.#filter?.admits(operation.record) !== true) {
      if (phase === 'pending') this.#excluded.add(operation.id);
      return false;
    }
    const isRecentEnough = this.#countedFrom !== undefined && createdAt >= this.#countedFrom;
    if (appeared || phase === 'pending' || isRecentEnough) return true;
    if (this.#firstPoll && phase === 'failed' && nowMs - (fieldTime(operation, 'updated_at') ?? 0) < recentFailureAge)
      this.#failedBefore.set(operation.id, operation);
    return false;
  }

  /**
   * `whole`: the list was read completely. Otherwise older operations may become visible later, and must not count as
   * new.
   */
  finishListing(whole: boolean): void {
    if (this.#firstPoll && whole) this.#oldestAtFirst = Number.NEGATIVE_INFINITY;
    this.#firstPoll = false;
  }

  /** True if the list, newest first, has reached operations that were created before `since`. Always true without `since`. */
  isBeforeSince(page: readonly Operation[]): boolean {
    return this.#countedFrom === undefined || creationTime(page.at(-1), 0) < this.#countedFrom;
  }

  /** True until the list has been read to its end once. */
  get isFirstPoll(): boolean {
    return this.#firstPoll;
  }

  /**
   * Operations that the service starts by itself count only if the filter names `action`: a promise of the contract.
   */
  #counts(operation: Operation): boolean {
    return this.#filter?.names('action') === true || !automaticActions.has(fieldText(operation, 'action') ?? '');
  }
}

/** Milliseconds since 1970. `unknown`: the result if the operation or its time of creation is unknown. */
export function creationTime(operation: Operation | undefined, unknown: number): number {
  return (operation && fieldTime(operation, 'created_at')) ?? unknown;
}

/** An operation without a time of creation may be new. */
function creationTimeIfNew(operation: Operation): number {
  return creationTime(operation, Number.POSITIVE_INFINITY);
}
