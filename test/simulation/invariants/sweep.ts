import { fingerprintOf, runOf } from '../../../src/modes/keys/key-name.js';
import type { ApiKey } from '../../control-plane/index.js';
import { ownRun } from '../draw/keys.js';
import type { Run } from '../record.js';

const ours = fingerprintOf('https://github.com', '5');

/** Whether the key is one that this action made for this repository. */
export function isOfThisRepository(key: ApiKey): boolean {
  return runOf(key.name)?.fingerprint === ours;
}

/** Whether GitHub tells all that it is asked: who cannot see this very run sees nothing, and who is refused once asks no more. */
export function isGitHubClear({ plan: { runs } }: Run): boolean {
  const own = runs.get(ownRun);
  return own !== undefined && 'run' in own && own.run !== 'gone' && [...runs.values()].every((known) => 'run' in known);
}

/** Whether the run of a key is over; `unknown` where GitHub may not have told. */
export function isOver(simulated: Run, key: ApiKey): 'yes' | 'no' | 'unknown' {
  const { runs } = simulated.plan;
  const run = runOf(key.name);
  if (run === undefined || run.fingerprint !== ours) return 'no';
  // A later attempt of a run than the one that asks is not what GitHub can have told it of.
  if (run.id === ownRun) return run.attempt === 1 ? 'no' : 'unknown';
  const isClear = isGitHubClear(simulated);
  const known = runs.get(run.id);
  if (known === undefined || !('run' in known)) return 'unknown';
  if (known.run === 'gone') return isClear ? 'yes' : 'unknown';
  const { attempt = 0, isCompleted } = known.run;
  if (attempt < run.attempt) return 'unknown';
  if (attempt === run.attempt && !isCompleted) return isClear ? 'no' : 'unknown';
  return isClear ? 'yes' : 'unknown';
}

/** Whether the run is over, whatever GitHub told. */
export function isReallyOver({ plan: { runs } }: Run, key: ApiKey): boolean {
  const run = runOf(key.name);
  if (run === undefined || run.id === ownRun) return false;
  const known = runs.get(run.id);
  const truth = known === undefined || 'silent' in known ? undefined : 'run' in known ? known.run : known.later;
  if (truth === undefined) return false;
  return truth === 'gone' || (truth.attempt ?? 0) > run.attempt || (truth.isCompleted && truth.attempt === run.attempt);
}
