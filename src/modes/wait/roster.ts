import { field, type Operation, timeOf } from '../../api/records.js';
import type { Filter } from '../lists/filter.js';
import { phaseOf } from '../operations/status.js';
import type { Target } from './target.js';

const recently = 300_000;
/** The service starts these by itself. */
const unasked = new Set(['suspend_compute', 'check_availability']);

export interface Watched {
  readonly id: string;
  /** As last seen; none: never seen. */
  readonly operation: Operation | undefined;
}

/** The operations that a wait is about, and what is known of each. */
export class Roster {
  readonly #filter: Filter | undefined;
  readonly #watched = new Map<string, Watched>();
  readonly #pending = new Set<string>();
  readonly #failed = new Set<string>();
  /** With a filter: every id that the list has shown, and when the oldest of the first look was made. */
  readonly #shown = new Set<string>();
  #oldestAtFirst = Number.POSITIVE_INFINITY;
  /** When the newest was made, as the first page that came shows it. */
  #newestAtFirst: number | undefined;
  #firstLook = true;
  readonly #failedBefore = new Map<string, Operation>();

  constructor(target: Target) {
    if ('all' in target) {
      this.#filter = target.all;
      return;
    }
    for (const id of target.ids) {
      this.#watched.set(id, { id, operation: undefined });
      this.#pending.add(id);
    }
  }

  get watched(): readonly Watched[] {
    return [...this.#watched.values()];
  }

  /** What had failed shortly before the first look: nobody waits for it, but somebody may want to know. */
  get failedBefore(): readonly Operation[] {
    return [...this.#failedBefore.values()];
  }

  /** Ids; what nobody has seen has not ended. */
  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get failed(): ReadonlySet<string> {
    return this.#failed;
  }

  get(id: string): Operation | undefined {
    return this.#watched.get(id)?.operation;
  }

  see(operation: Operation): void {
    const { id, status } = operation;
    this.#watched.set(id, { id, operation });
    this.#pending.delete(id);
    const phase = phaseOf(status);
    if (phase === 'pending') this.#pending.add(id);
    if (phase === 'failed') this.#failed.add(id);
  }

  /** Notes what the list shows. Whether it is watched from now on: it runs, or came and went between two looks. */
  takesUp(operation: Operation, date: number): boolean {
    const made = timeOf(operation, 'created_at') ?? Number.POSITIVE_INFINITY;
    // A first look that broke off has shown what there was all the same: what is newer came after it.
    const isNewer = this.#firstLook
      ? made > (this.#newestAtFirst ?? Number.POSITIVE_INFINITY)
      : made >= this.#oldestAtFirst;
    const appeared = isNewer && !this.#shown.has(operation.id);
    this.#newestAtFirst ??= made;
    this.#shown.add(operation.id);
    if (this.#firstLook) this.#oldestAtFirst = Math.min(this.#oldestAtFirst, made);
    if (!this.#admits(operation)) return false;
    const phase = phaseOf(operation.status);
    if (
      this.#firstLook &&
      !appeared &&
      phase === 'failed' &&
      date - (timeOf(operation, 'updated_at') ?? 0) < recently
    ) {
      this.#failedBefore.set(operation.id, operation);
    }
    return appeared || phase === 'pending';
  }

  /** The list was read to its end: `whole`, or as far as it is read, so that older ones move up when others vanish. */
  listWasRead(whole: boolean): void {
    if (this.#firstLook && whole) this.#oldestAtFirst = Number.NEGATIVE_INFINITY;
    this.#firstLook = false;
  }

  #admits(operation: Operation): boolean {
    if (this.#filter === undefined || !this.#filter.admits(operation.record)) return false;
    return this.#filter.names('action') || !unasked.has(field(operation, 'action') ?? '');
  }
}
