import type { ApiKey } from '../../control-plane/index.js';
import { type Operation, stepAt } from '../../control-plane/operation.js';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import type { Of } from './plan.js';
import type { Run, SentRequest } from './record.js';

// Facts of a run as the service knows them, and promises of the contract. Times are milliseconds of the run.

export const epoch = Date.UTC(2024, 0, 1, 12);

/** A step ends so long after its deadline, or after a signal. */
export const grace = 2_000;
export const postTimeout = 20_000;
/** A wait with `timeout: 0` repeats its requests so long. */
export const pollsOnceFor = 60_000;
/** Between the two reads that show an idle project. */
export const restMs = 5_000;
/** Milliseconds by which the lists of the simulated service are late at most. */
export const maxLag = 4_000;
/** A step sends so many requests at once, and then so many a second. After each 429 the rate recovers slowly. */
export const burst = 8;
export const perSecond = 9.5;
export const slowPerSecond = 1;
/** A 429 without `Retry-After` holds all requests so long, and the random time after a hold is at most `jitterMs`. */
const usualHoldMs = 1_000;
const jitterMs = 15_000;

/** The pause of a wait before its next poll. */
export function autoPause(waitedMs: number): number {
  return Math.min(3_300, Math.max(500, waitedMs / 4));
}

/** When the requests of the step may go on after this one. */
export function holdEnd({ status, retryAfter, endedAt }: SentRequest, end: number): number {
  if (endedAt === undefined) return end;
  if (status !== 429) return endedAt + (retryAfter ?? 0);
  const hold = retryAfter ?? usualHoldMs;
  return endedAt + hold + Math.min(jitterMs, Math.max(usualHoldMs, hold / 4));
}

export type Phase = 'pending' | 'good' | 'bad';

/** What each status means, as the contract says. Any other word goes on. */
export function phaseOf(status: string): Phase {
  if (['finished', 'skipped'].includes(status)) return 'good';
  return ['failed', 'error', 'cancelled'].includes(status) ? 'bad' : 'pending';
}

export function startOf({ createdMicros }: Operation): number {
  return createdMicros / 1_000 - epoch;
}

export function phaseAt(operation: Operation, time: number): Phase {
  return phaseOf(stepAt(operation, epoch + time).status);
}

/** When the operation ends, and how. Some never end. */
export function endOf(operation: Operation): { readonly at: number; readonly phase: Phase } {
  const last = operation.course.find(({ status }) => phaseOf(status) !== 'pending');
  if (last === undefined) return { at: Number.POSITIVE_INFINITY, phase: 'pending' };
  return { at: startOf(operation) + last.afterMs, phase: phaseOf(last.status) };
}

/** Whether the filter of a wait for all admits this operation. */
export function isAdmitted({ filter }: Of<'wait-operation'>, { id, action, branchId }: Operation): boolean {
  return filter({ id, action, branch_id: branchId });
}

/** Dates lose some digits of a millisecond. */
function timeOf(date: number): number {
  return Math.round((date - epoch) * 100) / 100;
}

export function creationOf({ createdAt }: ApiKey): number {
  return timeOf(createdAt);
}

export function revocationOf({ revokedAt }: ApiKey): number {
  return revokedAt === undefined ? Number.POSITIVE_INFINITY : timeOf(revokedAt);
}

export function isAliveAt(key: ApiKey, time: number): boolean {
  return creationOf(key) <= time + 0.01 && revocationOf(key) > time + 0.01;
}

/** Whether an annotation names this id. */
export function names(text: string, id: string): boolean {
  return new RegExp(`\\b${id}\\b`).test(text);
}

/** A 404 of GitHub proves that a run is gone only if the key is older than this. */
const day = 86_400_000;

export const fingerprintOf = (repositoryId: string) => repositoryFingerprint('https://github.com', repositoryId);
export const ownFingerprint = fingerprintOf('5');

/** Whether this action made the key for this repository, and not to be kept. */
export function isSweepable({ name }: ApiKey): boolean {
  const origin = parseKeyName(name);
  return origin?.run.fingerprint === ownFingerprint && !origin.isKept;
}

/** Whether the attempt of a key is over in truth. `unknown`: GitHub knows only of earlier ones, or says nothing. */
export function isOver(run: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const made = parseKeyName(key.name)?.run;
  const state = run.plan.runs.get(made?.id ?? '');
  if (made === undefined || state === undefined) return 'no';
  if (state === 'gone') return run.steps.every(({ main }) => main.startedAt - creationOf(key) > day) ? 'yes' : 'no';
  if (typeof state !== 'object' || !('isCompleted' in state)) return 'unknown';
  const { attempt = 0, isCompleted } = state;
  if (attempt < made.attempt) return 'unknown';
  return attempt > made.attempt || isCompleted ? 'yes' : 'no';
}
