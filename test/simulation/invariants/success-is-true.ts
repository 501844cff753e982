import type { Operation } from '../../control-plane/index.js';
import type { Expectation } from '../plan.js';
import { output, type Run, type Sent, type StepRecord, said } from '../record.js';
import {
  bodyOf,
  bornAt,
  deadlineOf,
  diedAt,
  endedFreely,
  endOf,
  goneAt,
  idOfDelete,
  isAliveAt,
  isIncompleteKeyList,
  isRefusal,
  keysOf,
  madeAt,
  phaseAt,
  phaseOf,
  statusWord,
  wasFaulty,
  wasPutOff,
  wasSaidToBeGone,
} from '../truth.js';
import { readName } from './key-names.js';
import { isOver } from './sweep.js';

type Of<M extends Expectation['mode']> = Extract<Expectation, { mode: M }>;

/** Success is reported only if what was asked is true at that moment, or was when last looked at. */
export function successIsTrue(run: Run): string[] {
  return run.steps.flatMap((step) => {
    if (!endedFreely(step.main)) return [];
    const { expects } = step.plan;
    switch (expects.mode) {
      case 'wait-operation':
        return waited(run, step, expects);
      case 'create-key':
        return created(run, step);
      case 'revoke-key':
        return revoked(run, step, expects);
      case 'sweep-keys':
        return swept(run, step, expects);
      default:
        return listed(step, expects.failOn);
    }
  });
}

function waited(run: Run, step: StepRecord, expects: Of<'wait-operation'>): string[] {
  const { main } = step;
  const status = statusWord(main);
  const green = main.exit === 0;
  const problems =
    expects.ids === 'all' ? waitedForAll(run, step, expects, green) : waitedFor(run, step, expects.ids, green);
  if (green && expects.ids.length === 0 && expects.failOnEmpty) problems.push('green, but the list of ids is empty');
  if (
    status === 'timeout' &&
    step.plan.timeoutMs > 0 &&
    main.endedAt < deadlineOf(step) &&
    !wasPutOff(main, deadlineOf(step))
  )
    problems.push(`timeout at ${main.endedAt}, before the deadline ${deadlineOf(step)}`);
  return problems;
}

function waitedFor({ stage }: Run, step: StepRecord, ids: readonly string[], green: boolean): string[] {
  const { main } = step;
  const truths = ids.map((id) => {
    const operation = stage.operations.find((one) => one.id === id);
    return { id, operation, phase: operation === undefined ? 'pending' : phaseAt(operation, main.endedAt) };
  });
  const problems: string[] = [];
  if (green) {
    for (const { id, phase } of truths) if (phase !== 'good') problems.push(`green, but operation ${id} is ${phase}`);
    const told = JSON.parse(output(main, 'operation-ids') ?? '[]') as string[];
    if ([...told].sort().join() !== [...ids].sort().join())
      problems.push(`green for ${told.join()} instead of ${ids.join()}`);
  }
  const status = statusWord(main);
  if (status === 'failed' && !truths.some(({ phase }) => phase === 'bad'))
    problems.push('failed, but none of the operations has');
  const { projectIds } = step.plan.expects as Of<'wait-operation'>;
  if (
    status === 'timeout' &&
    projectIds.every((id) => stage.plane.hasProject(id)) &&
    wasCalledLate(
      step,
      truths.map(({ operation }) => operation),
    )
  )
    problems.push('timeout, but a look at the deadline would have shown that all had ended well');
  return problems;
}

/** All had ended well and were to be seen, the service answered, and there was time for that look. */
function wasCalledLate(step: StepRecord, operations: readonly (Operation | undefined)[]): boolean {
  const { main } = step;
  const deadline = deadlineOf(step);
  if (!Number.isFinite(deadline) || wasPutOff(main, deadline) || operations.length > 2) return false;
  const seenWell = operations.every((operation) => {
    if (operation === undefined) return false;
    const { at, phase } = endOf(operation);
    return (
      phase === 'good' &&
      at <= deadline &&
      madeAt(operation) + operation.appearsAfterMs <= deadline &&
      goneAt(operation) > deadline + 2_000
    );
  });
  return seenWell && !main.sent.slice(-5).some(wasFaulty);
}

