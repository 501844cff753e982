import type { ApiKey } from '../../../control-plane/index.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { creationOf, isAliveAt, isGitHubClear, isOver, isSweepable, revocationOf } from '../truth.js';

/** After a burst, requests wait for their turn. */
const burst = 8;
const perSecond = 9.5;
const longestStep = 1_000 / perSecond;

/** Without faults a step does its task, and in time. Waits have more to hold: see `healthyWaitsSucceed`. */
export function* calmRunsSucceed(step: StepRecord, run: Run): Generator<string> {
  if (!isCalm(run, step) || run.stage.revokedByOthers.size > 0 || step.main.hasIncompleteList) return;
  yield* mainProblems(run, step);
}

function isCalm({ stage }: Run, { plan, main }: StepRecord): boolean {
  const { exit, signalledAt, runnerFailed, sent } = main;
  const inQueueMs = (1_000 * Math.max(0, sent.length - burst)) / perSecond;
  const neededMs = 2 * stage.tripMs * (sent.length + 2) + inQueueMs;
  const isTooSlow = neededMs > plan.timeoutMs - longestStep;
  const isInterrupted = exit === 'killed' || signalledAt !== undefined || runnerFailed;
  const isFaulty = sent.some(({ fault }) => fault !== undefined);
  const isRepeating = stage.plane.notShown.lastPageCursor === 'repeated';
  return !isFaulty && !isRepeating && plan.runnerFault?.kind !== 'result-file' && !isTooSlow && !isInterrupted;
}

function* mainProblems(run: Run, step: StepRecord) {
  const { main, plan } = step;
  const { expects } = plan;
  switch (expects.mode) {
    case 'wait-operation':
      return;
    case 'revoke-key':
      return plan.timeoutMs < longestProof
        ? undefined
        : yield* expectStatus(main, ...revocationStatuses(run, step, expects));
    case 'sweep-keys': {
      // Other steps make and revoke keys at the same time.
      if (run.steps.length > 1 || plan.timeoutMs < longestProof || !isGitHubClear(run)) return;
      const ours = run.stage.keys().filter((key) => isSweepable(key) && isAliveAt(key, main.startedAt));
      const isUnread = ours.some((key) => isOver(run, key) === 'unknown' && age(key, main) < expects.olderThanMs);
      const isOurs = ours.some((key) => isOver(run, key) === 'yes' || (isOver(run, key) === 'unknown' && !isUnread));
      return yield* expectStatus(main, isUnread ? 'error' : expects.failsOnMatch && isOurs ? 'match' : 'ok');
    }
    case 'create-key':
      return yield* expectStatus(main, 'ok');
    default:
      return yield* expectStatus(main, 'ok', 'empty', 'match');
  }
}

/** Lists lag by 8 s, must lack a key for 10 s, and follow each other after pauses. */
const longestProof = 30_000;

const age = (key: ApiKey, { startedAt }: ProcessRecord) => startedAt - creationOf(key);

/** Nothing if a list that lags may or may not show a key. */
function revocationStatuses({ stage }: Run, { main }: StepRecord, { ids, name, ignores }: Of<'revoke-key'>): string[] {
  const { startedAt: start, endedAt: end } = main;
  const since = start - stage.lags.keys;
  const keys = stage.keys().filter((key) => ids?.includes(key.id) ?? key.name === name);
  const isUnclear = (key: ApiKey) => {
    const [made, gone] = [creationOf(key), revocationOf(key)];
    return (made > Math.max(0, since) && made <= end) || (gone > since && gone < start);
  };
  if (keys.some(isUnclear)) return [];
  const alive = keys.filter((key) => creationOf(key) <= start && revocationOf(key) >= start);
  if (ids === undefined && alive.length > 1) return ['error'];
  const isMissing = ids === undefined ? alive.length === 0 : ids.some((id) => !alive.some((key) => key.id === id));
  return [isMissing && (!ignores || alive.length === 0) ? 'not-found' : 'revoked'];
}

function* expectStatus({ status }: ProcessRecord, ...statuses: string[]) {
  if (statuses.length > 0 && !statuses.includes(status))
    yield `without any fault the status is ${status} instead of ${statuses.join(' or ')}`;
}
