import type { Expectation } from '../plan.js';
import { forgeryIn, type ProcessRecord, processesOf, type Run, type StepRecord, said } from '../record.js';
import {
  ambiguousCreates,
  asksForPatience,
  deadlineOf,
  endOf,
  goneAt,
  isAliveAt,
  isIncompleteKeyList,
  isRefusal,
  madeAt,
  maxAmbiguousCreates,
  statusWord,
  wasFaulty,
  wasPutOff,
} from '../truth.js';
import { alarms } from './status-agrees-with-exit.js';
import { isGitHubClear } from './sweep.js';

type Of<M extends Expectation['mode']> = Extract<Expectation, { mode: M }>;

/** A second request for a run that is not found follows after 1 s, and has half of the time at most. */
const hasNoTimeToAskAgain = 3_000;

/** Where nothing goes wrong, the step does what it was asked for, and in good time. */
export function calmRunsSucceed(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const { main, post } = step;
    const problems = [...impatient(run, step), ...hasty(step), ...heldUp(run, step)];
    if (!isCalm(run, step, main) || run.stage.revokedByOthers.size > 0) return problems;
    problems.push(...calmMain(run, step));
    if (
      post !== undefined &&
      forgeryIn(step) === undefined &&
      isCalm(run, step, post) &&
      !post.sent.some(isIncompleteKeyList) &&
      alarms(post).length > 0
    )
      problems.push(`a false alarm: ${alarms(post)[0]}`);
    return problems;
  });
}

/** 423 and 429 are no failures: the service asks for patience, and gets it until the deadline. */
function impatient({ stage }: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const wasAsked = main.sent.some(asksForPatience);
  const isAllElseCalm = main.sent.every((sent) => sent.fault === undefined || asksForPatience(sent));
  if (!wasAsked || !isAllElseCalm || plan.timeoutMs === 0 || stage.revokedByOthers.size > 0) return [];
  // A page with 429 in place of the response to a create is no word of the service.
  if (ambiguousCreates(main).length === maxAmbiguousCreates) return [];
  // A record that cannot be read is an error of its own.
  const isUnusable = said(main, 'error').some(({ text }) => text.includes('unusable response'));
  if (plan.runnerFault !== undefined || isUnusable || main.sent.some(isIncompleteKeyList)) return [];
  if (statusWord(main) !== 'error' || main.sent.some((sent) => isRefusal(sent) && !asksForPatience(sent))) return [];
  const hasNoResult = plan.expects.mode === 'revoke-key' && main.sent.every(({ method }) => method === 'GET');
  const isEarly = main.endedAt < deadlineOf(step) && !wasPutOff(main, deadlineOf(step));
  return isEarly && !hasNoResult ? ['given up before the deadline, though only patience was asked for'] : [];
}

const graceForNew = 5_000;
const graceForSeen = 30_000;

/** A 404 on an operation is looked at again for 5 s, after a good look for 30 s. */
function hasty({ main, plan }: StepRecord): string[] {
  const last = main.sent.at(-1);
  const isGivenUp =
    statusWord(main) === 'error' &&
    said(main, 'error').some(({ text }) => /has no operation|no longer has operation/.test(text));
  if (plan.mode !== 'wait-operation' || plan.timeoutMs === 0 || !isGivenUp || last === undefined) return [];
  return [...new Set(main.sent.map(({ path }) => path))].every((path) => {
    const looks = main.sent.filter((sent) => sent.path === path && sent.answer !== undefined);
    const seen = looks.findLastIndex((sent) => sent.answer?.status === 200 && !wasFaulty(sent));
    const missing = looks.slice(seen + 1).find(({ answer }) => answer?.status === 404);
    return missing === undefined || main.endedAt - (missing.endedAt ?? 0) < (seen >= 0 ? graceForSeen : graceForNew);
  })
    ? ['an operation was given up too early']
    : [];
}

