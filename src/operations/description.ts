import { displayText, fieldText, fieldTime, type Operation } from '../api/records.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';

export type Phase = 'pending' | 'succeeded' | 'failed';

/** The documented statuses, and others that similar services use. */
const phases = new Map<string, Phase>([
  ['scheduling', 'pending'],
  ['running', 'pending'],
  ['cancelling', 'pending'],
  ['finished', 'succeeded'],
  ['skipped', 'succeeded'],
  ['failed', 'failed'],
  ['error', 'failed'],
  ['cancelled', 'failed'],
]);

export const knownStatuses: readonly string[] = [...phases.keys()];

/** An unknown status does not prove that an operation has ended, so the operation is treated as pending. */
export function phaseForStatus(status: string): Phase {
  return phases.get(status) ?? 'pending';
}

/** For example `create_branch on br-cool-sun-1 [id]`. An operation without a branch has no `on …`. */
export function operationName(operation: Operation): string {
  const branch = operationBranch(operation);
  return `${operationAction(operation)}${branch === '' ? '' : ` on ${branch}`} [${sanitizeId(operation.id)}]`;
}

export function operationAction(operation: Operation): string {
  return sanitizeLine(fieldText(operation, 'action') ?? 'operation', 60);
}

export function operationBranch(operation: Operation): string {
  return displayText(operation, 'branch_id', 80);
}

export function operationStatus(operation: Operation): string {
  return sanitizeLine(operation.status, 40);
}

export function operationFailures(operation: Operation): string {
  return displayText(operation, 'failures_count', 20);
}

/** Creation and end of an operation, in milliseconds since 1970. A pending operation gets `nowMs` as its end. */
export function operationSpan(operation: Operation, nowMs: number) {
  const from = fieldTime(operation, 'created_at');
  const to = phaseForStatus(operation.status) === 'pending' ? nowMs : fieldTime(operation, 'updated_at');
  // For a missing time, some services send a zero timestamp, such as 0001-01-01.
  return from === undefined || to === undefined || from <= 0 ? undefined : { from, to: Math.max(from, to) };
}

export function operationDuration(operation: Operation, nowMs: number): string | undefined {
  const span = operationSpan(operation, nowMs);
  return span === undefined ? undefined : formatDuration(span.to - span.from);
}
