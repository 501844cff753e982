import type { Key } from '../api/keys.js';
import { timeOf } from '../api/records.js';
import type { ApiError } from '../http/errors.js';
import { formatDuration } from '../time/duration.js';
import type { Collaborators } from './collaborators.js';
import { type Fate, revokeEach } from './keys/fates.js';
import { type KeyOrigin, parseKeyName, type Run } from './keys/key-name.js';
import { Revoker } from './keys/revocation.js';
import { RunLookups, type RunSeen, type WorkflowRuns } from './keys/run-lookups.js';
import { patiently } from './patience.js';

export interface SweepKeysSettings {
  /** The run of the sweep itself. */
  readonly run: Run;
  /** Milliseconds. If the run of a key cannot be looked up, the key is revoked only above this age. */
  readonly olderThan: number;
  readonly dryRun: boolean;
  /** Milliseconds for one request to GitHub. */
  readonly requestTimeout: number;
}

/** A key of this repository, whether to revoke it, and why. */
export interface Judged extends KeyOrigin {
  readonly key: Key;
  /** Always false for a key that is kept on purpose: its run is not looked up. */
  readonly isOver: boolean;
  readonly why: string;
}

export interface Swept {
  readonly judged: readonly Judged[];
  /** Results for the keys whose run is over. Empty in a dry run. */
  readonly fates: readonly Fate[];
  /** Keys that this action made for other repositories, and keys that it did not make. */
  readonly others: { readonly ofOtherRepositories: number; readonly notOurs: number };
  /** Why runs could not be looked up. */
  readonly troubles: readonly ApiError[];
  readonly listIsComplete: boolean;
}

/** Milliseconds, a promise of the contract. GitHub may not yet find a run that is very new. */
const notFoundCountsAfter = 3_600_000;

export async function sweepKeys(
  settings: SweepKeysSettings,
  collaborators: Collaborators,
  runs: WorkflowRuns,
): Promise<Swept> {
  const { api, limit, log } = collaborators;
  const manner = patiently(collaborators);
  const list = await api.keys(manner);
  const now = api.epochMs(limit.clock);
  const made = list.keys.flatMap((key) => {
    const origin = parseKeyName(key.name ?? '');
    return origin === undefined ? [] : [{ key, ...origin, age: now - (timeOf(key, 'created_at') ?? now) }];
  });
  const ours = made.filter(({ run }) => run.fingerprint === settings.run.fingerprint);

  const lookups = new RunLookups(settings.run, settings.requestTimeout, runs, collaborators);
  const sweepable = ours.filter(({ isKept }) => !isKept);
  const old = sweepable.filter(({ age }) => age > notFoundCountsAfter);
  const states = await lookups.find(runIds(sweepable), runIds(old));
  const judged = ours.map((one) => ({ ...one, ...judge(one, states.get(one.run.id), settings) }));

  const over = judged.filter(({ isOver }) => isOver).map(({ key }) => key);
  return {
    judged,
    fates: settings.dryRun ? [] : await revokeEach(over, new Revoker(api, manner), log),
    others: { ofOtherRepositories: made.length - ours.length, notOurs: list.keys.length - made.length },
    troubles: lookups.failures,
    listIsComplete: list.isComplete,
  };
}

function runIds(keys: readonly KeyOrigin[]): ReadonlySet<string> {
  return new Set(keys.map(({ run }) => run.id));
}

/** `age`: milliseconds on the service's clock; 0 if the record has no time of creation. */
function judge(
  { run, isKept, age }: KeyOrigin & { readonly age: number },
  state: RunSeen | 'gone' | undefined,
  { run: own, olderThan }: SweepKeysSettings,
): Pick<Judged, 'isOver' | 'why'> {
  if (isKept) return { isOver: false, why: 'revoke-in-post: false' };
  if (state === 'gone') {
    if (age > notFoundCountsAfter) return { isOver: true, why: 'its run is gone' };
    const least = formatDuration(notFoundCountsAfter);
    return { isOver: false, why: `its run is not found; it is not older than ${least}` };
  }
  const isStale = state?.attempt !== undefined && state.attempt < run.attempt;
  if (state === undefined || isStale) {
    const isOver = age > olderThan;
    const what = isStale ? 'GitHub shows an earlier attempt of its run' : 'its run cannot be seen';
    return { isOver, why: `${what}; it is ${isOver ? '' : 'not '}older than ${formatDuration(olderThan)}` };
  }
  const { attempt, isCompleted } = state;
  if (attempt !== undefined && attempt > run.attempt) return { isOver: true, why: `its run is at attempt ${attempt}` };
  if (isCompleted) return { isOver: true, why: 'its run is completed' };
  return { isOver: false, why: run.id === own.id ? 'its run is this one' : 'its run goes on' };
}
