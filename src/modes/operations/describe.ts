import { field, type Operation, timeOf } from '../../api/records.js';
import { plain } from '../../text/plain.js';
import { formatDuration } from '../../time/duration.js';
import { phaseOf } from './status.js';

/** For example `create_branch on br-cool-sun-1 [id]`. A missing branch is left out. */
export function nameOf(operation: Operation): string {
  const branch = branchOf(operation);
  return `${actionOf(operation)}${branch === undefined ? '' : ` on ${branch}`} [${plain(operation.id, 80)}]`;
}

export function actionOf(operation: Operation): string {
  return plain(field(operation, 'action') ?? 'operation', 60);
}

export function branchOf(operation: Operation): string | undefined {
  const branch = field(operation, 'branch_id');
  return branch === undefined ? undefined : plain(branch, 80);
}

export function statusOf(operation: Operation): string {
  return plain(operation.status, 40);
}

export function failuresOf(operation: Operation): string | undefined {
  const failures = field(operation, 'failures_count');
  return failures === undefined ? undefined : plain(failures, 20);
}

/** Milliseconds since 1970: from the creation to the end, or to `date` if the operation is pending. */
export function spanOf(operation: Operation, date: number): { readonly from: number; readonly to: number } | undefined {
  const from = timeOf(operation, 'created_at');
  const to = phaseOf(operation.status) === 'pending' ? date : timeOf(operation, 'updated_at');
  // Some services send a zero time for a missing one.
  return from === undefined || to === undefined || from <= 0 ? undefined : { from, to: Math.max(from, to) };
}

export function lengthInWords(operation: Operation, date: number): string | undefined {
  const span = spanOf(operation, date);
  return span === undefined ? undefined : formatDuration(span.to - span.from);
}
