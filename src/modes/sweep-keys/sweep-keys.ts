import { withRetries } from '../../http/retry.js';
import { parseKeyName } from '../../keys/key-name.js';
import { revokeEach } from '../../keys/revocation.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators, Services } from '../mode.js';
import { type AgedKey, minAgeForNotFound, RunLookups } from './run-lookups.js';
import type { SweepKeysSettings } from './settings.js';
import type { RunState } from './workflow-runs.js';

export type SweepResult = Awaited<ReturnType<typeof sweepKeys>>;
export type SweepDecision = SweepResult['decisions'][number];

export async function sweepKeys(settings: SweepKeysSettings, collaborators: Collaborators, services: Services) {
  const findRun = await services.workflowRuns(settings.githubToken, settings.repository);
  const { api, deadline, log } = collaborators;
  const send = withRetries(collaborators);
  const list = await api.keys(send);
  const keys = [...list.values()];
  const now = api.serviceEpochMs(deadline.clock);
  const made = keys.flatMap((key) => {
    const origin = parseKeyName(key.name ?? '');
    return origin === undefined ? [] : [{ key, ...origin, age: now - (key.createdAt ?? Number.NaN) }];
  });
  const ours = made.filter(({ run }) => run.fingerprint === settings.run.fingerprint);

  const lookups = new RunLookups(settings.run, findRun, collaborators);
  const states = await lookups.find(ours.filter(({ isKept }) => !isKept));
  const decisions = ours.map((one) => ({ ...one, ...decide(one, states.get(one.run.id), settings) }));

  const over = decisions.filter(({ isOver }) => isOver).map(({ key }) => key);
  // The lookups can take minutes. By then an id may belong to another key, so the list is read again.
  const latest = settings.dryRun || over.length === 0 ? list : await api.keys(send);
  if (settings.dryRun) for (const { id } of over) log.info(`Key ${id} would be revoked.`);
  return {
    decisions,
    revocations: settings.dryRun ? [] : await revokeEach(over, api, send, log, latest),
    /** Numbers of keys that a sweep ignores: those of other repositories, and those that this action did not create. */
    others: { ofOtherRepositories: made.length - ours.length, notOurs: keys.length - made.length },
    failures: lookups.failures,
  };
}

/** `isOver`: true if the sweep revokes the key. */
function decide({ run, isKept, age }: AgedKey, state: RunState | undefined, settings: SweepKeysSettings) {
  if (isKept) return { isOver: false, reason: 'revoke-in-post: false' };
  const comparison = (limit: number) =>
    Number.isNaN(age)
      ? 'the age of the key is unknown'
      : `the key is ${age > limit ? '' : 'not '}older than ${formatDuration(limit)}`;
  if (state === 'gone') {
    if (age > minAgeForNotFound) return { isOver: true, reason: 'its run was not found' };
    return { isOver: false, reason: `its run was not found, but ${comparison(minAgeForNotFound)}` };
  }
  const isStale = state?.attempt !== undefined && state.attempt < run.attempt;
  if (state === undefined || isStale) {
    const isOver = age > settings.olderThan;
    const what = isStale
      ? 'GitHub does not yet report the run attempt that created the key'
      : 'the state of its run is unknown';
    return { isOver, reason: `${what}; ${comparison(settings.olderThan)}` };
  }
  const { attempt, isCompleted } = state;
  if (attempt !== undefined && attempt > run.attempt)
    return { isOver: true, reason: `its run was re-run (now attempt ${attempt})` };
  if (isCompleted) return { isOver: true, reason: 'its run has completed' };
  return {
    isOver: false,
    reason: run.id === settings.run.id ? 'its run is the current one' : 'its run has not completed',
  };
}
