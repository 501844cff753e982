import type { Operation } from '../../../control-plane/index.js';
import { readKeyName } from '../formats.js';
import type { Of } from '../plan.js';
import type { Fields, ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import {
  counts,
  creationOf,
  endOf,
  graceForUnlisted,
  isAliveAt,
  phaseAt,
  phaseOf,
  removalOf,
  revocationOf,
  startOf,
  visibleFrom,
} from '../truth.js';
import { isOver } from './sweep.js';

/** A step succeeds only if the API confirmed the result. */
export function* successIsTrue(step: StepRecord, run: Run): Generator<string> {
  if (!step.main.endedByItself) return;
  const { expects } = step.plan;
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids === 'all') return yield* waitedForAll(run, step, expects);
      return yield* waitedForIds(run, step, expects.ids, expects.failOnEmpty);
    case 'create-key':
      return yield* created(run, step, expects);
    case 'revoke-key':
      yield* revoked(run, step, expects);
      return yield* wronglyReported(run, step);
    case 'sweep-keys':
      yield* swept(run, step, expects);
      if (!expects.dryRun) yield* wronglyReported(run, step);
      return;
    default:
      yield* listed(step, expects.failOn);
  }
}

function* waitedForIds(
  { stage }: Run,
  step: StepRecord,
  ids: readonly string[],
  failOnEmpty: boolean,
): Generator<string> {
  const { main } = step;
  const operations = ids.map((id) => stage.operation(id));
  const phases = operations.map((one) => (one === undefined ? 'pending' : phaseAt(one, main.endedAt)));
  if (main.exit === 0) {
    if (ids.length === 0 && failOnEmpty) yield 'success, but the list of ids is empty';
    for (const [index, phase] of phases.entries())
      if (phase !== 'good') yield `success, but operation ${ids[index]} is ${phase}`;
    const reported = main.ids('operation-ids');
    if ([...reported].sort().join() !== [...ids].sort().join())
      yield `success for ${reported.join()} instead of ${ids.join()}`;
  }
  if (main.status === 'failed' && !phases.includes('bad')) yield 'failed, but no operation has failed';
  if (main.status === 'timeout' && missedAtDeadline(stage, step, operations))
    yield 'timeout, but a poll at the deadline would have shown that all had ended well';
}

/** All had ended well and were visible, the service responded, and there was time for the last poll. */
function missedAtDeadline(
  { plane, slackMs }: Run['stage'],
  { main, deadline, isToldToWaitTooLong }: StepRecord,
  operations: readonly (Operation | undefined)[],
): boolean {
  if (!Number.isFinite(deadline) || isToldToWaitTooLong || operations.length > 2) return false;
  const haveEnded = operations.every((operation) => {
    if (operation === undefined || !plane.hasProject(operation.projectId)) return false;
    const { at, phase } = endOf(operation);
    const isVisible = visibleFrom(operation) <= deadline && removalOf(operation) > deadline + 2_000;
    return phase === 'good' && at <= deadline - slackMs && isVisible;
  });
  return haveEnded && !main.sent.slice(-5).some(({ isFaulty }) => isFaulty);
}

/** Dates of the service have whole seconds, and the step measures from its start. */
const sinceTolerance = 1_100;

