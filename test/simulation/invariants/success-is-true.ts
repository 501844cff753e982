import type { Operation } from '../../control-plane/index.js';
import { readKeyName } from '../formats.js';
import type { Of } from '../plan.js';
import { idsIn, output, type Run, type SentRequest, type StepRecord, texts } from '../record.js';
import {
  bodyOf,
  creationOf,
  deadlineOf,
  endedByItself,
  endOf,
  graceForUnlisted,
  idOfDelete,
  isAliveAt,
  isBelievedGone,
  isFaulty,
  isIncompleteKeyList,
  isRejection,
  isToldToWaitPast,
  keysOf,
  phaseAt,
  phaseOf,
  removalOf,
  revocationOf,
  startOf,
  statusOf,
  wasRevokedByAnother,
  wrong,
} from '../truth.js';
import { isOver } from './sweep.js';

/** A step succeeds only if the API confirmed the result. */
export function successIsTrue(run: Run): string[] {
  return run.steps.flatMap((step) => {
    if (!endedByItself(step.main)) return [];
    const { expects } = step.plan;
    switch (expects.mode) {
      case 'wait-operation':
        return waited(run, step, expects);
      case 'create-key':
        return step.main.exit === 0 ? created(run, step, expects) : [];
      case 'revoke-key':
        return [...revoked(run, step, expects), ...wronglyReported(run, step)];
      case 'sweep-keys':
        return [...swept(run, step, expects), ...(expects.dryRun ? [] : wronglyReported(run, step))];
      default:
        return listed(step, expects.failOn);
    }
  });
}

function waited(run: Run, step: StepRecord, expects: Of<'wait-operation'>): string[] {
  const { main, plan } = step;
  const { ids, failOnEmpty } = expects;
  const problems = ids === 'all' ? waitedForAll(run, step, expects) : waitedForIds(run, step, ids);
  if (ids.length === 0 && failOnEmpty && main.exit === 0) problems.push('success, but the list of ids is empty');
  const deadline = deadlineOf(step);
  const isEarly =
    plan.timeoutMs > 0 && main.endedAt < deadline - run.stage.slackMs && !isToldToWaitPast(deadline, main);
  return statusOf(main) === 'timeout' && isEarly
    ? [...problems, `timeout at ${main.endedAt}, before the deadline at ${deadline}`]
    : problems;
}

function waitedForIds({ stage }: Run, step: StepRecord, ids: readonly string[]): string[] {
  const { main } = step;
  const operations = ids.map((id) => stage.operations.find((one) => one.id === id));
  const phases = operations.map((one) => (one === undefined ? 'pending' : phaseAt(one, main.endedAt)));
  const problems: string[] = [];
  if (main.exit === 0) {
    for (const [index, phase] of phases.entries())
      if (phase !== 'good') problems.push(`success, but operation ${ids[index]} is ${phase}`);
    const reported = idsIn(main, 'operation-ids');
    if ([...reported].sort().join() !== [...ids].sort().join())
      problems.push(`success for ${reported.join()} instead of ${ids.join()}`);
  }
  if (statusOf(main) === 'failed' && !phases.includes('bad')) problems.push('failed, but no operation has failed');
  if (statusOf(main) === 'timeout' && missedAtDeadline(stage, step, operations))
    problems.push('timeout, but a poll at the deadline would have shown that all had ended well');
  return problems;
}

/** All had ended well and were visible, the service responded, and there was time for the last poll. */
function missedAtDeadline(
  { plane, slackMs }: Run['stage'],
  step: StepRecord,
  operations: readonly (Operation | undefined)[],
): boolean {
  const { main } = step;
  const deadline = deadlineOf(step);
  if (!Number.isFinite(deadline) || isToldToWaitPast(deadline, main) || operations.length > 2) return false;
  const haveEnded = operations.every((operation) => {
    if (operation === undefined || !plane.hasProject(operation.projectId)) return false;
    const { at, phase } = endOf(operation);
    const isVisible =
      startOf(operation) + operation.appearsAfterMs <= deadline && removalOf(operation) > deadline + 2_000;
    return phase === 'good' && at <= deadline - slackMs && isVisible;
  });
  return haveEnded && !main.sent.slice(-5).some(isFaulty);
}

type Fields = Readonly<Record<string, unknown>>;

/** The records of operations in each response. */
function shownTo({ main }: StepRecord): { readonly sent: SentRequest; readonly records: readonly Fields[] }[] {
  return main.sent.flatMap((sent) => {
    const body = bodyOf(sent) as { operations?: unknown; operation?: unknown } | undefined;
    const { operations, operation } = body ?? {};
    if (sent.endpoint === 'list-operations' && Array.isArray(operations)) return [{ sent, records: operations }];
    if (sent.endpoint !== 'get-operation' || typeof operation !== 'object') return [];
    return [{ sent, records: [operation as Fields] }];
  });
}

/** Dates of the service have whole seconds, and the step measures from its start. */
const sinceTolerance = 1_100;

