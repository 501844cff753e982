import type { Operation } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import { isHealthy, troublesEnd } from '../healthy.js';
import type { Of } from '../plan.js';
import type { Run, StepRecord } from '../record.js';
import { counts, endOf, startOf } from '../truth.js';
import { owedBy } from './wait-for-all.js';

/** Milliseconds that a computation may take. */
const rounding = 10;
/** Between the two reads that agree. */
const restMs = 5_000;
const perSecond = 9.5;
/** After each 429 the rate recovers slowly. */
const slowPerSecond = 1;
const burst = 8;

/** In a healthy world a wait ends as its operations do, and soon after them. */
export function* healthyWaitsSucceed(step: StepRecord, run: Run): Generator<string> {
  const { expects } = step.plan;
  if (expects.mode !== 'wait-operation' || !isHealthy(run, step, expects)) return;
  if (step.main.status === 'error' && !excuses.pollsOnce(step)) yield 'an error in a healthy world';
  const operations = awaited(run, step, expects);
  const decided = decision(run, step, expects, operations);
  const latest = latestEnd(run, step, expects, decided);
  const deadline = step.plan.timeoutMs === 0 ? step.main.startedAt : step.deadline;
  if (latest >= deadline && !isInLastPoll(run, step, expects, decided, deadline)) return;
  yield* expectStatus(step, statusesFor(run, step, expects, operations));
  if (step.main.endedAt > latest) yield `saw the end ${Math.round(step.main.endedAt - decided)} ms late`;
}

function* expectStatus({ main: { status } }: StepRecord, statuses: readonly string[]) {
  if (!statuses.includes(status))
    yield `in a healthy world the status is ${status} instead of ${statuses.join(' or ')}`;
}

function awaited({ stage }: Run, { main }: StepRecord, expects: Of<'wait-operation'>): Operation[] {
  const { ids, projectIds } = expects;
  if (ids !== 'all') return ids.flatMap((id) => stage.operation(id) ?? []);
  return stage.operations.filter(
    (one) => projectIds.includes(one.projectId) && counts(expects, one) && startOf(one) <= main.endedAt,
  );
}

function isBad(operation: Operation): boolean {
  return endOf(operation).phase === 'bad';
}

/** When the lists of all copies show what decides. */
function decision({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>, operations: readonly Operation[]) {
  const { main } = step;
  const visibleAt = (one: Operation) =>
    Math.max(endOf(one).at, startOf(one) + one.appearsAfterMs) + stage.lags.operations;
  const owed = expects.ids === 'all' ? owedBy(stage, step, expects) : operations;
  const failures = expects.failFast ? owed.filter(isBad).map(visibleAt) : [];
  const ends = failures.length > 0 ? [Math.min(...failures)] : operations.map(visibleAt);
  return Math.max(main.startedAt, ...ends);
}

/** After the decision: what troubles the step, a pause, and the poll that sees it; for `all` a rest begun before, and another. */
function latestEnd(run: Run, step: StepRecord, { ids }: Of<'wait-operation'>, decided: number): number {
  const from = Math.max(decided, troublesEnd(step.main));
  const pollMs = pollTime(run, step);
  const round = (time: number) => time + step.pauseAt(time) + pollMs + rounding;
  return ids === 'all' ? round(round(round(from + restMs)) + restMs) : round(from + pollMs);
}

/** The requests of a poll that reads whole lists, and asks for each operation. */
function pollTime({ stage }: Run, { main, plan: { expects } }: StepRecord): number {
  if (expects.mode !== 'wait-operation') return 0;
  const { ids, projectIds } = expects;
  const size = Math.min(100, stage.plane.notShown.maximumPageSize);
  const pagesOf = (id: string) => Math.ceil((stage.listedOperations(id)?.length ?? 0) / size) + 1;
  const pages = ids === 'all' || ids.length > 2 ? projectIds.map(pagesOf) : [0];
  const singles = ids === 'all' ? stage.operations.length : ids.length;
  const requests = pages.reduce((sum, count) => sum + count, 0) + singles;
  const isSlow = main.sent.some(({ status }) => status === 429);
  const rate = isSlow ? slowPerSecond : perSecond;
  return 2 * stage.tripMs * (Math.max(...pages) + 2) + (1_000 * requests) / rate;
}

/** The last poll asks for each given id, at the deadline. With `timeout: 0` it is the only one. */
function isInLastPoll({ plan }: Run, step: StepRecord, expects: Of<'wait-operation'>, decided: number, at: number) {
  const { main } = step;
  const isCalm = plan.limiter === undefined && main.sent.every(({ isUsable }) => isUsable);
  const isSmall = expects.ids !== 'all' && expects.ids.length <= burst;
  return isCalm && isSmall && decided + rounding <= at;
}

function statusesFor(
  { stage }: Run,
  step: StepRecord,
  expects: Of<'wait-operation'>,
  operations: readonly Operation[],
) {
  const { ids, failOnEmpty } = expects;
  const isEmpty = failOnEmpty && step.main.output('count') === '0';
  const good = isEmpty ? 'empty' : 'finished';
  const owed = ids === 'all' && !excuses.pollsOnce(step) ? owedBy(stage, step, expects) : operations;
  if (ids !== 'all') return [operations.some(isBad) ? 'failed' : good];
  if (owed.some(isBad)) return ['failed'];
  return operations.some(isBad) ? ['failed', good] : [good];
}
