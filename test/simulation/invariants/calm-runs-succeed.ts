import { excuses } from '../excuses.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { isAliveAt, isGitHubClear } from '../truth.js';

/** A run that is not found gets a second request after 1 s, in half of the time at most. */
const tooShortToAskAgain = 3_000;
const longestPause = 5_000;
/** After a burst, requests wait for their turn. */
const burst = 8;
const perSecond = 9.5;
const longestStep = 1_000 / perSecond;

/** Without faults a step does its task, and in time. Waits have more to hold: see `healthyWaitsSucceed`. */
export function* calmRunsSucceed(step: StepRecord, run: Run): Generator<string> {
  const { main, post } = step;
  if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return;
  if (!main.hasIncompleteList) yield* mainProblems(run, step);
  if (post === undefined || !isCalm(run, step, post)) return;
  const margin = longestPause + 8 * run.stage.tripMs;
  if (post.hasIncompleteList || step.keys.some((key) => excuses.isShownLate(post, key, margin))) return;
  for (const alarm of post.alarms) yield `a false alarm: ${alarm}`;
}

function isCalm({ stage }: Run, { plan, processes }: StepRecord, process: ProcessRecord): boolean {
  const { exit, signalledAt, runnerFailed, sent, part } = process;
  const inQueueMs = (1_000 * Math.max(0, sent.length - burst)) / perSecond;
  const neededMs = 2 * stage.tripMs * (sent.length + 2) + inQueueMs + stage.slackMs;
  const isTooSlow = part === 'main' && neededMs > plan.timeoutMs - longestStep;
  const isInterrupted = exit === 'killed' || signalledAt !== undefined || runnerFailed;
  const isFaulty = processes.some((one) => one.sent.some(({ fault }) => fault !== undefined));
  const isRepeating = stage.plane.notShown.lastPageCursor === 'repeated';
  return !isFaulty && !isRepeating && plan.runnerFault?.kind !== 'result-file' && !isTooSlow && !isInterrupted;
}

function* mainProblems(run: Run, step: StepRecord) {
  const { main, plan } = step;
  const { expects } = plan;
  switch (expects.mode) {
    case 'wait-operation':
      return;
    case 'revoke-key': {
      const named = run.stage.keys().filter(({ name }) => name === expects.name);
      if (named.some((key) => excuses.isUnlisted(main, key, run.stage.lags.keys))) return;
      const isAmbiguous = named.filter((key) => isAliveAt(key, main.startedAt)).length > 1;
      return yield* expectStatus(main, ...(isAmbiguous ? ['error'] : ['revoked', 'gone']));
    }
    case 'sweep-keys':
      if (main.hasWarning && isGitHubClear(run) && plan.timeoutMs > tooShortToAskAgain + run.stage.slackMs)
        yield 'a warning, although GitHub showed all runs';
      // A key that another sweep revokes is still listed for a while.
      if (run.steps.length > 1 && run.stage.lags.keys > 0) return;
      return yield* expectStatus(main, 'ok');
    case 'create-key':
      return yield* expectStatus(main, 'ok');
    default:
      return yield* expectStatus(main, 'ok', 'empty', 'match');
  }
}

function* expectStatus({ status }: ProcessRecord, ...statuses: string[]) {
  if (!statuses.includes(status)) yield `without any fault the status is ${status} instead of ${statuses.join(' or ')}`;
}