function* waitedForAll({ stage }: Run, step: StepRecord, expects: Of<'wait-operation'>): Generator<string> {
  const { main } = step;
  const { sinceMs, failOnEmpty } = expects;
  const { slackMs } = stage;
  const unfinished = new Set<string>();
  /** Operations that surely count, or may count, although they had ended. */
  const counted = new Set<string>();
  const bad = new Set<string>();
  const perhapsBad = new Set<string>();
  for (const sent of main.sent) {
    const firstPoll = main.sent.find((one) => isFirstPage(one, projectOf(sent)) && one.records !== undefined);
    for (const record of sent.records?.filter(expects.filter) ?? []) {
      const id = String(record['id']);
      const phase = phaseOf(String(record['status']));
      if (phase === 'pending') unfinished.add(id);
      const operation = stage.operation(id);
      const started = operation === undefined ? Number.NaN : startOf(operation);
      const since = sinceMs === undefined ? Number.POSITIVE_INFINITY : main.startedAt - sinceMs;
      const isSince = started >= since + stage.tripMs + slackMs;
      const isNew = started > (firstPoll?.endedAt ?? 0) + slackMs;
      if (unfinished.has(id) || isNew || isSince) counted.add(id);
      if (phase !== 'bad') continue;
      if (counted.has(id)) bad.add(id);
      // An operation that appears during the first poll may or may not be in its response.
      const seenFrom = operation === undefined ? Number.NaN : visibleFrom(operation);
      const isPerhapsSince = started >= since - sinceTolerance - slackMs;
      if (unfinished.has(id) || seenFrom > (firstPoll?.at ?? 0) - slackMs || isPerhapsSince) perhapsBad.add(id);
    }
  }
  if (main.exit === 0) {
    for (const id of unfinished) {
      const operation = stage.operation(id);
      const phase = operation === undefined ? 'good' : phaseAt(operation, main.endedAt);
      if (phase !== 'good') yield `success, but operation ${id} was seen unfinished and is ${phase}`;
    }
    for (const id of bad) yield `success, but operation ${id} was seen to have failed`;
    for (const projectId of expects.projectIds) yield* believedTooEarly(stage, step, expects, projectId);
    const isEmpty = main.output('count') === '0';
    if (failOnEmpty && isEmpty) yield 'success, but nothing was found';
    if (isEmpty && counted.size > 0) yield 'a count of 0, but an operation counts';
  }
  if (main.status === 'empty' && (!failOnEmpty || counted.size > 0))
    yield 'empty, but an operation counts, or the step may succeed without any';
  if (main.status === 'failed' && perhapsBad.size === 0) yield 'failed, but no operation that counts has failed';
}

function projectOf({ path }: SentRequest): string | undefined {
  return /\/projects\/([^/?]+)/.exec(path)?.[1];
}

function isFirstPage(sent: SentRequest, projectId: string | undefined): boolean {
  return sent.endpoint === 'list-operations' && !sent.hasCursor && projectOf(sent) === projectId;
}

/**
 * No operation that counts and was visible when the last poll began goes on when the step ends. A project without any
 * operation is polled again 5 s after the first whole poll.
 */
function* believedTooEarly(
  { tripMs, slackMs, operations }: Run['stage'],
  { main, plan }: StepRecord,
  expects: Of<'wait-operation'>,
  projectId: string,
): Generator<string> {
  const polls = main.sent.filter((sent) => isFirstPage(sent, projectId) && sent.json !== undefined);
  const [first, last] = [polls[0], polls.at(-1)];
  // A poll that ended after the step decided nothing.
  if (first === undefined || last?.arrived === undefined)
    return yield `success, but the list of project ${projectId} was never read`;
  for (const operation of operations) {
    const isSeen = visibleFrom(operation) < last.at + tripMs - slackMs && removalOf(operation) > main.endedAt;
    const isMeant = operation.projectId === projectId && counts(expects, operation);
    if (isSeen && isMeant && phaseAt(operation, main.endedAt) === 'pending')
      yield `success, but operation ${operation.id} was visible at the last poll and goes on`;
  }
  const records = JSON.parse(main.output('operations') || '[]') as Fields[];
  const isEmpty = records.every((record) => record['project_id'] !== projectId);
  if (plan.timeoutMs > 0 && isEmpty && last.at - (first.endedAt ?? 0) < graceForUnlisted - 1 - slackMs)
    yield `success, but the empty list of project ${projectId} was believed after ${Math.round(last.at - first.at)} ms`;
}

function* created({ stage, steps }: Run, step: StepRecord, expects: Of<'create-key'>): Generator<string> {
  const { main, keys } = step;
  if (main.exit !== 0) return;
  const secret = main.output('key') ?? '';
  const key = keys.find((one) => one.key === secret);
  if (key === undefined) return yield 'success, but this step did not create the key of its output';
  const others = steps.filter((other) => other !== step);
  const wasRevokedByAnother =
    stage.revokedByOthers.has(key.id) || others.some((other) => other.main.deletesOf(key.id).length > 0);
  const variable = main.messages.findLast(({ kind }) => kind === 'variable')?.text;
  if (!isAliveAt(key, main.endedAt) && !wasRevokedByAnother) yield `success, but key ${key.id} is revoked`;
  if (main.output('key-id') !== key.id) yield `key-id is not ${key.id}`;
  if (main.output('key-name') !== key.name) yield `key-name is not ${key.name}`;
  if (readKeyName(key.name)?.isKept !== !expects.revokes)
    yield `the name ${key.name} does not say whether the key is kept`;
  if (expects.exportsTo !== '' && variable !== secret) yield 'success, but the variable does not hold the key';
}

