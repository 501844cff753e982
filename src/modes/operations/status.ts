export type Phase = 'pending' | 'succeeded' | 'failed';

/** The documented statuses, and others that services of this family use. */
const phases: Readonly<Record<string, Phase>> = {
  scheduling: 'pending',
  running: 'pending',
  cancelling: 'pending',
  finished: 'succeeded',
  skipped: 'succeeded',
  failed: 'failed',
  error: 'failed',
  cancelled: 'failed',
};

export const knownStatuses: readonly string[] = Object.keys(phases);

export function isKnown(status: string): boolean {
  return Object.hasOwn(phases, status);
}

/** An unknown status proves nothing, so the operation counts as pending. */
export function phaseOf(status: string): Phase {
  return (isKnown(status) && phases[status]) || 'pending';
}
