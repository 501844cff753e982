import type { Operation } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { counts, endOf, graceForUnlisted, isAliveAt, removalOf, startOf } from '../truth.js';
import { isGitHubClear } from './sweep.js';

/** A run that is not found gets a second request after 1 s, in half of the time at most. */
const tooShortToAskAgain = 3_000;
/** Milliseconds that a computation may take. */
const rounding = 10;
/** After so long, a request of a poll without a response is sent once more. */
const resendAfter = 5_000;
const longestPause = 5_000;

/** Without faults that matter a step does its task, and in time. */
export function* calmRunsSucceed(step: StepRecord, run: Run): Generator<string> {
  const { main, post } = step;
  if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return;
  if (!main.hasIncompleteList) yield* mainProblems(run, step);
  if (post === undefined || step.forgery !== undefined || !isCalm(run, step, post)) return;
  const [alarm] = post.alarms;
  const margin = longestPause + 8 * run.stage.tripMs;
  if (step.keys.some((key) => excuses.isShownLate(post, key, margin))) return;
  if (!post.hasIncompleteList && alarm !== undefined) yield `a false alarm: ${alarm}`;
}

function isCalm({ stage }: Run, step: StepRecord, process: ProcessRecord): boolean {
  const { plan, processes } = step;
  const { exit, signalledAt, runnerFailed, sent, part } = process;
  const isTimed = part === 'main' && plan.timeoutMs > 0 && plan.mode !== 'wait-operation';
  const isTooSlow = isTimed && tripsOf(stage, sent.length) + stage.slackMs > plan.timeoutMs;
  const isInterrupted = exit === 'killed' || signalledAt !== undefined || runnerFailed;
  const hasFaults = processes.some((one) =>
    one.sent.some((request) => request.fault !== undefined && !isHarmless(step, request)),
  );
  return !isTooSlow && !isInterrupted && plan.runnerFault?.kind !== 'result-file' && !hasFaults;
}

/** A poll sends a request without a response once more, and single requests replace a list of given ids that fails. */
function isHarmless({ plan, main }: StepRecord, sent: SentRequest): boolean {
  const { expects } = plan;
  if (expects.mode !== 'wait-operation' || plan.timeoutMs === 0 || sent.retryAfter !== undefined) return false;
  const next = main.sent.find(({ n, path }) => n > sent.n && path === sent.path);
  if (isLost(sent)) return next !== undefined && !isLost(next);
  const isFinal = sent.isThrottled || sent.status === 401 || sent.status === 403;
  return expects.ids !== 'all' && sent.endpoint === 'list-operations' && sent.response !== undefined && !isFinal;
}

function isLost({ fault }: SentRequest): boolean {
  return fault === 'hang-before-headers';
}

/** The time that they cost. */
function lostMs({ main, plan }: StepRecord): number {
  const replaced = main.sent.some((one) => one.isFaulty && !isLost(one)) ? longestPause : 0;
  return replaced + main.sent.filter(isLost).length * (Math.min(resendAfter, plan.requestTimeoutMs) + longestPause);
}

/** Milliseconds that so many requests travel, one after the other. */
function tripsOf({ tripMs }: Run['stage'], requests: number): number {
  return 2 * tripMs * (requests + 2);
}

function* mainProblems(run: Run, step: StepRecord): Generator<string> {
  const { main, plan } = step;
  const { expects } = plan;
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids === 'all') return yield* waitForAll(run, step, expects);
      if (expects.ids.length > 0) return yield* waitForIds(run, step, expects.ids);
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
    default: {
      const contents = main.output('count') === '0' ? 'empty' : 'match';
      const isUnusable = expects.mode === 'list-operations' && !expects.areIdsUsable && main.status === 'error';
      if (!isUnusable) yield* expectStatus(main, expects.failOn === contents ? contents : 'ok');
    }
  }
}

function* expectStatus({ status }: ProcessRecord, ...statuses: string[]): Generator<string> {
  if (!statuses.includes(status)) yield `without any fault the status is ${status} instead of ${statuses.join(' or ')}`;
}

