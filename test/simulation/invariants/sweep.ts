import type { ApiKey } from '../../../control-plane/index.js';
import { ownFingerprint, readKeyName } from '../formats.js';
import { ownRun } from '../plan.js';
import type { Run } from '../record.js';
import { creationOf } from '../truth.js';

/** A 404 of GitHub counts only for older keys. */
const hour = 3_600_000;

/** Whether this action made the key for this repository, and not to be kept. */
export function isSweepable({ name }: ApiKey): boolean {
  const origin = readKeyName(name);
  return origin?.fingerprint === ownFingerprint && !origin.isKept;
}

/** Whether GitHub shows the state of all runs. */
export function isGitHubClear({ plan: { runs } }: Run): boolean {
  const own = runs.get(ownRun);
  const isOwnShown = own !== undefined && 'run' in own && own.run !== 'gone' && own.hiddenAfter === undefined;
  return isOwnShown && [...runs.values()].every((known) => 'run' in known);
}

/** Whether the run of a key is over. `unknown`: GitHub may not have shown it. */
export function isOver(run: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const origin = readKeyName(key.name);
  if (origin === undefined || !isSweepable(key)) return 'no';
  // GitHub cannot know of a later attempt of the current run.
  if (origin.run === ownRun) return origin.attempt === 1 ? 'no' : 'unknown';
  const known = run.plan.runs.get(origin.run);
  if (!isGitHubClear(run) || known === undefined || !('run' in known)) return 'unknown';
  if (known.run === 'gone') return isOld(run, key) ? 'yes' : 'no';
  const { attempt = 0, isCompleted } = known.run;
  if (attempt < origin.attempt) return 'unknown';
  return attempt > origin.attempt || isCompleted ? 'yes' : 'no';
}

/** Whether the run is over, whatever GitHub shows. */
export function isReallyOver(run: Run, key: ApiKey): boolean {
  const origin = readKeyName(key.name);
  const known = origin === undefined ? undefined : run.plan.runs.get(origin.run);
  if (origin === undefined || origin.run === ownRun || known === undefined || 'silent' in known) return false;
  const state = 'run' in known ? known.run : known.later;
  if (state === 'gone') return isOld(run, key);
  return (state.attempt ?? 0) > origin.attempt || (state.isCompleted && state.attempt === origin.attempt);
}

function isOld({ steps }: Run, key: ApiKey): boolean {
  return steps.every(({ main }) => main.startedAt - creationOf(key) > hour);
}
