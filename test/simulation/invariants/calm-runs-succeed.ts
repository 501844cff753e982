import type { Operation } from '../../control-plane/index.js';
import type { Of } from '../plan.js';
import { forgeryIn, output, type ProcessRecord, processesOf, type Run, type StepRecord, texts } from '../record.js';
import {
  alarms,
  deadlineOf,
  endOf,
  graceForUnlisted,
  isAliveAt,
  isIncompleteKeyList,
  lagOf,
  removalOf,
  startOf,
  statusOf,
} from '../truth.js';
import { isGitHubClear } from './sweep.js';

/** A run that is not found gets a second request after 1 s, in half of the time at most. */
const tooShortToAskAgain = 3_000;
/** Milliseconds that a computation may take. */
const rounding = 10;

/** Without faults a step does its task, and in time. */
export function calmRunsSucceed(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const { main, post } = step;
    if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return [];
    const problems = main.sent.some(isIncompleteKeyList) ? [] : mainProblems(run, step);
    const isPostCalm = post !== undefined && forgeryIn(step) === undefined && isCalm(run, step, post);
    if (isPostCalm && !post.sent.some(isIncompleteKeyList) && alarms(post).length > 0)
      problems.push(`a false alarm: ${alarms(post)[0]}`);
    return problems;
  });
}

function isCalm({ stage }: Run, step: StepRecord, process: ProcessRecord): boolean {
  const { exit, signalledAt, runnerFailed, sent } = process;
  const { plan } = step;
  if (exit === 'killed' || signalledAt !== undefined || runnerFailed || plan.runnerFault?.kind === 'result-file')
    return false;
  const isTooSlow =
    process.part === 'main' &&
    plan.timeoutMs > 0 &&
    plan.mode !== 'wait-operation' &&
    tripsOf(stage, sent.length) + stage.slackMs > plan.timeoutMs;
  return !isTooSlow && processesOf(step).every((one) => one.sent.every(({ fault }) => fault === undefined));
}

/** Milliseconds that so many requests travel, one after the other. */
function tripsOf({ tripMs }: Run['stage'], requests: number): number {
  return 2 * tripMs * (requests + 2);
}

function mainProblems(run: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const { expects } = plan;
  const status = statusOf(main);
  const expect = (...statuses: string[]) =>
    statuses.includes(status) ? [] : [`without any fault the status is ${status} instead of ${statuses.join(' or ')}`];
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids === 'all') return waitForAll(run, step, expects);
      return expects.ids.length === 0
        ? expect(expects.failOnEmpty ? 'empty' : 'finished')
        : waitForIds(run, step, expects.ids);
    case 'revoke-key': {
      const named = run.stage.keys().filter(({ name }) => name === expects.name);
      const isAmbiguous = named.filter((key) => isAliveAt(key, main.startedAt)).length > 1;
      return isAmbiguous ? expect('error') : expect('revoked', 'gone');
    }
    case 'sweep-keys':
      if (
        texts(main, 'warning').length > 0 &&
        isGitHubClear(run) &&
        plan.timeoutMs > tooShortToAskAgain + run.stage.slackMs
      )
        return ['a warning, although GitHub showed all runs'];
      return expect('ok');
    case 'create-key':
      return expect('ok');
    default: {
      const isUnusable = expects.mode === 'list-operations' && !expects.areIdsUsable;
      const isEmpty = output(main, 'count') === '0';
      if (isUnusable && status === 'error') return [];
      return expect(expects.failOn === (isEmpty ? 'empty' : 'match') ? expects.failOn : 'ok');
    }
  }
}

function waitForAll(run: Run, step: StepRecord, expects: Of<'wait-operation'>): string[] {
  const { stage, plan } = run;
  const { main } = step;
  const counted = stage.operations.filter(
    ({ id, action, branchId, projectId }) =>
      expects.projectIds.includes(projectId) && expects.filter({ id, action, branch_id: branchId }),
  );
  const isRemoved = plan.events.some(({ what }) => what.includes('removed'));
  if (isRemoved || counted.some((operation) => Number.isFinite(removalOf(operation)))) return [];
  if (counted.length === 0) return waitForNothing(run, step, expects);

  const seen = counted.filter((operation) => visibleFrom(operation) <= main.endedAt);
  const bad = seen.filter((operation) => endOf(operation).phase === 'bad');
  const pollMs = 2 * stage.tripMs * (pagesOf(stage, expects.projectIds) + seen.length + 2) + stage.slackMs;
  const isSure = (operation: Operation) =>
    visibleFrom(operation) <= main.startedAt &&
    (endOf(operation).at > main.startedAt + pollMs + rounding ||
      (expects.sinceMs !== undefined && startOf(operation) > main.startedAt - expects.sinceMs + 1_100 + pollMs));
  const sure = bad.filter(isSure);
  if (bad.length > 0 && sure.length === 0) return [];
  const decisive = bad.length > 0 && expects.failFast ? sure : seen;
  const ends = decisive.map((operation) => Math.max(endOf(operation).at, visibleFrom(operation)));
  const end = bad.length > 0 && expects.failFast ? Math.min(...ends) : Math.max(main.startedAt, ...ends);
  // If nothing is found, the wait takes as long as new operations may be unlisted.
  const earliest = Math.max(end, main.startedAt + graceForUnlisted + pollMs);
  if (step.plan.timeoutMs === 0 || earliest + lagOf(step, end) + 2 * pollMs + rounding > deadlineOf(step)) return [];
  const expected =
    bad.length > 0 ? 'failed' : expects.failOnEmpty && output(main, 'count') === '0' ? 'empty' : 'finished';
  return statusOf(main) === expected
    ? []
    : [`all was decided in time, but the status is ${statusOf(main)} instead of ${expected}`];
}

