export type Phase = 'pending' | 'succeeded' | 'failed';

/** The documented statuses, and those that services of this family also say. */
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

/** A word that nobody knows proves nothing: it is waited on. */
export function phaseOf(status: string): Phase {
  return (isKnown(status) && phases[status]) || 'pending';
}