function* waitForAll(run: Run, step: StepRecord, expects: Of<'wait-operation'>): Generator<string> {
  const { stage, plan } = run;
  const { main } = step;
  const { projectIds, sinceMs, failFast, failOnEmpty } = expects;
  const counted = stage.operations.filter((one) => projectIds.includes(one.projectId) && counts(expects, one));
  const isRemoved = plan.events.some(({ what }) => what.includes('removed'));
  if (isRemoved || counted.some((operation) => Number.isFinite(removalOf(operation)))) return;
  if (counted.length === 0) return yield* waitForNothing(run, step, failOnEmpty);

  const seen = counted.filter((operation) => startOf(operation) <= main.endedAt);
  const bad = seen.filter((operation) => endOf(operation).phase === 'bad');
  const pollMs = 2 * stage.tripMs * (pagesOf(stage, projectIds) + seen.length + 2) + stage.slackMs + lostMs(step);
  const isSure = (operation: Operation) =>
    startOf(operation) <= main.startedAt &&
    (endOf(operation).at > main.startedAt + pollMs + rounding ||
      (sinceMs !== undefined && startOf(operation) > main.startedAt - sinceMs + 1_100 + pollMs));
  const sure = bad.filter(isSure);
  if (bad.length > 0 && sure.length === 0) return;
  const endsAtFailure = bad.length > 0 && failFast;
  const ends = (endsAtFailure ? sure : seen).map((one) => endOf(one).at + stage.lags.operations);
  const end = endsAtFailure ? Math.min(...ends) : Math.max(main.startedAt, ...ends);
  const earliest = Math.max(
    end,
    endsAtFailure && stage.lags.operations === 0 ? 0 : main.startedAt + graceForUnlisted + pollMs,
  );
  // The other projects are read once more.
  const latest = earliest + step.lag(earliest) + 3 * pollMs + rounding;
  if (step.plan.timeoutMs === 0 || latest > step.deadline) return;
  const isEmpty = failOnEmpty && main.output('count') === '0';
  yield* expectStatus(main, bad.length > 0 ? 'failed' : isEmpty ? 'empty' : 'finished');
  if (main.endedAt > latest) yield `saw the end ${Math.round(main.endedAt - end)} ms late`;
}

function pagesOf(stage: Run['stage'], projectIds: readonly string[]): number {
  const size = Math.min(100, stage.plane.notShown.maximumPageSize);
  const sizes = projectIds.map((id) => stage.listedOperations(id)?.length ?? 1_000);
  return sizes.reduce((sum, length) => sum + Math.ceil(Math.min(1_000, length) / size) + 1, 0);
}

/** Without an operation that counts, the step succeeds with a count of 0, 5 s after the first poll. */
function* waitForNothing({ stage }: Run, step: StepRecord, failOnEmpty: boolean): Generator<string> {
  const { main, plan } = step;
  const limit = graceForUnlisted + 100 + tripsOf(stage, main.sent.length) + stage.slackMs + lostMs(step);
  if (plan.timeoutMs > 0 && plan.timeoutMs < limit) return;
  yield* expectStatus(main, failOnEmpty ? 'empty' : 'finished');
  const ms = Math.round(main.endedAt - main.startedAt);
  if (plan.timeoutMs > 0 && ms > limit) yield `an empty list was believed only after ${ms} ms`;
}

function* waitForIds({ stage }: Run, step: StepRecord, ids: readonly string[]): Generator<string> {
  const { main, plan } = step;
  const { status, startedAt, endedAt } = main;
  const operations = ids.flatMap((id) => stage.operation(id) ?? []);
  const isUsual = (operation: Operation) =>
    !Number.isFinite(removalOf(operation)) &&
    stage.plane.hasProject(operation.projectId) &&
    startOf(operation) <= startedAt;
  const isMisled = excuses.pollsOnce(step) && stage.lags.operations > 0;
  if (operations.length < ids.length || !operations.every(isUsual) || isMisled) return;
  const failFast = plan.inputs['fail-fast'] === 'true';
  const ends = operations.map(endOf);
  const lastEnd = Math.max(0, ...ends.map(({ at }) => at));
  const firstFailure = Math.min(...ends.flatMap(({ at, phase }) => (phase === 'bad' ? [at] : [])));
  const decided = failFast ? Math.min(firstFailure, lastEnd) : lastEnd;
  const pages = ids.length > 2 ? 3 + Math.min(1_000, stage.operations.length) + 10 : 0;
  const pollMs = 2 * stage.tripMs * (ids.length + pages) + stage.slackMs + lostMs(step);
  const margin = pollMs + rounding + stage.lags.operations;
  const deadline = plan.timeoutMs === 0 ? startedAt : step.deadline;
  if (decided < deadline - margin) {
    const expected = Number.isFinite(firstFailure) ? 'failed' : 'finished';
    if (status !== expected) return yield* expectStatus(main, expected);
    const from = Math.max(decided, startedAt);
    // The last poll follows one that the deadline cuts.
    const cut = main.sent.some(({ response }) => response === undefined) ? pollMs : 0;
    if (endedAt > from + step.lag(from) + 2 * margin + cut) yield `saw the end ${Math.round(endedAt - from)} ms late`;
    else if (!failFast && endedAt < lastEnd - stage.slackMs) yield 'ended before the last operation';
    return;
  }
  // The last poll takes at most a second more.
  const isLate = (at: number) => at > deadline + 1_100 + margin;
  if (isLate(decided) && status !== 'timeout' && !(status === 'failed' && !isLate(firstFailure)))
    yield `nothing had ended by the deadline, but the status is ${status}`;
}