function waitedForAll({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>): string[] {
  const { main } = step;
  const { sinceMs, failOnEmpty } = expects;
  const { slackMs } = stage;
  const shown = shownTo(step);
  const operationOf = (id: string) => stage.operations.find((one) => one.id === id);
  const unfinished = new Set<string>();
  /** Operations that surely count, or may count, although they had ended. */
  const counted = new Set<string>();
  const bad = new Set<string>();
  const perhapsBad = new Set<string>();
  for (const { sent, records } of shown) {
    const firstPoll = shown.find((one) => projectOf(one.sent) === projectOf(sent) && isFirstPage(one.sent))?.sent;
    for (const record of records.filter(expects.filter)) {
      const id = String(record['id']);
      const phase = phaseOf(String(record['status']));
      if (phase === 'pending') unfinished.add(id);
      const operation = operationOf(id);
      const started = operation === undefined ? Number.NaN : startOf(operation);
      const since = main.startedAt - (sinceMs ?? Number.NEGATIVE_INFINITY);
      const isSince = sinceMs !== undefined && started >= since + stage.tripMs + slackMs;
      const isNew = started > (firstPoll?.endedAt ?? 0) + slackMs;
      if (unfinished.has(id) || isNew || isSince) counted.add(id);
      if (phase !== 'bad') continue;
      if (counted.has(id)) bad.add(id);
      // An operation that appears during the first poll may or may not be in its response.
      const seenFrom = started + (operation?.appearsAfterMs ?? 0);
      const isPerhapsSince = sinceMs !== undefined && started >= since - sinceTolerance - slackMs;
      if (unfinished.has(id) || seenFrom > (firstPoll?.at ?? 0) - slackMs || isPerhapsSince) perhapsBad.add(id);
    }
  }
  const problems: string[] = [];
  const status = statusOf(main);
  if (main.exit === 0) {
    for (const id of unfinished) {
      const operation = operationOf(id);
      const phase = operation === undefined ? 'good' : phaseAt(operation, main.endedAt);
      if (phase !== 'good') problems.push(`success, but operation ${id} was seen unfinished and is ${phase}`);
    }
    for (const id of bad) problems.push(`success, but operation ${id} was seen to have failed`);
    for (const projectId of expects.projectIds)
      problems.push(...missedByLastPoll(stage, step, expects, projectId), ...believedTooEarly(stage, step, projectId));
    const isEmpty = output(main, 'count') === '0';
    if (failOnEmpty && isEmpty) problems.push('success, but nothing was found');
    if (isEmpty && counted.size > 0) problems.push('a count of 0, but an operation counts');
  }
  if (status === 'empty' && (!failOnEmpty || counted.size > 0))
    problems.push('empty, but an operation counts, or the step may succeed without any');
  if (status === 'failed' && perhapsBad.size === 0) problems.push('failed, but no operation that counts has failed');
  return problems;
}

function projectOf({ path }: SentRequest): string | undefined {
  return /\/projects\/([^/?]+)/.exec(path)?.[1];
}

function isFirstPage({ endpoint, path }: SentRequest): boolean {
  return endpoint === 'list-operations' && !path.includes('cursor=');
}

function pollsOf({ main }: StepRecord, projectId: string): SentRequest[] {
  return main.sent.filter((sent) => isFirstPage(sent) && projectOf(sent) === projectId && bodyOf(sent) !== undefined);
}

/** No operation that counts and was visible when the last poll began goes on when the step ends. */
function missedByLastPoll(
  { tripMs, slackMs, operations }: Run['stage'],
  step: StepRecord,
  expects: Of<'wait-operation'>,
  projectId: string,
): string[] {
  const { main } = step;
  // A poll that ended after the step decided nothing.
  const poll = pollsOf(step, projectId).at(-1);
  if (poll?.arrived === undefined) return [`success, but the list of project ${projectId} was never read`];
  const from = poll.at + tripMs - slackMs;
  return operations.flatMap((operation) => {
    const { id, action, branchId } = operation;
    const wasVisible = startOf(operation) + operation.appearsAfterMs < from && removalOf(operation) > main.endedAt;
    const counts = operation.projectId === projectId && expects.filter({ id, action, branch_id: branchId });
    return wasVisible && counts && phaseAt(operation, main.endedAt) === 'pending'
      ? [`success, but operation ${id} was visible at the last poll and goes on`]
      : [];
  });
}

/** A project without any operation is polled again 5 s after the first whole poll. */
function believedTooEarly({ slackMs }: Run['stage'], step: StepRecord, projectId: string): string[] {
  if (step.plan.timeoutMs === 0) return [];
  const records = JSON.parse(output(step.main, 'operations') || '[]') as Fields[];
  const polls = pollsOf(step, projectId);
  const [first, last] = [polls[0], polls.at(-1)];
  if (records.some((record) => record['project_id'] === projectId) || first === undefined || last === undefined)
    return [];
  return last.at - (first.endedAt ?? 0) < graceForUnlisted - 1 - slackMs
    ? [`success, but the empty list of project ${projectId} was believed after ${Math.round(last.at - first.at)} ms`]
    : [];
}

function created(run: Run, step: StepRecord, { revokes, exportsTo }: Of<'create-key'>): string[] {
  const { main } = step;
  const secret = output(main, 'key') ?? '';
  const key = keysOf(run, step).find((one) => one.key === secret);
  if (key === undefined) return ['success, but this step did not create the key of its output'];
  const isAlive = isAliveAt(key, main.endedAt) || wasRevokedByAnother(run, step, key);
  const variable = main.messages.findLast(({ kind }) => kind === 'variable')?.text;
  return wrong([
    [!isAlive, `success, but key ${key.id} is revoked`],
    [output(main, 'key-id') !== key.id, `key-id is not ${key.id}`],
    [output(main, 'key-name') !== key.name, `key-name is not ${key.name}`],
    [readKeyName(key.name)?.isKept !== !revokes, `the name ${key.name} does not say whether the key is kept`],
    [exportsTo !== '' && variable !== secret, 'success, but the variable does not hold the key'],
  ]);
}

function revoked({ stage }: Run, { main }: StepRecord, { ids, name }: Of<'revoke-key'>): string[] {
  if (main.exit !== 0) return [];
  const keys = stage.keys();
  const problems = keys.flatMap((key) => {
    const isMeant = ids?.includes(key.id) ?? (key.name === name && creationOf(key) < main.startedAt);
    return isMeant && isAliveAt(key, main.endedAt) && !isBelievedGone(key.id, main.sent)
      ? [`success, but key ${key.id} is alive`]
      : [];
  });
  const own = keys.filter((key) => {
    const at = revocationOf(key);
    return main.startedAt <= at && at <= main.endedAt && !stage.revokedByOthers.has(key.id);
  });
  return statusOf(main) === 'gone' && own.length > 0
    ? [...problems, `gone, but this step revoked ${own.map(({ id }) => id).join()}`]
    : problems;
}

/** `revoked-key-ids` and `count` are the keys that this step revoked. */
function wronglyReported({ stage }: Run, { main }: StepRecord): string[] {
  const reported = idsIn(main, 'revoked-key-ids');
  const kept = idsIn(main, 'kept-key-ids');
  const count = output(main, 'count');
  const problems = reported.flatMap((id) => {
    const key = stage.keys().find((one) => one.id === id);
    const wasGone = key === undefined || revocationOf(key) < main.startedAt;
    const isAlive = key !== undefined && isAliveAt(key, main.endedAt) && !isBelievedGone(id, main.sent);
    const isWrong = isAlive || (wasGone && !mayHaveRevoked(main, id, stage)) || kept.includes(id);
    return isWrong ? [`key ${id} is reported as revoked by this step, but was not`] : [];
  });
  return count === undefined || count === String(reported.length) ? problems : [...problems, `the count is ${count}`];
}

/** Some services confirm each DELETE, and a DELETE whose response was lost may have taken effect. */
function mayHaveRevoked({ sent }: StepRecord['main'], id: string, { plane }: Run['stage']): boolean {
  if (plane.notShown.revokedAgain === 'revoked') return true;
  const deletes = sent.filter((one) => idOfDelete(one) === id && one.mayHaveTakenEffect);
  return deletes.some((one) => one.response?.wasResent === true || (!isRejection(one) && isFaulty(one)));
}

function swept(run: Run, { main }: StepRecord, { dryRun }: Of<'sweep-keys'>): string[] {
  const hasWarning = texts(main, 'warning').length > 0;
  if (main.exit === 0 && main.sent.some(isIncompleteKeyList) && !hasWarning)
    return ['a sweep of an incomplete list without a warning'];
  // A warning says that GitHub did not show all runs.
  if (main.exit !== 0 || dryRun || hasWarning) return [];
  return run.stage.keys().flatMap((key) => {
    const isLeft =
      creationOf(key) < main.startedAt && isAliveAt(key, main.endedAt) && !isBelievedGone(key.id, main.sent);
    return isLeft && isOver(run, key) === 'yes' ? [`success, but key ${key.id} of a run that is over is alive`] : [];
  });
}

function listed({ main }: StepRecord, failOn: string): string[] {
  const count = Number(output(main, 'count') ?? Number.NaN);
  const status = statusOf(main);
  const isGreen = main.exit === 0;
  const isIncomplete = isGreen && main.sent.some(isIncompleteKeyList);
  return wrong([
    [isGreen && Number.isNaN(count), 'success without a count'],
    [isIncomplete && texts(main, 'warning').length === 0, 'an incomplete list without a warning'],
    [isIncomplete && failOn !== '' && count === 0, 'success, but a match may be missing from an incomplete list'],
    [isGreen && failOn === 'empty' && count === 0, 'success, but the list is empty'],
    [isGreen && failOn === 'match' && count > 0, `success, but ${count} records match`],
    [status === 'empty' && (failOn !== 'empty' || count !== 0), `empty, with ${count} records`],
    [status === 'match' && (failOn !== 'match' || count === 0), `match, with ${count} records`],
    [status === 'error' && !Number.isNaN(count), 'an error with a result'],
  ]);
}
