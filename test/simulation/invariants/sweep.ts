import type { ApiKey } from '../../../control-plane/index.js';
import { ownFingerprint, readKeyName } from '../formats.js';
import { ownRun } from '../plan.js';
import type { Run } from '../record.js';
import { creationOf } from '../truth.js';

/** A 404 of GitHub proves that a run is gone only if the key is older than this. */
const hour = 3_600_000;

/** Whether this action made the key for this repository, and not to be kept. */
export function isSweepable({ name }: ApiKey): boolean {
  const origin = readKeyName(name);
  return origin?.fingerprint === ownFingerprint && !origin.isKept;
}

/** Whether GitHub shows the state of all runs. */
export function isGitHubClear({ plan: { runs } }: Run): boolean {
  return runs.has(ownRun) && [...runs.values()].every((one) => one.times === 0 && one.hiddenAfter === undefined);
}

/** Whether the attempt of a key is over in truth. `unknown`: GitHub knows only of earlier ones. */
export function isOver(run: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const origin = readKeyName(key.name);
  const state = run.plan.runs.get(origin?.run ?? '')?.state;
  if (origin === undefined || state === undefined) return 'no';
  const isOld = run.steps.every(({ main }) => main.startedAt - creationOf(key) > hour);
  if (state === 'gone') return isOld ? 'yes' : 'no';
  const { attempt = 0, isCompleted } = state;
  if (attempt < origin.attempt) return 'unknown';
  return attempt > origin.attempt || isCompleted ? 'yes' : 'no';
}
