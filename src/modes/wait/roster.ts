import { field, type Operation, timeOf } from '../../api/records.js';
import type { Filter } from '../lists/filter.js';
import { phaseOf } from '../operations/status.js';
import type { Target } from './target.js';

/** Milliseconds, a promise of the contract: the notice of a wait that found nothing names failures this recent. */
const recently = 300_000;
/** The service starts these by itself. */
const automaticActions = new Set(['suspend_compute', 'check_availability']);

export interface Watched {
  readonly id: string;
  readonly projectId: string;
  /** As last seen. Undefined if it was never seen. */
  readonly operation: Operation | undefined;
}

/** The operations of one project that a wait tracks, each in its last known state. */
export class Roster {
  readonly #projectId: string;
  readonly #filter: Filter | undefined;
  readonly #watched = new Map<string, Watched>();
  readonly #pending = new Set<string>();
  readonly #failed = new Set<string>();
  /** Only for `all`: every id that the list has shown. */
  readonly #shown = new Set<string>();
  /** Milliseconds since 1970: the oldest creation that the first poll has shown. */
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** Milliseconds since 1970: the newest creation on the first page. The page may be out of order. */
  #newestAtFirst: number | undefined;
  #firstPoll = true;
  #countedFrom: number | undefined;
  readonly #failedBefore = new Map<string, Operation>();
  readonly #notAdmitted = new Set<string>();

  constructor(target: Target, projectId: string) {
    this.#projectId = projectId;
    if ('all' in target) {
      this.#filter = target.all;
      return;
    }
    for (const id of target.ids) {
      this.#watched.set(id, { id, projectId, operation: undefined });
      this.#pending.add(id);
    }
  }

  get isEmpty(): boolean {
    return this.#watched.size === 0;
  }

  get watched(): readonly Watched[] {
    return [...this.#watched.values()];
  }

  /** Operations that failed shortly before the first poll. They do not count, but the notice names them. */
  get failedBefore(): readonly Operation[] {
    return [...this.#failedBefore.values()];
  }

  /** Number of unfinished operations that the filter left out of the last list. */
  get notAdmitted(): number {
    return this.#notAdmitted.size;
  }

  /** Ids. An operation that was never seen is pending. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get failed(): ReadonlySet<string> {
    return this.#failed;
  }

  get(id: string): Operation | undefined {
    return this.#watched.get(id)?.operation;
  }

  /** Returns true if the status changed. */
  see(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // A terminal status does not change again. Of two parallel requests, the slower one may bring an older status.
    if (before !== undefined && phaseOf(before.status) !== 'pending') return false;
    this.#watched.set(id, { id, projectId: this.#projectId, operation });
    const phase = phaseOf(status);
    if (phase === 'pending') this.#pending.add(id);
    else this.#pending.delete(id);
    if (phase === 'failed') this.#failed.add(id);
    return before?.status !== status;
  }

  /**
   * `epochMs`: operations created since then count even if they ended before the first poll. Milliseconds since 1970.
   */
  countFrom(epochMs: number): void {
    this.#countedFrom = epochMs;
  }

  startListing(): void {
    this.#notAdmitted.clear();
  }

  /** Must run before `trackIfNew` for the operations of the page. */
  startPage(page: readonly Operation[]): void {
    this.#newestAtFirst ??= Math.max(...page.map(createdAt));
  }

  /**
   * Records that the list shows the operation. Returns true if it counts: it is unfinished, or appeared between two
   * polls, or is recent enough for `since`. `epochMs`: now, on the service's clock.
   */
  takesUp(operation: Operation, epochMs: number): boolean {
    const made = createdAt(operation);
    // A first poll that failed halfway has still shown a page. Operations newer than that page were created later.
    const isNewer = made > (this.#firstPoll ? (this.#newestAtFirst ?? Number.POSITIVE_INFINITY) : this.#oldestAtFirst);
    const appeared = isNewer && !this.#shown.has(operation.id);
    this.#shown.add(operation.id);
    if (this.#firstPoll) this.#oldestAtFirst = Math.min(this.#oldestAtFirst, made);
    const phase = phaseOf(operation.status);
    if (!this.#admits(operation)) {
      if (phase === 'pending' && this.#counts(operation)) this.#notAdmitted.add(operation.id);
      return false;
    }
    const isRecentEnough = this.#countedFrom !== undefined && made >= this.#countedFrom;
    if (appeared || phase === 'pending' || isRecentEnough) return true;
    if (this.#firstPoll && phase === 'failed' && epochMs - (timeOf(operation, 'updated_at') ?? 0) < recently)
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

  /** True until the list has been read to its end once. */
  get isFirstPoll(): boolean {
    return this.#firstPoll;
  }

  #admits(operation: Operation): boolean {
    return this.#filter?.admits(operation.record) === true && this.#counts(operation);
  }

  /**
   * Operations that the service starts by itself count only if the filter names `action`: a promise of the contract.
   */
  #counts(operation: Operation): boolean {
    return this.#filter?.names('action') === true || !automaticActions.has(field(operation, 'action') ?? '');
  }
}

/** An operation without a time of creation may be new. */
function createdAt(operation: Operation): number {
  return timeOf(operation, 'created_at') ?? Number.POSITIVE_INFINITY;
}
