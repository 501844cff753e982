import type { Operation } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { Run, SentRequest, StepRecord } from '../record.js';
import { counts, endOf, isConfirmed, type Phase, phaseAt, phaseOf, readsOf, startOf } from '../truth.js';

/** Dates of the service have whole seconds, and the step measures from its start. */
const tolerance = 1_100;
/** An operation that appears after the first read counts if it was created no earlier before the wait began. */
const ageOfNew = 60_000;

/** A wait for all succeeds only if all operations that count have ended well, and fails only if one of them has failed. */
export function* waitedForAll({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>): Generator<string> {
  const { main } = step;
  const { failOnEmpty, projectIds } = expects;
  const view = viewOf(step, expects, stage.tripMs + stage.slackMs);
  const admitted = stage.operations.filter((one) => projectIds.includes(one.projectId) && counts(expects, one));
  const isBad = (operation: Operation) => phaseAt(operation, main.endedAt) === 'bad';
  const surelyCount = admitted.filter((one) => view.shown.has(one.id) && view.surelyCounts(one));
  const isGreen = main.exit === 0;
  const idle = main.ids('idle-project-ids');
  for (const projectId of isGreen ? projectIds : idle) {
    const ofProject = admitted.filter((one) => one.projectId === projectId);
    for (const operation of ofProject) yield* missed(step, operation, view, stage.lags.operations);
    const reads = readsOf(main, projectId);
    if (reads.length === 0) yield `project ${projectId} is idle without a read`;
    else if (isGreen && !excuses.pollsOnce(step) && !isConfirmed(reads, stage.slackMs))
      yield `success, but the list of project ${projectId} was not confirmed`;
  }
  if (isGreen) {
    if (main.output('idle-project-ids') !== undefined && idle.length < projectIds.length)
      yield 'success, but not all projects are idle';
    if (main.sent.some(({ isPartial }) => isPartial)) yield 'success, but a list was not whole';
    const isEmpty = main.output('count') === '0';
    if (failOnEmpty && isEmpty) yield 'success, but nothing was found';
    if (isEmpty && surelyCount.length > 0) yield 'a count of 0, but an operation counts';
  }
  for (const id of main.ids('operation-ids')) {
    const operation = stage.operation(id);
    if (operation === undefined || !view.mayCount(operation)) yield `operation ${id} is reported, but does not count`;
  }
  if (main.status === 'empty' && (!failOnEmpty || surelyCount.length > 0))
    yield 'empty, but an operation counts, or the step may succeed without any';
  if (main.status === 'failed' && !admitted.some((one) => isBad(one) && view.mayCount(one)))
    yield 'failed, but no operation that counts has failed';
}

type View = ReturnType<typeof viewOf>;

/** What the responses showed, and what counts by that. `first`: in the first whole read of each project. */
function viewOf({ main }: StepRecord, { projectIds, sinceMs = 0 }: Of<'wait-operation'>, delayMs: number) {
  const { startedAt } = main;
  const seen = (sent: readonly SentRequest[]) =>
    sent.flatMap(({ records = [] }) =>
      records.map(({ id, status }): [string, Phase] => [String(id), phaseOf(String(status))]),
    );
  const answered = main.sent.filter(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt <= main.endedAt);
  const all = seen(answered);
  // A later page of a read may come from a replica that is further behind. The step takes what the first one shows.
  const reads = projectIds.flatMap((id) => readsOf(main, id).map(({ pages }) => pages));
  const unfinished = new Set<string>();
  for (const one of answered) {
    const before = reads.find((pages) => pages.includes(one))?.filter(({ n }) => n < one.n) ?? [];
    const known = new Set(seen(before).map(([id]) => id));
    for (const [id, phase] of seen([one])) if (phase === 'pending' && !known.has(id)) unfinished.add(id);
  }
  const first = new Map(projectIds.flatMap((id) => seen(readsOf(main, id)[0]?.pages ?? [])));
  const isSince = (operation: Operation, margin: number) =>
    sinceMs > 0 && startOf(operation) >= startedAt - sinceMs + margin;
  const endedDuring = (operation: Operation, margin: number) => endOf(operation).at >= startedAt + margin;
  const isNew = (operation: Operation, margin: number) =>
    startOf(operation) >= startedAt - ageOfNew + margin || endedDuring(operation, margin);
  // The `Date` of a response is as old as the response is late, so the service's clock may seem that much behind.
  const latest = main.sent.flatMap(({ at, endedAt, records }) => (records && endedAt ? [endedAt - at] : []));
  const early = tolerance + delayMs + Math.max(0, ...latest);
  return {
    shown: new Set(all.map(([id]) => id)),
    unfinished,
    first,
    surelyCounts: (one: Operation) =>
      unfinished.has(one.id) || isSince(one, delayMs) || (!first.has(one.id) && isNew(one, delayMs)),
    mayCount: (one: Operation) =>
      unfinished.has(one.id) ||
      isSince(one, -early) ||
      endedDuring(one, -early) ||
      ((first.get(one.id) ?? 'pending') === 'pending' && isNew(one, -early)),
  };
}

/** A project is idle, and so a wait succeeds, only if nothing that counts failed in it, or was unfinished in the end. */
function* missed(step: StepRecord, operation: Operation, view: View, lagMs: number) {
  const { main } = step;
  const { id, projectId } = operation;
  // A request for one operation can show its end after the last read.
  const answers = main.sent.filter((one) => one.projectId === projectId).map(({ endedAt = 0 }) => endedAt);
  const phase = phaseAt(operation, main.exit === 0 ? main.endedAt : Math.max(...answers));
  if (phase === 'good') return;
  const reads = readsOf(main, projectId);
  // Each replica shows in the last read what was created so long before it, or before the wait began. A failure in another
  // project can end the step before it has read all pages.
  const latest = reads.findLast(({ goesOn }) => main.exit === 0 || !goesOn);
  const isListed = startOf(operation) < Math.max(main.startedAt, (latest?.at ?? 0) - lagMs);
  const isExcused = excuses.pollsOnce(step) || excuses.isBehindFirstRead(operation, view.first, step);
  const isOwed = isListed && isConfirmed(reads) && !isExcused && !excuses.wasRemoved(operation);
  if (phase === 'pending' && (view.unfinished.has(id) || isOwed))
    yield `operation ${id} goes on, but its project is idle`;
  const mustCount = view.surelyCounts(operation) && (view.shown.has(id) || isOwed);
  if (phase === 'bad' && mustCount) yield `operation ${id} has failed, but its project is idle`;
}
