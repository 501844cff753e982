import { timeOf } from '../api/records.js';
import type { Phase } from '../modes/operations/status.js';
import type { Watched } from '../modes/wait/roster.js';
import type { Waited } from '../modes/wait-operation.js';
import type { JsonObject } from '../text/json.js';
import { plain } from '../text/plain.js';
import { type OperationRow, operationRowOf } from './operation.js';
import { isFailed, isPending } from './wait.js';

export interface WatchedRow extends OperationRow {
  readonly project: string;
}

/** Rows that need attention come first. */
export function rowsOf({ watched }: Waited, date: number): WatchedRow[] {
  const rows = watched.map((one) => ({ ...rowOf(one, date), project: plain(one.projectId, 80) }));
  const urgency: Record<Phase, number> = { failed: 0, pending: 1, succeeded: 2 };
  return rows.sort((one, other) => urgency[one.phase] - urgency[other.phase]);
}

function rowOf({ id, operation }: Watched, date: number): OperationRow {
  return operation === undefined ? neverSeen(id) : operationRowOf(operation, date);
}

function neverSeen(id: string): OperationRow {
  return {
    id: plain(id, 80),
    phase: 'pending',
    action: '',
    branch: '',
    status: 'never seen',
    length: '',
    failures: '',
    span: undefined,
  };
}

/** The operation that decided the result, else the newest. */
export function decidingId({ verdict, watched }: Waited): string | undefined {
  const decided =
    verdict === 'failed' ? watched.find(isFailed) : verdict === 'finished' ? undefined : watched.find(isPending);
  return (decided ?? watched.reduce(newer, watched[0]))?.id;
}

function newer(one: Watched | undefined, other: Watched): Watched {
  return one !== undefined && created(one) >= created(other) ? one : other;
}

function created({ operation }: Watched): number {
  return (operation && timeOf(operation, 'created_at')) ?? Number.NEGATIVE_INFINITY;
}

export function idsOf({ watched }: Waited): string[] {
  return watched.map(({ id }) => id);
}

/** The records as last seen. */
export function recordsOf({ watched }: Waited): JsonObject[] {
  return watched.flatMap(({ operation }) => (operation === undefined ? [] : [operation.record]));
}
