import { field, type Operation, timeOf } from '../../api/records.js';
import type { Filter } from '../lists/filter.js';
import { phaseOf } from '../operations/status.js';
import type { Target } from './target.js';

/** How long ago a failure is named in the notice of a wait that found nothing. A promise of the contract. */
const recently = 300_000;
/** The service starts these by itself. */
const automaticActions = new Set(['suspend_compute', 'check_availability']);

export interface Watched {
  readonly id: string;
  readonly projectId: string;
  /** As last seen; none: never seen. */
  readonly operation: Operation | undefined;
}

/** The operations of one project that a wait is about, and what is known of each. */
export class Roster {
  readonly #projectId: string;
  readonly #filter: Filter | undefined;
  readonly #watched = new Map<string, Watched>();
  readonly #pending = new Set<string>();
  readonly #failed = new Set<string>();
  /** With a filter: every id that the list has shown, and when the oldest of the first poll was made. */
  readonly #shown = new Set<string>();
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** When the newest was made of those that the first page that came shows, in whatever order. */
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

  /** Failed shortly before the first poll: they do not count, but the notice names them. */
  get failedBefore(): readonly Operation[] {
    return [...this.#failedBefore.values()];
  }

  /** How many unfinished operations the filter left out when the list was last read. */
  get notAdmitted(): number {
    return this.#notAdmitted.size;
  }

  /** Ids; an operation that was never seen has not ended. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get failed(): ReadonlySet<string> {
    return this.#failed;
  }

  get(id: string): Operation | undefined {
    return this.#watched.get(id)?.operation;
  }

  /** Whether that changed what is known of it. */
  see(operation: Operation): boolean {
    const { id, status } = operation;
    const before = this.get(id);
    // An end is an end: of two requests side by side the slower one can be the older one.
    if (before !== undefined && phaseOf(before.status) !== 'pending') return false;
    this.#watched.set(id, { id, projectId: this.#projectId, operation });
    const phase = phaseOf(status);
    if (phase === 'pending') this.#pending.add(id);
    else this.#pending.delete(id);
    if (phase === 'failed') this.#failed.add(id);
    return before?.status !== status;
  }

  /** Operations that were created from then on count even if they ended before the first poll; milliseconds since 1970. */
  countFrom(epochMs: number): void {
    this.#countedFrom = epochMs;
  }

  startListing(): void {
    this.#notAdmitted.clear();
  }

  /** Before its operations are taken up. */
  startPage(page: readonly Operation[]): void {
    this.#newestAtFirst ??= Math.max(...page.map(createdAt));
  }

  /**
   * Notes what the list shows. Whether it counts: it is unfinished, or appeared between two polls, or is recent enough.
   * `epochMs`: now, on the service's clock.
   */
  takesUp(operation: Operation, epochMs: number): boolean {
    const made = createdAt(operation);
    // A first poll that broke off has shown what there was all the same: what is newer came after it.
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

  /** The list was read to its end: `whole`, or as far as it is read, so that older ones move up when others vanish. */
  finishListing(whole: boolean): void {
    if (this.#firstPoll && whole) this.#oldestAtFirst = Number.NEGATIVE_INFINITY;
    this.#firstPoll = false;
  }

  /** Until the list was read to its end once. */
  get isFirstPoll(): boolean {
    return this.#firstPoll;
  }

  #admits(operation: Operation): boolean {
    return this.#filter?.admits(operation.record) === true && this.#counts(operation);
  }

  /** Operations that the service starts by itself count only if the filter names `action`. */
  #counts(operation: Operation): boolean {
    return this.#filter?.names('action') === true || !automaticActions.has(field(operation, 'action') ?? '');
  }
}

/** An operation that does not say when it was created may be new. */
function createdAt(operation: Operation): number {
  return timeOf(operation, 'created_at') ?? Number.POSITIVE_INFINITY;
}