function* revoked({ stage }: Run, { main }: StepRecord, { ids, name }: Of<'revoke-key'>): Generator<string> {
  if (main.exit !== 0) return;
  for (const key of stage.keys()) {
    const { id } = key;
    const at = revocationOf(key);
    const isMeant = ids?.includes(id) ?? (key.name === name && creationOf(key) < main.startedAt);
    if (isMeant && isAliveAt(key, main.endedAt) && !main.believesGone(id)) yield `success, but key ${id} is alive`;
    const isOwn = main.startedAt <= at && at <= main.endedAt && !stage.revokedByOthers.has(id);
    if (main.status === 'gone' && isOwn) yield `gone, but this step revoked ${id}`;
  }
}

/** `revoked-key-ids` and `count` are the keys that this step revoked. */
function* wronglyReported({ stage }: Run, { main }: StepRecord): Generator<string> {
  const reported = main.ids('revoked-key-ids');
  const kept = main.ids('kept-key-ids');
  const count = main.output('count');
  for (const id of reported) {
    const key = stage.keys().find((one) => one.id === id);
    const wasGone = key === undefined || revocationOf(key) < main.startedAt;
    const isAlive = key !== undefined && isAliveAt(key, main.endedAt) && !main.believesGone(id);
    if (isAlive || (wasGone && !mayHaveRevoked(main, id, stage)) || kept.includes(id))
      yield `key ${id} is reported as revoked by this step, but was not`;
  }
  if (count !== undefined && count !== String(reported.length)) yield `the count is ${count}`;
}

/** Some services confirm each DELETE, and a DELETE whose response was lost may have taken effect. */
function mayHaveRevoked(main: ProcessRecord, id: string, { plane }: Run['stage']): boolean {
  if (plane.notShown.revokedAgain === 'revoked') return true;
  return main
    .deletesOf(id)
    .some((one) => one.mayHaveTakenEffect && (one.response?.wasResent || (!one.isRejection && one.isFaulty)));
}

function* swept(run: Run, { main }: StepRecord, { dryRun }: Of<'sweep-keys'>): Generator<string> {
  // A warning says that GitHub did not show all runs.
  if (main.exit !== 0 || main.hasWarning) return;
  if (main.hasIncompleteKeyList) yield 'a sweep of an incomplete list without a warning';
  if (dryRun) return;
  for (const key of run.stage.keys()) {
    const isLeft = creationOf(key) < main.startedAt && isAliveAt(key, main.endedAt) && !main.believesGone(key.id);
    if (isLeft && isOver(run, key) === 'yes') yield `success, but key ${key.id} of a run that is over is alive`;
  }
}

function* listed({ main }: StepRecord, failOn: string): Generator<string> {
  const { status } = main;
  const count = Number(main.output('count') ?? Number.NaN);
  const isGreen = main.exit === 0;
  const isIncomplete = isGreen && main.hasIncompleteKeyList;
  if (isGreen && Number.isNaN(count)) yield 'success without a count';
  if (isIncomplete && !main.hasWarning) yield 'an incomplete list without a warning';
  if (isIncomplete && failOn !== '' && count === 0) yield 'success, but a match may be missing from an incomplete list';
  if (isGreen && failOn === 'empty' && count === 0) yield 'success, but the list is empty';
  if (isGreen && failOn === 'match' && count > 0) yield `success, but ${count} records match`;
  if (status === 'empty' && (failOn !== 'empty' || count !== 0)) yield `empty, with ${count} records`;
  if (status === 'match' && (failOn !== 'match' || count === 0)) yield `match, with ${count} records`;
  if (status === 'error' && !Number.isNaN(count)) yield 'an error with a result';
}
