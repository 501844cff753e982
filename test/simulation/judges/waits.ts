import type { Operation } from '../../../control-plane/index.js';
import { type Answer, counts, type Life, owedOf, viewOf } from '../owed.js';
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
    for (const { operation, id } of owed) {
      const phase = phaseAt(operation, lastAnswerAt);
      if (startOf(operation) < lastAnswerAt && phase !== 'good')
        yield `project ${projectId} is idle, but its operation ${id} is ${phase}`;
    }
  }
  const hasFailed = ({ operation }: LifeOf) => phaseAt(operation, main.endedAt) === 'bad';
  if (main.status === 'failed' && !seen.some(({ mayCount }) => mayCount.some(hasFailed)))
    yield 'failed, but no operation that counts has failed';
}

interface LifeOf extends Life {
  readonly operation: Operation;
}

/** What the step saw of a project: what no success may miss, and what may count for all that the step can know. */
export function seenIn(stage: Stage, { main, plan }: StepRecord, expects: Of<'wait-operation'>, projectId: string) {
  const { startedAt, endedAt } = main;
  const all = stage.operations.filter((one) => one.projectId === projectId && isAdmitted(expects, one));
  const answers = answersAbout(main, projectId);
  /** The first read takes the newest 1,000 operations. A warning says that older unfinished ones are not seen. */
  const firstReadFrom = viewOf(answers, []).first.size >= 1_000 ? startedAt - 60_000 : Number.NEGATIVE_INFINITY;
  const lives = all.map((operation): LifeOf => {
    const begins = startOf(operation);
    const isBehind = begins < firstReadFrom;
    // With `timeout: 0` the first read decides.
    const follows = isBehind || plan.timeoutMs === 0 ? undefined : stage.parentOf(operation.id);
    const listedFrom = isBehind ? Number.POSITIVE_INFINITY : begins + operation.appearsAfterMs + stage.lags.operations;
    return { operation, id: operation.id, begins, ends: endOf(operation).at, follows, listedFrom };
  });
  const begun = stage.listedOperations(projectId).map((one) => ({ id: one.id, begins: startOf(one) }));
  const view = viewOf(answers, begun);
  const since = startedAt - expects.sinceMs;
  // The `Date` of a response is as old as the response is late, so the service's clock may seem that much behind.
  const latest = main.sent.flatMap(({ at, endedAt, response }) => (response && endedAt ? [endedAt - at] : []));
  const early = dateStepMs + Math.max(0, ...latest);
  return {
    projectId,
    hasRead: view.hasRead,
    lastAnswerAt: Math.max(...answers.flatMap(({ at, shown }) => (shown === undefined ? [] : [at]))),
    owed: owedOf(lives, view, since, endedAt),
    mayCount: lives.filter((life) => counts(life, view, since - early, endedAt)),
  };
}

function answersAbout({ sent, endedAt: end }: ProcessRecord, projectId: string) {
  let read = 0;
  return sent.flatMap((one): (Answer & { at: number })[] => {
    if (one.projectId !== projectId) return [];
    const isList = one.endpoint === 'list-operations';
    if (isList && !one.hasCursor) read++;
    const isInTime = one.endedAt !== undefined && one.endedAt <= end;
    const shown = isInTime && one.isUsable ? one.records : undefined;
    const records = shown?.map(({ id, status }) => ({
      id: String(id),
      hasEnded: phaseOf(String(status)) !== 'pending',
    }));
    // A single request without a usable response says nothing.
    if (records === undefined && !isList) return [];
    return [{ at: one.endedAt ?? end, sentAt: one.at, read: isList ? read : undefined, shown: records }];
  });
}
