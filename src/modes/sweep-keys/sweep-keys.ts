import { usualPatience, withRetries } from '../../http/retry.js';
import { type KeyOrigin, parseKeyName } from '../../keys/key-name.js';
import { revokeByIds } from '../../keys/revocation.js';
import { formatDuration } from '../../time/duration.js';
import type { Collaborators, Services } from '../mode.js';
import { findRuns } from './run-lookups.js';
import type { SweepKeysSettings } from './settings.js';
import type { RunState } from './workflow-runs.js';

export type SweepResult = Awaited<ReturnType<typeof sweepKeys>>;
export type SweepDecision = SweepResult['decisions'][number];

/** GitHub may not know a new run yet, so only older keys of an unknown run are revoked. In milliseconds. */
const leastAgeOfUnknown = 86_400_000;

export async function sweepKeys(settings: SweepKeysSettings, collaborators: Collaborators, services: Services) {
  const find = await services.workflowRuns(settings.githubToken, settings.repository);
  const { api, deadline, log } = collaborators;
  const { clock } = deadline;
  const send = withRetries(collaborators);
  const listed = [...(await api.keys(send)).values()].filter(({ isRevoked }) => !isRevoked);
  // One of the clocks may be wrong. By the smaller age, no young key seems old.
  const now = Math.min(api.serviceEpochMs(clock), clock.epochMs());
  const ours = listed.flatMap((key) => {
    const origin = parseKeyName(key.name ?? '');
    const isOurs = origin?.run.fingerprint === settings.run.fingerprint;
    return isOurs ? [{ key, ...origin, age: now - (key.createdAt ?? now) }] : [];
  });
  const asked = new Set(ours.filter(({ isKept }) => !isKept).map(({ run }) => run.id));
  const { states, failures } = await findRuns([...asked], settings.run, find, collaborators);
  const decisions = ours.map((one) => ({ ...one, ...decide(one, states.get(one.run.id), settings) }));
  const over = decisions.filter(({ isOver }) => isOver).map(({ key }) => key.id);
  if (settings.dryRun) for (const id of over) log.info(`Key ${id} would be revoked.`);
  const meant = settings.dryRun ? [] : over;
  return {
    decisions,
    revocation: await revokeByIds(meant, { ...collaborators, send, patience: usualPatience }),
    failures,
  };
}

type Decision = { readonly isOver: boolean; readonly isUnread?: boolean; readonly reason: string };

/** `isOver`: the sweep revokes the key. `isUnread`: it is left, because the state of its run is unknown. */
function decide(
  { run, isKept, age }: KeyOrigin & { readonly age: number },
  state: RunState | undefined,
  settings: SweepKeysSettings,
): Decision {
  if (isKept) return { isOver: false, reason: 'revoke-in-post: false' };
  const isOlder = (limit: number) => ({
    isOver: age > limit,
    than: `the key is ${age > limit ? '' : 'not '}older than ${formatDuration(limit)}`,
  });
  if (state === 'gone') {
    const { isOver, than } = isOlder(leastAgeOfUnknown);
    return { isOver, reason: `GitHub does not know its run; ${than}` };
  }
  if (state === undefined || (state.attempt !== undefined && state.attempt < run.attempt)) {
    const { isOver, than } = isOlder(settings.olderThan);
    return { isOver, isUnread: !isOver, reason: `its run could not be read; ${than}` };
  }
  if (state.attempt !== undefined && state.attempt > run.attempt)
    return { isOver: true, reason: `its run was attempted again (now attempt ${state.attempt})` };
  if (state.isCompleted) return { isOver: true, reason: 'its run has completed' };
  const isOwn = run.id === settings.run.id;
  return { isOver: false, reason: isOwn ? 'its run is the current one' : 'its run has not completed' };
}
