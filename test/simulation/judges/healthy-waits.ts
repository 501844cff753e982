import type { Operation } from '../../../control-plane/index.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { autoPause, burst, endOf, holdEnd, isAdmitted, perSecond, restMs, slowPerSecond, startOf } from '../truth.js';
import { seenIn } from './waits.js';

type Wait = Of<'wait-operation'>;

/**
 * A world in which a wait may not end red by itself. It may have troubles: failed, hanging and damaged requests, outages, a
 * limiter, a 423 or 429, copies of the data. But they are over in time. The contract has a wider limit for each of these.
 */
const limits = {
  /** A project has its first usable response so long after the first request, the last 423 or 429, or the end of its hold. */
  silenceMs: 50_000,
  /** A 4xx that says no is not the only response about an operation or a list for so long, if there are three of them. */
  rejectionsMs: 9_000,
  rejections: 3,
  /** The first read reaches the end of the list. */
  operations: 1_000,
};
/** Milliseconds that a computation may take. */
const rounding = 10;

/** In a healthy world a wait ends as its operations do, and soon after them. */
export function* healthyWaitsSucceed(step: StepRecord, run: Run): Generator<string> {
  const { main, plan } = step;
  const { expects, timeoutMs } = plan;
  if (expects.mode !== 'wait-operation' || expects.ids.length === 0 || !isHealthy(run, step, expects)) return;
  const pollsOnce = timeoutMs === 0;
  if (main.status === 'error' && !pollsOnce) yield 'an error in a healthy world';
  const { all, owed, decidedAt } = awaited(run, step, expects);
  const latest = latestEnd(run, step, expects, decidedAt);
  const deadline = pollsOnce ? main.startedAt : step.deadline;
  // The last poll asks for each given id, at the deadline. With `timeout: 0` it is the only one.
  const isCalm = main.sent.every(({ isUsable }) => isUsable);
  const isInLastPoll = isCalm && expects.ids !== 'all' && expects.ids.length <= burst;
  if (latest >= deadline && !(isInLastPoll && decidedAt + rounding <= deadline)) return;
  const mustFail = (pollsOnce ? all : owed).some(isBad);
  const allowed = mustFail ? ['failed'] : all.some(isBad) ? ['failed', 'finished'] : ['finished'];
  if (!allowed.includes(main.status))
    yield `in a healthy world the status is ${main.status} instead of ${allowed.join(' or ')}`;
  if (main.endedAt > latest) yield `saw the end ${Math.round(main.endedAt - decidedAt)} ms late`;
}

const isBad = (operation: Operation) => endOf(operation).phase === 'bad';

/** `owed`: those which no success may miss. `decidedAt`: when the lists of all copies show what decides. */
function awaited({ stage }: Run, step: StepRecord, expects: Wait) {
  const { ids, projectIds, failFast } = expects;
  const given = ids === 'all' ? [] : ids.flatMap((id) => stage.operation(id) ?? []);
  const isIn = (one: Operation) => projectIds.includes(one.projectId) && startOf(one) <= step.main.endedAt;
  const all = ids === 'all' ? stage.operations.filter((one) => isIn(one) && isAdmitted(expects, one)) : given;
  const seen = ids === 'all' ? projectIds.map((id) => seenIn(stage, step, expects, id)) : [];
  const owed = [...given, ...seen.flatMap((one) => one.owed)];
  const visibleAt = (one: Operation) =>
    Math.max(endOf(one).at, startOf(one) + one.appearsAfterMs) + stage.lags.operations;
  const failures = failFast ? owed.filter(isBad).map(visibleAt) : [];
  const ends = failures.length > 0 ? [Math.min(...failures)] : all.map(visibleAt);
  return { all, owed, decidedAt: Math.max(step.main.startedAt, ...ends) };
}

/** After the decision: what troubles the step, a pause, and the poll that sees it; for `all` a rest begun before, and another. */
function latestEnd(run: Run, { main }: StepRecord, wait: Wait, decidedAt: number): number {
  const troubled = main.sent.filter(({ isUsable, fault }) => !isUsable || fault !== undefined);
  const troublesEnd = Math.max(main.startedAt, ...troubled.map((one) => holdEnd(one, main.endedAt)));
  const from = Math.max(decidedAt, troublesEnd);
  const pollMs = pollTime(run, main, wait);
  const round = (time: number) => time + autoPause(time - main.startedAt) + pollMs + rounding;
  return wait.ids === 'all' ? round(round(round(from + restMs)) + restMs) : round(from + pollMs);
}

/** The requests of a poll that reads whole lists, and asks for each operation. */
function pollTime({ stage }: Run, { sent }: ProcessRecord, { ids, projectIds }: Wait): number {
  const size = Math.min(100, stage.plane.notShown.maximumPageSize);
  const pagesOf = (id: string) => Math.ceil(stage.listedOperations(id).length / size) + 1;
  const pages = ids === 'all' || ids.length > 2 ? projectIds.map(pagesOf) : [0];
  const singles = ids === 'all' ? stage.operations.length : ids.length;
  const requests = pages.reduce((sum, count) => sum + count, 0) + singles;
  const rate = sent.some(({ status }) => status === 429) ? slowPerSecond : perSecond;
  return 2 * stage.tripMs * (Math.max(...pages) + 2) + (1_000 * requests) / rate;
}

function isHealthy({ stage, plan }: Run, { main, plan: step }: StepRecord, { ids, projectIds }: Wait): boolean {
  const isUndisturbed = main.signalledAt === undefined && main.endedByItself && step.runnerFault === undefined;
  return (
    isUndisturbed &&
    projectIds.every((id) => stage.listedOperations(id).length <= limits.operations) &&
    (ids === 'all' || ids.every((id) => stage.operation(id) !== undefined)) &&
    plan.outages.every(({ to }) => to !== Number.POSITIVE_INFINITY) &&
    projectIds.every((id) => answersInTime(main, id)) &&
    !isRejected(main)
  );
}

function answersInTime({ sent, endedAt: end }: ProcessRecord, projectId: string): boolean {
  const ofProject = sent.filter((one) => one.projectId === projectId);
  const first = ofProject.find(({ isUsable }) => isUsable)?.endedAt ?? end;
  const throttled = sent.filter((one) => [423, 429].includes(one.status) && (one.endedAt ?? end) <= first);
  const holds = throttled.map((one) => holdEnd(one, end));
  return first - Math.max(ofProject[0]?.at ?? 0, ...holds) < limits.silenceMs;
}

function isRejected({ sent }: ProcessRecord): boolean {
  const streaks = new Map<string, SentRequest[]>();
  return sent.some((one) => {
    if (one.isUsable) streaks.delete(one.list);
    if (!one.isRejection) return false;
    const streak = [...(streaks.get(one.list) ?? []), one];
    streaks.set(one.list, streak);
    const ms = (one.endedAt ?? 0) - (streak[0]?.endedAt ?? 0);
    return streak.length >= limits.rejections && ms >= limits.rejectionsMs;
  });
}
