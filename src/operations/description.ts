import { fieldText, fieldTime, type Operation } from '../api/records.js';
import { sanitizeId, sanitizeLine } from '../text/sanitize-line.js';
import { formatDuration } from '../time/duration.js';

export type Phase = 'pending' | 'succeeded' | 'failed';

/** The documented statuses, and others that services of this family use. */
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

export function isKnownStatus(status: string): boolean {
  return phases.has(status);
}

/** An unknown status proves nothing, so the operation counts as pending. */
export function phaseForStatus(status: string): Phase {
  return phases.get(status) ?? 'pending';
}

/** For example `create_branch on br-cool-sun-1 [id]`. A missing branch is left out. */
export function operationName(operation: Operation): string {
  const branch = operationBranch(operation);
  return `${operationAction(operation)}${branch === undefined ? '' : ` on ${branch}`} [${sanitizeId(operation.id)}]`;
}

export function operationAction(operation: Operation): string {
  return sanitizeLine(fieldText(operation, 'action') ?? 'operation', 60);
}

export function operationBranch(operation: Operation): string | undefined {
  const branch = fieldText(operation, 'branch_id');
  return branch === undefined ? undefined : sanitizeId(branch);
}

export function operationStatus(operation: Operation): string {
  return sanitizeLine(operation.status, 40);
}

export function operationFailures(operation: Operation): string | undefined {
  const failures = fieldText(operation, 'failures_count');
  return failures === undefined ? undefined : sanitizeLine(failures, 20);
}

/** Milliseconds since 1970. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** From the creation to the end, or to `nowMs` if the operation is pending. */
export function operationSpan(operation: Operation, nowMs: number): Span | undefined {
  const from = fieldTime(operation, 'created_at');
  const to = phaseForStatus(operation.status) === 'pending' ? nowMs : fieldTime(operation, 'updated_at');
  // Some services send a zero timestamp if the time is missing.
  return from === undefined || to === undefined || from <= 0 ? undefined : { from, to: Math.max(from, to) };
}

export function operationDuration(operation: Operation, nowMs: number): string | undefined {
  const span = operationSpan(operation, nowMs);
  return span === undefined ? undefined : formatDuration(span.to - span.from);
}
