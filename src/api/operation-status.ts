import type { Operation } from './records.js';

/** The documented statuses, and others that similar services use. */
const statuses = {
  pending: ['scheduling', 'running', 'cancelling'],
  succeeded: ['finished', 'skipped'],
  failed: ['failed', 'error', 'cancelled'],
};

export const knownStatuses: readonly string[] = Object.values(statuses).flat();

/** An unknown status does not prove that an operation has ended, so the operation is treated as pending. */
export function phaseForStatus(status: string): keyof typeof statuses {
  if (statuses.succeeded.includes(status)) return 'succeeded';
  return statuses.failed.includes(status) ? 'failed' : 'pending';
}

export const isPending = ({ status }: Operation) => phaseForStatus(status) === 'pending';
export const isFailed = ({ status }: Operation) => phaseForStatus(status) === 'failed';
