import type { Operation } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { counts, endOf, graceForUnlisted, isAliveAt, isGitHubClear, removalOf, startOf } from '../truth.js';

/** A run that is not found gets a second request after 1 s, in half of the time at most. */
const tooShortToAskAgain = 3_000;
/** Milliseconds that a computation may take. */
const rounding = 10;
const longestPause = 5_000;
/** A poll waits so long for a request in silence before the others go on. */
const silenceMs = 1_000;

/** Without faults that matter a step does its task, and in time. */
export function* calmRunsSucceed(step: StepRecord, run: Run): Generator<string> {
  const { main, post } = step;
  if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return;
  if (!main.hasIncompleteList) yield* mainProblems(run, step);
  if (post === undefined || !isCalm(run, step, post)) return;
  const margin = longestPause + 8 * run.stage.tripMs;
  if (post.hasIncompleteList || step.keys.some((key) => excuses.isShownLate(post, key, margin))) return;
  for (const alarm of post.alarms) yield `a false alarm: ${alarm}`;
}

function isCalm(run: Run, step: StepRecord, process: ProcessRecord): boolean {
  const { stage } = run;
  const { plan, processes } = step;
  const { exit, signalledAt, runnerFailed, sent, part } = process;
  const isTimed = part === 'main' && plan.timeoutMs > 0 && plan.mode !== 'wait-operation';
  const isTooSlow = isTimed && 2 * stage.tripMs * (sent.length + 2) + stage.slackMs > plan.timeoutMs;
  const isInterrupted = exit === 'killed' || signalledAt !== undefined || runnerFailed;
  const faulty = processes.flatMap((one) => one.sent.filter(({ fault }) => fault !== undefined));
  const isClean = faulty.every((one) => isHarmless(run, step, one)) && plan.runnerFault?.kind !== 'result-file';
  return isClean && !isTooSlow && !isInterrupted;
}

/** With `fail-fast`, a request for one of two operations that hangs does not delay the failure of the other. */
function isHarmless({ stage }: Run, { main, plan: { expects } }: StepRecord, { path, fault }: SentRequest): boolean {
  if (expects.mode !== 'wait-operation' || expects.ids === 'all' || expects.ids.length > 2) return false;
  const failing = expects.ids.filter((id) => isBad(stage.operation(id)));
  const isOfOther = failing.length > 0 && !failing.some((id) => path.includes(id));
  return expects.failFast && main.status !== 'error' && isOfOther && /^(hang|delay|drip|cut)/.test(fault ?? '');
}

function isBad(operation: Operation | undefined): boolean {
  return operation !== undefined && endOf(operation).phase === 'bad';
}

function* mainProblems(run: Run, step: StepRecord) {
  const { main, plan } = step;
  const { expects } = plan;
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids.length > 0) return yield* waited(run, step, expects);
      return yield* expectStatus(main, expects.failOnEmpty ? 'empty' : 'finished');
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

/** A wait sees in time that all has ended, or, with `fail-fast`, that something has failed. */
function* waited({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>) {
  const { main, plan } = step;
  const { ids, projectIds, failFast, failOnEmpty } = expects;
  const lagMs = stage.lags.operations;
  const isAll = ids === 'all';
  const operations = isAll
    ? stage.operations.filter((one) => projectIds.includes(one.projectId) && counts(expects, one))
    : ids.flatMap((id) => stage.operation(id) ?? []);
  const seen = operations.filter((one) => startOf(one) <= (isAll ? main.endedAt : main.startedAt));
  const isUnusual =
    (!isAll && seen.length < ids.length) ||
    operations.some((one) => Number.isFinite(removalOf(one))) ||
    !projectIds.every((id) => stage.plane.hasProject(id)) ||
    (excuses.pollsOnce(step) && (isAll || lagMs > 0));
  if (isUnusual) return;

  const pages = isAll || ids.length > 2 ? pagesOf(stage, projectIds) + 2 : 0;
  const pollMs = 2 * stage.tripMs * (pages + seen.length) + stage.slackMs;
  const bad = seen.filter(isBad);
  // A wait for all need not count what had ended before its first read.
  const isSure = (one: Operation) =>
    !isAll || (startOf(one) < main.startedAt && endOf(one).at > main.startedAt + pollMs + rounding);
  const failures = bad.filter(isSure).map((one) => endOf(one).at);
  if (bad.length > 0 && failures.length === 0) return;
  const endsAtFailure = failFast && failures.length > 0;
  const lastEnd = Math.max(0, ...seen.map((one) => endOf(one).at));
  const isConfirmed = isAll && (!endsAtFailure || lagMs > 0);
  const earliest = main.startedAt + (isConfirmed ? graceForUnlisted + pollMs : 0);
  const decided = Math.max(earliest, endsAtFailure ? Math.min(...failures) : lastEnd);
  const pauseFrom = decided + (main.sent.some(({ fault }) => fault !== undefined) ? silenceMs : 0);
  let latest = pauseFrom + 3 * pollMs + 2 * (rounding + lagMs);
  const listed = isAll ? projectIds.map((id) => stage.listedOperations(id)?.length ?? 0) : [];
  const turns = excuses.turns(seen.length, pages) + Math.max(0, ...listed.map(excuses.polls));
  for (let turn = 0; turn < turns; turn++) latest += step.lag(latest);
  const deadline = plan.timeoutMs === 0 ? main.startedAt : step.deadline;
  // The last poll of a wait for given ids shows all that has ended before it.
  if ((isAll ? latest : decided + pollMs + rounding + lagMs) >= deadline) return;
  const isEmpty = failOnEmpty && main.output('count') === '0';
  yield* expectStatus(main, bad.length > 0 ? 'failed' : isEmpty ? 'empty' : 'finished');
  if (main.endedAt > latest) yield `saw the end ${Math.round(main.endedAt - decided)} ms late`;
  if (!isAll && !failFast && main.endedAt < lastEnd - stage.slackMs) yield 'ended before the last operation';
}

function pagesOf(stage: Run['stage'], projectIds: readonly string[]): number {
  const size = Math.min(100, stage.plane.notShown.maximumPageSize);
  const sizes = projectIds.map((id) => stage.listedOperations(id)?.length ?? 0);
  return sizes.reduce((sum, length) => sum + Math.ceil(Math.min(1_000, length) / size) + 1, 0);
}
