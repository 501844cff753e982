import type { Operation } from '../../../control-plane/index.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import type { Stage } from '../stage.js';
import { endOf, isAdmitted, phaseAt, phaseOf, startOf } from '../truth.js';

/** Dates of the service have whole seconds. */
const dateStepMs = 1_100;

/** A wait succeeds, or fails, only as the operations that count have ended. */
export function* waitsAreTrue(step: StepRecord, run: Run): Generator<string> {
  const { expects } = step.plan;
  if (expects.mode !== 'wait-operation' || !step.main.endedByItself) return;
  if (expects.ids === 'all') yield* waitedForAll(run, step, expects);
  else yield* waitedFor(run, step, expects.ids);
}

function* waitedFor({ stage }: Run, { main }: StepRecord, ids: readonly string[]) {
  const phases = ids.map((id) => {
    const operation = stage.operation(id);
    return operation === undefined ? 'pending' : phaseAt(operation, main.endedAt);
  });
  if (main.exit === 0)
    for (const [index, phase] of phases.entries())
      if (phase !== 'good') yield `success, but operation ${ids[index]} is ${phase}`;
  if (main.status === 'failed' && !phases.includes('bad')) yield 'failed, but no operation has failed';
}

function* waitedForAll({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>) {
  const { main } = step;
  const isGreen = main.exit === 0;
  const seen = expects.projectIds.map((projectId) => seenIn(stage, step, expects, projectId));
  for (const { projectId, owed, lastAnswerAt, hasRead } of seen) {
    if (!isGreen && !main.ids('idle-project-ids').includes(projectId)) continue;
    if (!hasRead) yield `project ${projectId} is idle without a read`;
    for (const operation of owed) {
      const phase = phaseAt(operation, lastAnswerAt);
      if (startOf(operation) < lastAnswerAt && phase !== 'good')
        yield `project ${projectId} is idle, but its operation ${operation.id} is ${phase}`;
    }
  }
  const hasFailed = (operation: Operation) => phaseAt(operation, main.endedAt) === 'bad';
  if (main.status === 'failed' && !seen.some(({ mayCount }) => mayCount.some(hasFailed)))
    yield 'failed, but no operation that counts has failed';
}

/** What the step saw of a project: what no success may miss, and what may count for all that the step can know. */
export function seenIn(stage: Stage, { main, plan }: StepRecord, expects: Of<'wait-operation'>, projectId: string) {
  const { startedAt, endedAt } = main;
  const answers = answersAbout(main, projectId);
  const failedReads = new Set(answers.flatMap(({ read, shown }) => (shown === undefined ? [read] : [])));
  const pages = answers.filter(({ read }) => read !== undefined && !failedReads.has(read));
  const pagesOf = (page: Answer | undefined) => pages.filter(({ read }) => read === page?.read);
  /** When the last read began. */
  const lastReadAt = pagesOf(pages.at(-1))[0]?.sentAt ?? Number.NEGATIVE_INFINITY;
  const first = new Set(pagesOf(pages[0]).flatMap(({ shown = [] }) => shown.map(({ id }) => id)));
  const all = answers.flatMap(({ shown = [] }) => shown);
  const shown = new Set(all.map(({ id }) => id));
  const unfinished = new Set(all.filter(({ phase }) => phase === 'pending').map(({ id }) => id));

  const oldest = Math.min(
    ...stage
      .listedOperations(projectId)
      .filter(({ id }) => first.has(id))
      .map(startOf),
  );
  const isNew = (operation: Operation) =>
    pages.length > 0 &&
    !first.has(operation.id) &&
    (oldest === Number.POSITIVE_INFINITY || startOf(operation) >= oldest);
  const since = startedAt + stage.dateAheadMs - expects.sinceMs;
  const counts = (operation: Operation, from: number) => {
    const { at } = endOf(operation);
    return unfinished.has(operation.id) || isNew(operation) || (at >= from && at <= endedAt);
  };
  // The `Date` of a response is as old as the response is late, so the service's clock may seem that much behind.
  const latest = main.sent.flatMap(({ at, endedAt, response }) => (response && endedAt ? [endedAt - at] : []));
  const early = dateStepMs + Math.max(0, ...latest);

  /** Each that was shown, or stood in the list when the last read began, and each follow-up that had begun by then. */
  const owed = new Map<string, Operation>();
  const admitted = stage.operations.filter((one) => one.projectId === projectId && isAdmitted(expects, one));
  for (const operation of admitted.filter((one) => counts(one, since))) {
    const { id, appearsAfterMs } = operation;
    const begins = startOf(operation);
    // The first read takes the newest 1,000 operations. A warning says that older unfinished ones are not seen.
    const isBehind = first.size >= 1_000 && begins < startedAt - 60_000;
    const isListed = begins + appearsAfterMs + stage.lags.operations <= lastReadAt;
    // With `timeout: 0` the first read decides.
    const isDue = begins <= lastReadAt && plan.timeoutMs > 0 && owed.has(stage.parentOf(id) ?? '');
    if (shown.has(id) || (!isBehind && (isListed || isDue))) owed.set(id, operation);
  }
  return {
    projectId,
    hasRead: pages.length > 0,
    lastAnswerAt: Math.max(...answers.flatMap(({ at, shown }) => (shown === undefined ? [] : [at]))),
    owed: [...owed.values()],
    mayCount: admitted.filter((one) => counts(one, since - early)),
  };
}

type Answer = ReturnType<typeof answersAbout>[number];

/** What each request about the project told the step. `read`: the number of the read that the page belongs to. */
function answersAbout({ sent, endedAt: end }: ProcessRecord, projectId: string) {
  let reads = 0;
  return sent.flatMap((one) => {
    if (one.projectId !== projectId) return [];
    const isList = one.endpoint === 'list-operations';
    if (isList && !one.hasCursor) reads++;
    const isInTime = one.endedAt !== undefined && one.endedAt <= end;
    const records = isInTime && one.isUsable ? one.records : undefined;
    const shown = records?.map(({ id, status }) => ({ id: String(id), phase: phaseOf(String(status)) }));
    // A single request without a usable response says nothing.
    if (shown === undefined && !isList) return [];
    return [{ at: one.endedAt ?? end, sentAt: one.at, read: isList ? reads : undefined, shown }];
  });
}