function visibleFrom(operation: Operation): number {
  return startOf(operation) + operation.appearsAfterMs;
}

function pagesOf({ plane }: Run['stage'], projectIds: readonly string[]): number {
  const size = Math.min(100, plane.notShown.maximumPageSize);
  const sizes = projectIds.map((id) => plane.operationTimeline(id)?.page(undefined, 1_000).items.length ?? 1_000);
  return sizes.reduce((sum, length) => sum + Math.ceil(length / size) + 1, 0);
}

/** Without an operation that counts, the step succeeds with a count of 0, 5 s after the first poll. */
function waitForNothing({ stage }: Run, { main, plan }: StepRecord, { failOnEmpty }: Of<'wait-operation'>): string[] {
  const limit = graceForUnlisted + 100 + tripsOf(stage, main.sent.length) + stage.slackMs;
  if (plan.timeoutMs > 0 && plan.timeoutMs < limit) return [];
  const expected = failOnEmpty ? 'empty' : 'finished';
  const status = statusOf(main);
  if (status !== expected) return [`nothing is unfinished, but the status is ${status} instead of ${expected}`];
  const ms = Math.round(main.endedAt - main.startedAt);
  return plan.timeoutMs > 0 && ms > limit ? [`an empty list was believed only after ${ms} ms`] : [];
}

function waitForIds({ stage }: Run, step: StepRecord, ids: readonly string[]): string[] {
  const { main, plan } = step;
  const operations = ids.flatMap((id) => stage.operations.find((one) => one.id === id) ?? []);
  const isUsual = (operation: Operation) =>
    operation.appearsAfterMs === 0 &&
    removalOf(operation) === Number.POSITIVE_INFINITY &&
    stage.plane.hasProject(operation.projectId) &&
    startOf(operation) <= main.startedAt;
  if (operations.length < ids.length || !operations.every(isUsual)) return [];
  const failFast = plan.inputs['fail-fast'] === 'true';
  const lastEnd = Math.max(...operations.map((operation) => endOf(operation).at), 0);
  const bad = operations
    .filter((operation) => endOf(operation).phase === 'bad')
    .map((operation) => endOf(operation).at);
  const firstFailure = Math.min(...bad);
  const decided = failFast ? Math.min(firstFailure, lastEnd) : lastEnd;
  const pages = ids.length > 2 ? 3 + stage.operations.length + 10 : 0;
  const pollMs = 2 * stage.tripMs * (ids.length + pages) + stage.slackMs;
  const margin = pollMs + rounding;
  const deadline = plan.timeoutMs === 0 ? main.startedAt : deadlineOf(step);
  const status = statusOf(main);
  if (decided < deadline - margin) {
    const expected = bad.length === 0 || (failFast && firstFailure > decided) ? 'finished' : 'failed';
    if (status !== expected) return [`without any fault the status is ${status} instead of ${expected}`];
    const from = Math.max(decided, main.startedAt);
    // The last poll follows one that the deadline cuts.
    const cut = main.sent.some(({ response }) => response === undefined) ? pollMs : 0;
    if (main.endedAt > from + lagOf(step, from) + 2 * margin + cut)
      return [`saw the end ${Math.round(main.endedAt - from)} ms late`];
    return !failFast && main.endedAt < lastEnd - stage.slackMs ? ['ended before the last operation'] : [];
  }
  // The last poll takes at most a second more.
  const isLate = (at: number) => at > deadline + 1_100 + margin;
  return isLate(decided) && status !== 'timeout' && !(status === 'failed' && !isLate(firstFailure))
    ? [`nothing had ended by the deadline, but the status is ${status}`]
    : [];
}