interface Shown {
  readonly sent: Sent;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

/** What the process was shown of operations, look by look. */
function shownTo({ main }: StepRecord): Shown[] {
  return main.sent.flatMap((sent) => {
    const body = bodyOf(sent) as { operations?: unknown; operation?: unknown } | undefined;
    if (sent.endpoint === 'list-operations' && Array.isArray(body?.operations))
      return [{ sent, records: body.operations }];
    if (sent.endpoint === 'get-operation' && typeof body?.operation === 'object')
      return [{ sent, records: [body.operation as Record<string, unknown>] }];
    return [];
  });
}

/** Dates of the service are cut to the second, and the step measures from its start. */
const sinceSlack = 1_100;

function waitedForAll({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>, green: boolean): string[] {
  const { main } = step;
  const shown = shownTo(step);
  const truth = (id: string) => stage.operations.find((one) => one.id === id);
  const counts = (record: Readonly<Record<string, unknown>>) => expects.filter(record);
  const unfinished = new Set<string>();
  const bad = new Set<string>();
  const perhapsBad = new Set<string>();
  for (const { sent, records } of shown) {
    const firstPoll = shown.find((one) => projectOf(one.sent) === projectOf(sent) && isFirstPage(one.sent))?.sent;
    for (const record of records.filter(counts)) {
      const id = String(record['id']);
      const phase = phaseOf(String(record['status']));
      if (phase === 'pending') unfinished.add(id);
      const operation = truth(id);
      if (phase !== 'bad') continue;
      const made = operation === undefined ? Number.NaN : madeAt(operation);
      const from = main.startedAt - (expects.sinceMs ?? Number.NEGATIVE_INFINITY);
      const isSince = expects.sinceMs !== undefined && made >= from + stage.tripMs;
      if (unfinished.has(id) || made > (firstPoll?.endedAt ?? 0) || isSince) bad.add(id);
      // While the first poll was under way it may have come in time for it, or not.
      const seenFrom = made + (operation?.appearsAfterMs ?? 0);
      const perhapsSince = expects.sinceMs !== undefined && made >= from - sinceSlack;
      if (unfinished.has(id) || seenFrom > (firstPoll?.at ?? 0) || perhapsSince) perhapsBad.add(id);
    }
  }
  const problems: string[] = [];
  if (green) {
    for (const id of unfinished) {
      const operation = truth(id);
      if (operation !== undefined && phaseAt(operation, main.endedAt) !== 'good')
        problems.push(`green, but operation ${id} was seen unfinished and is ${phaseAt(operation, main.endedAt)}`);
    }
    for (const id of bad) problems.push(`green, but operation ${id} was seen to have failed`);
    for (const projectId of expects.projectIds)
      problems.push(
        ...missedByTheLastPoll({ stage, main }, expects, projectId),
        ...believedTooEarly(step, expects, projectId),
      );
    if (expects.failOnEmpty && output(main, 'count') === '0') problems.push('green, but nothing was found');
  }
  if (statusWord(main) === 'empty' && (!expects.failOnEmpty || unfinished.size > 0))
    problems.push('empty, but something was found, or that was no reason to fail');
  if (statusWord(main) === 'failed' && perhapsBad.size === 0)
    problems.push('failed, but nothing that counts was seen to fail');
  return problems;
}

function projectOf({ path }: Sent): string | undefined {
  return /\/projects\/([^/?]+)/.exec(path)?.[1];
}

function isFirstPage({ endpoint, path }: Sent): boolean {
  return endpoint === 'list-operations' && !path.includes('cursor=');
}

/** Nothing that was there when the last poll of a list began, and that counts, goes on when the step ends. */
function missedByTheLastPoll(
  { stage, main }: { stage: Run['stage']; main: StepRecord['main'] },
  expects: Of<'wait-operation'>,
  projectId: string,
): string[] {
  // One that had not ended when the step did is not what it ended by.
  const poll = main.sent.findLast(
    (sent) => isFirstPage(sent) && projectOf(sent) === projectId && bodyOf(sent) !== undefined,
  );
  const began = poll?.arrived === undefined ? undefined : poll.at + stage.tripMs;
  if (began === undefined) return [`green, but the list of project ${projectId} was never read`];
  return stage.operations.flatMap((operation) => {
    const { id, action, branchId } = operation;
    const wasThere = madeAt(operation) + operation.appearsAfterMs < began && goneAt(operation) > main.endedAt;
    const counts = operation.projectId === projectId && expects.filter({ id, action, branch_id: branchId });
    return wasThere && counts && phaseAt(operation, main.endedAt) === 'pending'
      ? [`green, but operation ${id} was there at the last poll and goes on`]
      : [];
  });
}

const graceForUnlisted = 5_000;

/** A project of which nothing was found was polled once more, 5 s after the first poll that came to its end. */
function believedTooEarly(step: StepRecord, expects: Of<'wait-operation'>, projectId: string): string[] {
  const { main, plan } = step;
  if (plan.timeoutMs === 0) return [];
  const found = (JSON.parse(output(main, 'operations') || '[]') as Record<string, unknown>[]).some(
    (record) => record['project_id'] === projectId,
  );
  const polls = main.sent.filter(
    (sent) => isFirstPage(sent) && projectOf(sent) === projectId && bodyOf(sent) !== undefined,
  );
  const [first, last] = [polls[0], polls.at(-1)];
  if (found || first === undefined || last === undefined || expects.ids !== 'all') return [];
  return last.at - (first.endedAt ?? 0) < graceForUnlisted - 1
    ? [`green, but the empty list of project ${projectId} was believed after ${Math.round(last.at - first.at)} ms`]
    : [];
}

function created(run: Run, step: StepRecord): string[] {
  const { main } = step;
  if (main.exit !== 0) return [];
  const secret = output(main, 'key') ?? '';
  const key = keysOf(run, step).find((one) => one.key === secret);
  if (key === undefined) return ['green, but the key of its output was not made by this step'];
  const problems: string[] = [];
  if (!isAliveAt(key, main.endedAt) && !run.stage.revokedByOthers.has(key.id))
    problems.push(`green, but key ${key.id} is revoked`);
  if (output(main, 'key-id') !== key.id) problems.push(`key-id is not ${key.id}`);
  if (output(main, 'key-name') !== key.name) problems.push(`key-name is not ${key.name}`);
  const { expects } = step.plan;
  if (expects.mode === 'create-key' && readName(key.name)?.isKept !== !expects.revokes)
    problems.push(`the name ${key.name} does not say whether the key is kept on purpose`);
  if (expects.mode === 'create-key' && expects.exportsTo !== '') {
    const variable = main.words.findLast(({ kind }) => kind === 'variable');
    if (variable?.text !== secret) problems.push('green, but the variable does not hold the key');
  }
  return problems;
}

function revoked({ stage }: Run, { main }: StepRecord, { ids, name }: Of<'revoke-key'>): string[] {
  const problems: string[] = [];
  const keys = stage.keys();
  if (main.exit === 0) {
    for (const key of keys) {
      const isMeant = ids?.includes(key.id) ?? (key.name === name && bornAt(key) < main.startedAt);
      if (isMeant && isAliveAt(key, main.endedAt) && !wasSaidToBeGone(key.id, main.sent))
        problems.push(`green, but key ${key.id} is alive`);
    }
  }
  const told = JSON.parse(output(main, 'revoked-key-ids') ?? '[]') as string[];
  for (const id of told) {
    const key = keys.find((one) => one.id === id);
    const wasBefore = key === undefined || diedAt(key) < main.startedAt;
    const isAlive = key !== undefined && isAliveAt(key, main.endedAt);
    if ((isAlive && !wasSaidToBeGone(id, main.sent)) || (wasBefore && !mayBeOurs(main, id, stage)))
      problems.push(`key ${id} is told to be revoked by this step, but was not`);
  }
  const own = keys.filter(
    (key) => main.startedAt <= diedAt(key) && diedAt(key) <= main.endedAt && !stage.revokedByOthers.has(key.id),
  );
  if (main.exit === 0 && statusWord(main) === 'gone' && own.length > 0)
    problems.push(`gone, but this step revoked ${own.map(({ id }) => id).join()}`);
  return problems;
}

/** Some services say of each DELETE that it has revoked the key; and one whose answer was lost may have done it. */
function mayBeOurs({ sent }: StepRecord['main'], id: string, { plane }: Run['stage']): boolean {
  if (plane.notShown.revokedAgain === 'revoked') return true;
  const tries = sent.filter((one) => idOfDelete(one) === id && one.mayBeDone);
  return tries.some((one) => one.answer?.wasResent === true || (!isRefusal(one) && wasFaulty(one)));
}

function swept(run: Run, { main }: StepRecord, { dryRun }: Of<'sweep-keys'>): string[] {
  if (main.exit === 0 && main.sent.some(isIncompleteKeyList) && said(main, 'warning').length === 0)
    return ['a sweep of an incomplete list without a warning'];
  // Where GitHub could not tell, that is told.
  if (main.exit !== 0 || dryRun || said(main, 'warning').length > 0) return [];
  return run.stage
    .keys()
    .flatMap((key) =>
      isOver(run, key) === 'yes' && isAliveAt(key, main.endedAt) && !wasSaidToBeGone(key.id, main.sent)
        ? [`green, but key ${key.id} of a run that is over is alive`]
        : [],
    );
}

function listed({ main }: StepRecord, failOn: string): string[] {
  const count = Number(output(main, 'count') ?? Number.NaN);
  const status = statusWord(main);
  if (main.exit === 0 && Number.isNaN(count)) return ['green without a count'];
  if (main.exit === 0 && main.sent.some(isIncompleteKeyList)) {
    if (said(main, 'warning').length === 0) return ['an incomplete list without a warning'];
    if (failOn !== '' && count === 0) return ['green, but what is asked for may be missing from an incomplete list'];
  }
  if (main.exit === 0 && failOn === 'empty' && count === 0) return ['green, but the list is empty'];
  if (main.exit === 0 && failOn === 'match' && count > 0) return [`green, but ${count} records match`];
  if (status === 'empty' && (failOn !== 'empty' || count !== 0)) return [`empty, with ${count} records`];
  if (status === 'match' && (failOn !== 'match' || count === 0)) return [`match, with ${count} records`];
  return [];
}
