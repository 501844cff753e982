import type { ApiKey } from '../../control-plane/index.js';
import { ownRun } from '../draw/keys.js';
import type { Run } from '../record.js';
import { bornAt } from '../truth.js';
import { ours, readName } from './key-names.js';

/** A 404 of GitHub says nothing of the run of a younger key. */
const hour = 3_600_000;

/** Whether the key is one that this action made for this repository, and that is not to be kept. */
export function isSweepable(key: ApiKey): boolean {
  const name = readName(key.name);
  return name?.fingerprint === ours && !name.isKept;
}

/** Whether GitHub tells all that it is asked: who cannot see this very run sees nothing, and who is refused once asks no more. */
export function isGitHubClear({ plan: { runs } }: Run): boolean {
  const own = runs.get(ownRun);
  return (
    own !== undefined &&
    'run' in own &&
    own.run !== 'gone' &&
    own.hiddenAfter === undefined &&
    [...runs.values()].every((known) => 'run' in known)
  );
}

/** Whether the run of a key is over; `unknown` where GitHub may not have told. */
export function isOver(simulated: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const { runs } = simulated.plan;
  const name = readName(key.name);
  if (name === undefined || !isSweepable(key)) return 'no';
  // A later attempt of a run than the one that asks is not what GitHub can have told it of.
  if (name.run === ownRun) return name.attempt === 1 ? 'no' : 'unknown';
  const isClear = isGitHubClear(simulated);
  const known = runs.get(name.run);
  if (known === undefined || !('run' in known)) return 'unknown';
  if (known.run === 'gone') return isClear ? (isOld(simulated, key) ? 'yes' : 'no') : 'unknown';
  const { attempt = 0, isCompleted } = known.run;
  if (attempt < name.attempt) return 'unknown';
  if (attempt === name.attempt && !isCompleted) return isClear ? 'no' : 'unknown';
  return isClear ? 'yes' : 'unknown';
}

/** Whether the run is over, whatever GitHub told. */
export function isReallyOver(simulated: Run, key: ApiKey): boolean {
  const name = readName(key.name);
  if (name === undefined || name.run === ownRun) return false;
  const known = simulated.plan.runs.get(name.run);
  const truth = known === undefined || 'silent' in known ? undefined : 'run' in known ? known.run : known.later;
  if (truth === undefined) return false;
  if (truth === 'gone') return isOld(simulated, key);
  return (truth.attempt ?? 0) > name.attempt || (truth.isCompleted && truth.attempt === name.attempt);
}

function isOld({ steps }: Run, key: ApiKey): boolean {
  return steps.every(({ main }) => main.startedAt - bornAt(key) > hour);
}
