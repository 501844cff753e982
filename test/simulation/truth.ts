import type { ApiKey } from '../../control-plane/index.js';
import { type Operation, stepAt } from '../../control-plane/operation.js';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Of, ownRun } from './plan.js';
import type { ProcessRecord, Run, SentRequest } from './record.js';
import { epoch } from './stage.js';

// Facts of a run as the service knows them, and promises of the contract. Times are milliseconds of the run.

export const postTimeout = 20_000;
export const maxAmbiguousCreates = 3;
export const maxAttempts = 5;
/** A wait with `timeout: 0` repeats its requests so long. */
export const pollsOnceFor = 60_000;
/** Milliseconds by which the lists of the simulated service are late at most. */
export const maxLag = 4_000;

export type Phase = 'pending' | 'good' | 'bad';

/** What each status means, as the contract says. Any other word goes on. */
export function phaseOf(status: string): Phase {
  if (['finished', 'skipped'].includes(status)) return 'good';
  return ['failed', 'error', 'cancelled'].includes(status) ? 'bad' : 'pending';
}

export function startOf({ createdMicros }: Operation): number {
  return createdMicros / 1_000 - epoch;
}

export function removalOf(operation: Operation): number {
  return startOf(operation) + operation.vanishesAfterMs;
}

export function phaseAt(operation: Operation, time: number): Phase {
  return phaseOf(stepAt(operation, epoch + Math.min(time, removalOf(operation))).status);
}

/** Whether a wait for all operations of a project is to wait for this one. */
export function counts({ filter }: Of<'wait-operation'>, { id, action, branchId }: Operation): boolean {
  return filter({ id, action, branch_id: branchId });
}

/** When the operation ends, and how. Some never end. */
export function endOf(operation: Operation): { readonly at: number; readonly phase: Phase } {
  const last = operation.course.find(({ status }) => phaseOf(status) !== 'pending');
  if (last === undefined) return { at: Number.POSITIVE_INFINITY, phase: 'pending' };
  return { at: startOf(operation) + last.afterMs, phase: phaseOf(last.status) };
}

/** The reads of a project's list, page by page. One whose last page is missing or unusable is none. */
export function readsOf({ sent, endedAt: end }: ProcessRecord, projectId: string) {
  const reads: SentRequest[][] = [];
  for (const one of sent) {
    if (one.endpoint !== 'list-operations' || one.projectId !== projectId || (one.endedAt ?? end + 1) > end) continue;
    if (one.hasCursor) reads.at(-1)?.push(one);
    else reads.push([one]);
  }
  return reads.flatMap((pages) => {
    const [first, last] = [pages[0], pages.at(-1)];
    return first !== undefined && last?.isUsable ? [{ at: first.at, pages }] : [];
  });
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

/** A 404 of GitHub proves that a run is gone only if the key is older than this. */
export const day = 86_400_000;

export const fingerprintOf = (repositoryId: string) => repositoryFingerprint('https://github.com', repositoryId);
export const ownFingerprint = fingerprintOf('5');

/** Whether this action made the key for this repository, and not to be kept. */
export function isSweepable({ name }: ApiKey): boolean {
  const origin = parseKeyName(name);
  return origin?.run.fingerprint === ownFingerprint && !origin.isKept;
}

/** Whether GitHub shows the state of all runs. */
export function isGitHubClear({ plan: { runs } }: Run): boolean {
  return runs.has(ownRun) && [...runs.values()].every((one) => one.times === 0 && one.hiddenAfter === undefined);
}

/** Whether the attempt of a key is over in truth. `unknown`: GitHub knows only of earlier ones. */
export function isOver(run: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const made = parseKeyName(key.name)?.run;
  const state = run.plan.runs.get(made?.id ?? '')?.state;
  if (made === undefined || state === undefined) return 'no';
  const isOld = run.steps.every(({ main }) => main.startedAt - creationOf(key) > day);
  if (state === 'gone') return isOld ? 'yes' : 'no';
  const { attempt = 0, isCompleted } = state;
  if (attempt < made.attempt) return 'unknown';
  return attempt > made.attempt || isCompleted ? 'yes' : 'no';
}