const silence = 1_000;

/** A request for one operation that hangs does not delay the news that another has failed. */
function heldUp({ stage }: Run, { main, plan }: StepRecord): string[] {
  const { expects } = plan;
  if (expects.mode !== 'wait-operation' || expects.ids === 'all' || expects.ids.length > 2) return [];
  if (!expects.failFast || plan.timeoutMs === 0 || plan.runnerFault !== undefined) return [];
  if (main.exit === 'killed' || main.signalledAt !== undefined || statusWord(main) === 'error') return [];
  return expects.ids.flatMap((id) => {
    const operation = stage.operations.find((one) => one.id === id);
    const others = main.sent.filter(({ path }) => !path.includes(id));
    const isClear = main.sent.every(({ path, fault }) => !path.includes(id) || fault === undefined);
    // What throttles, holds up all.
    const isHeldUp = others.every(({ fault }) => fault === undefined || /^(hang|delay|drip|cut)/.test(fault));
    if (operation === undefined || !isClear || !isHeldUp || operation.appearsAfterMs > 0) return [];
    if (!stage.plane.hasProject(operation.projectId)) return [];
    const { at, phase } = endOf(operation);
    if (
      phase !== 'bad' ||
      goneAt(operation) < Number.POSITIVE_INFINITY ||
      at > deadlineOf({ plan, main } as StepRecord)
    )
      return [];
    const from = Math.max(at, main.startedAt);
    const interval = Number.parseInt(plan.inputs['poll-interval'] ?? '', 10) * 1_000;
    const lag = interval || Math.min(5_000, Math.max(500, (from - main.startedAt) / 4));
    const most = from + lag + silence + 8 * stage.tripMs + 10;
    return main.endedAt > most ? [`heard of a failure ${Math.round(main.endedAt - from)} ms late`] : [];
  });
}

function isCalm({ stage }: Run, step: StepRecord, process: ProcessRecord): boolean {
  const { exit, signalledAt, runnerFailed, sent } = process;
  if (exit === 'killed' || signalledAt !== undefined || runnerFailed || step.plan.runnerFault?.word === 'result-file')
    return false;
  const trips = 2 * stage.tripMs * (sent.length + 2);
  const isSlow =
    process.part === 'main' &&
    step.plan.timeoutMs > 0 &&
    trips > step.plan.timeoutMs &&
    step.plan.mode !== 'wait-operation';
  return !isSlow && processesOf(step).every((one) => one.sent.every(({ fault }) => fault === undefined));
}

function calmMain(run: Run, step: StepRecord): string[] {
  const { main, plan } = step;
  const { expects } = plan;
  const status = statusWord(main) ?? 'none';
  if (main.sent.some(isIncompleteKeyList)) return [];
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids.length === 0 && expects.failOnEmpty)
        return status === 'empty' ? [] : [`the list of ids is empty, but the status is ${status}`];
      return expects.ids === 'all'
        ? calmEmptyWait(run, step, expects)
        : calmWait(run, step, expects.ids, expects.failFast);
    case 'revoke-key': {
      const named = run.stage.keys().filter(({ name }) => name === expects.name);
      const wanted = named.filter((key) => isAliveAt(key, main.startedAt)).length > 1 ? ['error'] : ['revoked', 'gone'];
      return wanted.includes(status) ? [] : [`nothing went wrong, but the status is ${status}`];
    }
    case 'sweep-keys':
      if (said(main, 'warning').length > 0 && isGitHubClear(run) && plan.timeoutMs > hasNoTimeToAskAgain)
        return ['a warning, though GitHub told all'];
      return status === 'ok' ? [] : [`nothing went wrong, but the status is ${status}`];
    case 'create-key':
      return status === 'ok' ? [] : [`nothing went wrong, but the status is ${status}`];
    default: {
      const mayBeUnusable = expects.mode === 'list-operations' && !expects.areIdsUsable && status === 'error';
      return mayBeUnusable || ['ok', expects.failOn].includes(status)
        ? []
        : [`nothing went wrong, but the status is ${status}`];
    }
  }
}

