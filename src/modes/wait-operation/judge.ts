import { isPending } from '../../api/operation-status.js';
import { automaticActions, fieldText, fieldTime, type Operation } from '../../api/records.js';
import type { Filter } from '../list/filter.js';
import { maxListLag } from './quiet.js';

/** What an operation is to a wait for `all`. `firstRead`: undefined until it is whole. `history`: it ended before `since`. */
export function judge(operation: Operation, firstRead: ListRead | undefined, since: number, filter: Filter) {
  if (!filter.admits(operation.record)) return 'excluded';
  const isAutomatic = automaticActions.includes(fieldText(operation, 'action') ?? '');
  if (isAutomatic && !filter.requires('action')) return 'excluded';
  return isPending(operation) || isNew(operation, firstRead) || endOf(operation) >= since ? 'counts' : 'history';
}

/** When an operation ended. Without a readable time, it is history. */
export function endOf(operation: Operation): number {
  return fieldTime(operation, 'updated_at') ?? fieldTime(operation, 'created_at') ?? Number.NEGATIVE_INFINITY;
}

export class ListRead {
  readonly ids = new Set<string>();
  /** When its oldest and its newest operation were created, if it had any. */
  oldest: number | undefined;
  newest = Number.NEGATIVE_INFINITY;

  constructor(readonly beganAt: number) {}

  add(operation: Operation): void {
    this.ids.add(operation.id);
    const createdAt = fieldTime(operation, 'created_at');
    if (createdAt === undefined) return;
    this.oldest = Math.min(createdAt, this.oldest ?? createdAt);
    this.newest = Math.max(createdAt, this.newest);
  }

  goesBackTo(time: number): boolean {
    return this.oldest !== undefined && this.oldest < time;
  }
}

/** True if the first read could not show the operation: it began later, or was not listed yet. */
export function isNew(operation: Operation, firstRead: ListRead | undefined): boolean {
  if (firstRead === undefined || firstRead.ids.has(operation.id)) return false;
  return (fieldTime(operation, 'created_at') ?? Number.POSITIVE_INFINITY) >= (firstRead.oldest ?? 0);
}

/**
 * True if something that counts may stand behind this page of a later read. Because its list lagged, the first read may lack
 * what was created at most that long before the step. `recent`: nothing older than this can be meant, whatever a clock says.
 */
export function mayHideMore(page: readonly Operation[], firstRead: ListRead, recent: number): boolean {
  if (page.some((operation) => isNew(operation, firstRead))) return true;
  const backTo = Math.min(...page.map((operation) => fieldTime(operation, 'created_at') ?? Number.POSITIVE_INFINITY));
  return firstRead.newest >= recent && backTo >= firstRead.newest - maxListLag;
}
