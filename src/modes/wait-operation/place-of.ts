import { fieldText, fieldTime, type Operation } from '../../api/records.js';
import { phaseForStatus } from '../../operations/description.js';
import type { Filter } from '../list/filter.js';
import { overlap, recentFailureAge } from './limits.js';

/** The service itself starts these operations. They are part of a wait only if `filter` names `action`. */
const automaticActions = ['suspend_compute', 'check_availability'];

/** What a wait for `all` knows when it decides about an operation. Times are on the service's clock, since 1970. */
export interface Scope {
  readonly filter: Filter;
  /** The start of the wait. */
  readonly beganMs: number;
  /** With `since`: operations created from this time on are part of the wait even if they have ended. */
  readonly sinceMs: number | undefined;
  readonly nowMs: number;
  /** `first`: in the first read. `again`: in a later read, after the first read had shown it as ended. `later`: otherwise. */
  readonly seen: 'first' | 'again' | 'later';
}

/**
 * - `awaited`: part of the wait
 * - `automatic`: unfinished, but the service itself started it
 * - `excluded`: unfinished, but the filter does not admit it
 * - `failed-before`: failed shortly before the wait; only a notice names it
 * - `history`: ended before the wait
 */
type Place = 'awaited' | 'automatic' | 'excluded' | 'failed-before' | 'history';

/** Decides whether an operation is part of a wait for `all`. */
export function placeOf(operation: Operation, scope: Scope): Place {
  const { filter, nowMs } = scope;
  const phase = phaseForStatus(operation.status);
  const isPending = phase === 'pending';
  if (!filter.names('action') && automaticActions.includes(fieldText(operation, 'action') ?? ''))
    return isPending ? 'automatic' : 'history';
  if (!filter.admits(operation.record)) return isPending ? 'excluded' : 'history';
  if (isPending || isRecent(operation, scope)) return 'awaited';
  const isRecentFailure = phase === 'failed' && nowMs - (fieldTime(operation, 'updated_at') ?? 0) < recentFailureAge;
  return isRecentFailure ? 'failed-before' : 'history';
}

/** Times on the service's clock can be wrong by this, because a `Date` header has whole seconds. In milliseconds. */
const clockTolerance = 2_000;

/** True if an ended operation is part of the wait: `since` includes it, or it probably ended during the wait. */
function isRecent(operation: Operation, { beganMs, sinceMs, nowMs, seen }: Scope): boolean {
  const createdAt = fieldTime(operation, 'created_at');
  if (sinceMs !== undefined && (createdAt ?? sinceMs) >= sinceMs) return true;
  const endedAt = fieldTime(operation, 'updated_at');
  if (seen === 'again') return false;
  // The first read may come late, if earlier requests failed. Then the operation may have ended during the wait.
  if (seen === 'first') return nowMs - beganMs > clockTolerance && (endedAt ?? 0) > beganMs && (endedAt ?? 0) <= nowMs;
  if (createdAt === undefined && endedAt === undefined) return true;
  return (createdAt ?? 0) >= beganMs - overlap || (endedAt ?? 0) > beganMs;
}