/** Where no operation ever counts, a wait for all finds nothing, and says so 5 s after its first poll. */
function calmEmptyWait(
  { stage, plan }: Run,
  { main, plan: step }: StepRecord,
  expects: Of<'wait-operation'>,
): string[] {
  const mayCount = stage.operations.some(({ id, action, branchId, projectId }) => {
    return expects.projectIds.includes(projectId) && expects.filter({ id, action, branch_id: branchId });
  });
  const hasChanged = plan.acts.some(({ what }) => what.includes('removed'));
  const trips = 2 * stage.tripMs * (main.sent.length + 2);
  if (mayCount || hasChanged || (step.timeoutMs > 0 && step.timeoutMs < 5_100 + trips)) return [];
  const wanted = expects.failOnEmpty ? 'empty' : 'finished';
  const status = statusWord(main) ?? 'none';
  if (status !== wanted) return [`nothing is unfinished, but the status is ${status} instead of ${wanted}`];
  return step.timeoutMs > 0 && main.endedAt - main.startedAt > 5_100 + trips
    ? [`an empty list was believed only after ${Math.round(main.endedAt - main.startedAt)} ms`]
    : [];
}

/** The lag after an operation ends stays under the larger of 500 ms and a quarter of its length, and under 5 s. */
function calmWait({ stage }: Run, step: StepRecord, ids: readonly string[], failFast: boolean): string[] {
  const { main, plan } = step;
  const operations = ids.map((id) => stage.operations.find((one) => one.id === id));
  const ends = operations.map((operation) => {
    const isOdd =
      operation === undefined || operation.appearsAfterMs > 0 || goneAt(operation) < Number.POSITIVE_INFINITY;
    return isOdd || !stage.plane.hasProject(operation.projectId) || madeAt(operation) > main.startedAt
      ? undefined
      : endOf(operation);
  });
  const known = ends.flatMap((end) => (end === undefined ? [] : [end]));
  if (known.length < ids.length) return [];
  const failures = known.filter(({ phase }) => phase === 'bad').map(({ at }) => at);
  const all = Math.max(...known.map(({ at }) => at), 0);
  const failed = Math.min(...failures);
  const decided = failFast ? Math.min(failed, all) : all;
  const wanted = failures.length === 0 || (failFast && failed > decided) ? 'finished' : 'failed';
  const status = statusWord(main) ?? 'none';
  const pages = ids.length > 2 ? 2 * stage.tripMs * (3 + stage.operations.length + 10) : 0;
  const aLook = 2 * stage.tripMs * ids.length + pages;
  const deadline = plan.timeoutMs === 0 ? main.startedAt : deadlineOf(step);
  const margin = aLook + 10;
  if (decided < deadline - margin) {
    if (status !== wanted) return [`nothing went wrong, but the status is ${status} instead of ${wanted}`];
    const from = Math.max(decided, main.startedAt);
    const interval = Number.parseInt(plan.inputs['poll-interval'] ?? '', 10) * 1_000;
    const lag = interval || Math.min(5_000, Math.max(500, (from - main.startedAt) / 4));
    // One look that the deadline cuts is followed by the last one.
    const cut = main.sent.some(({ answer }) => answer === undefined) ? aLook : 0;
    if (main.endedAt > from + lag + 2 * margin + cut)
      return [`heard of the end ${Math.round(main.endedAt - from)} ms late`];
    if (!failFast && main.endedAt < all) return ['ended before all had'];
  }
  if (
    decided > deadline + 1_100 + margin &&
    status !== 'timeout' &&
    !(status === 'failed' && failed < deadline + 1_100 + margin)
  )
    return [`nothing had ended by the deadline, but the status is ${status}`];
  return [];
}
