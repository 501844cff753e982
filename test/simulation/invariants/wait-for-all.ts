import type { Operation } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { Run, SentRequest, StepRecord } from '../record.js';
import type { Stage } from '../stage.js';
import { counts, endOf, phaseAt, phaseOf, readsOf, removalOf, startOf } from '../truth.js';

type All = Of<'wait-operation'>;

/** Dates of the service have whole seconds. */
const tolerance = 1_100;

/** A project is idle, and so a wait for all succeeds, only if all operations that count have ended well. */
export function* waitedForAll({ stage }: Run, step: StepRecord, expects: All): Generator<string> {
  const { main } = step;
  const { failOnEmpty, projectIds } = expects;
  const isGreen = main.exit === 0;
  const idle = main.ids('idle-project-ids');
  const owed = owedBy(stage, step, expects);
  const views = projectIds.map((id) => viewOf(stage, step, expects, id));
  const mayCount = (one: Operation | undefined) => views.some((view) => one !== undefined && view.mayCount(one));
  for (const projectId of isGreen ? projectIds : idle) {
    const answers = main.sent.filter((one) => one.projectId === projectId && one.isUsable);
    const lastAt = Math.max(...answers.map(({ endedAt = 0 }) => endedAt));
    if (readsOf(main, projectId).length === 0) yield `project ${projectId} is idle without a read`;
    for (const operation of owed.filter((one) => one.projectId === projectId && startOf(one) < lastAt)) {
      const phase = phaseAt(operation, lastAt);
      if (phase !== 'good') yield `project ${projectId} is idle, but its operation ${operation.id} is ${phase}`;
    }
  }
  const isEmpty = main.output('count') === '0';
  if (isGreen) {
    if (main.output('idle-project-ids') !== undefined && idle.length < projectIds.length)
      yield 'success, but not all projects are idle';
    if (failOnEmpty && isEmpty) yield 'success, but nothing was found';
    if (isEmpty && owed.length > 0) yield 'a count of 0, but an operation counts';
  }
  for (const id of main.ids('operation-ids'))
    if (!mayCount(stage.operation(id))) yield `operation ${id} is reported, but does not count`;
  if (main.status === 'empty' && (!failOnEmpty || owed.length > 0))
    yield 'empty, but an operation counts, or the step may succeed without any';
  const hasFailed = (one: Operation) => phaseAt(one, main.endedAt) === 'bad' && mayCount(one);
  if (main.status === 'failed' && !stage.operations.some(hasFailed))
    yield 'failed, but no operation that counts has failed';
}

/**
 * Those which no success may miss: each that counts and was shown, or stood in the lists of all copies when the last read
 * began, and each that followed one of them by then.
 */
export function owedBy(stage: Stage, step: StepRecord, expects: All): Operation[] {
  const owed = new Map<string, Operation>();
  for (const projectId of expects.projectIds) {
    const view = viewOf(stage, step, expects, projectId);
    // Those that follow others stand behind them.
    for (const one of stage.operations) {
      const visibleAt = startOf(one) + one.appearsAfterMs + stage.lags.operations;
      const isListed = visibleAt <= view.lastReadAt && removalOf(one) > step.main.endedAt;
      const isDue = owed.has(stage.parentOf(one.id) ?? '') && startOf(one) <= view.lastReadAt;
      const isExcused = excuses.isBehindFirstRead(one, view.first, step);
      const isSeen = view.shown.has(one.id) || ((isListed || (isDue && !excuses.pollsOnce(step))) && !isExcused);
      if (view.counts(one) && isSeen) owed.set(one.id, one);
    }
  }
  return [...owed.values()];
}

/** What the responses about a project showed, and what counts by that in the words of the contract. */
function viewOf(stage: Stage, { main }: StepRecord, expects: All, projectId: string) {
  const { startedAt, endedAt: end } = main;
  const since = startedAt - expects.sinceMs;
  const reads = readsOf(main, projectId);
  const answers = main.sent.filter(
    (one) => one.projectId === projectId && one.isUsable && (one.endedAt ?? end + 1) <= end,
  );
  const recordsOf = (sent: readonly SentRequest[]) =>
    sent.flatMap(({ records = [] }) => records.map(({ id, status }) => ({ id: String(id), status: String(status) })));
  const shown = recordsOf(answers);
  const unfinished = new Set(shown.filter(({ status }) => phaseOf(status) === 'pending').map(({ id }) => id));
  const first = new Set(recordsOf(reads[0]?.pages ?? []).map(({ id }) => id));
  const starts = (stage.listedOperations(projectId) ?? []).filter(({ id }) => first.has(id)).map(startOf);
  const oldest = starts.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...starts);
  const isNew = (one: Operation) => reads.length > 0 && !first.has(one.id) && startOf(one) >= oldest;
  // The `Date` of a response is as old as the response is late, so the service's clock may seem that much behind.
  const latest = main.sent.flatMap(({ at, endedAt, response }) => (response && endedAt ? [endedAt - at] : []));
  const early = tolerance + Math.max(0, ...latest);
  const countsFrom = (time: number) => (one: Operation) =>
    one.projectId === projectId &&
    counts(expects, one) &&
    (unfinished.has(one.id) || isNew(one) || (endOf(one).at >= time && endOf(one).at <= end));
  return {
    first,
    shown: new Set(shown.map(({ id }) => id)),
    lastReadAt: reads.at(-1)?.at ?? Number.NEGATIVE_INFINITY,
    counts: countsFrom(since),
    mayCount: countsFrom(since - early),
  };
}
