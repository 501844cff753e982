import type { ApiKey } from '../../../control-plane/index.js';
import { parseKeyName } from '../../../src/keys/key-name.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { creationOf, isAliveAt, isGitHubClear, isOver, isSweepable, phaseAt, revocationOf } from '../truth.js';
import { waitedForAll } from './wait-for-all.js';

/** A step succeeds only if the API confirmed the result. */
export function* successIsTrue(step: StepRecord, run: Run): Generator<string> {
  if (!step.main.endedByItself) return;
  const { expects, mode } = step.plan;
  // Those of a create are for its post, and a wait reads its lists again.
  const readsLists = mode !== 'create-key' && mode !== 'wait-operation';
  if (step.main.exit === 0 && readsLists && step.main.hasIncompleteList && !excuses.goesOnBeyondLimit(step))
    yield 'success, but a list was not whole';
  switch (expects.mode) {
    case 'wait-operation':
      if (expects.ids === 'all') return yield* waitedForAll(run, step, expects);
      return yield* waitedFor(run, step, expects.ids, expects.failOnEmpty);
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

function* waitedFor({ stage }: Run, { main }: StepRecord, ids: readonly string[], failOnEmpty: boolean) {
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
  if (parseKeyName(key.name)?.isKept !== !expects.revokes)
    yield `the name ${key.name} does not say whether the key is kept`;
  if (expects.exportsTo !== '' && variable !== secret) yield 'success, but the variable does not hold the key';
}

function* revoked({ stage }: Run, { main }: StepRecord, { ids, name }: Of<'revoke-key'>) {
  if (main.exit !== 0) return;
  for (const key of stage.keys()) {
    const { id } = key;
    const at = revocationOf(key);
    const isMeant = ids?.includes(id) ?? (key.name === name && creationOf(key) < main.startedAt);
    if (isMeant && isLeft(key, main, stage)) yield `success, but key ${id} is alive`;
    const isOwn = main.startedAt <= at && at <= main.endedAt && !stage.revokedByOthers.has(id);
    if (main.status === 'gone' && isOwn) yield `gone, but this step revoked ${id}`;
  }
}

/** Whether the key lives, and nothing misled the step. */
function isLeft(key: ApiKey, main: ProcessRecord, { lags }: Run['stage']): boolean {
  const isExcused = excuses.isThoughtGone(main, key) || excuses.isUnlisted(main, key, lags.keys);
  return isAliveAt(key, main.endedAt) && !isExcused;
}

/** `revoked-key-ids` and `count` are the keys that this step revoked. */
function* wronglyReported({ stage }: Run, { main }: StepRecord) {
  const reported = main.ids('revoked-key-ids');
  const kept = main.ids('kept-key-ids');
  const count = main.output('count');
  for (const id of reported) {
    const key = stage.keys().find((one) => one.id === id);
    const wasGone = key === undefined || revocationOf(key) < main.startedAt;
    const isAlive = key !== undefined && isLeft(key, main, stage);
    if (isAlive || kept.includes(id) || (wasGone && !mayHaveRevoked(main, id, stage)))
      yield `key ${id} is reported as revoked by this step, but was not`;
  }
  if (count !== undefined && count !== String(reported.length)) yield `the count is ${count}`;
}

/**
 * Some services confirm each DELETE, and a DELETE whose response was lost may have taken effect. That of an id which a list that
 * lags shows under its former name revokes the key that has the id by then.
 */
function mayHaveRevoked(main: ProcessRecord, id: string, { plane, former }: Run['stage']): boolean {
  if (plane.notShown.revokedAgain === 'revoked' || former.has(id)) return true;
  const sent = main.deletesOf(id).filter(({ mayHaveTakenEffect }) => mayHaveTakenEffect);
  return sent.some((one) => !one.isRejection && one.isFaulty);
}

function* swept(run: Run, { main }: StepRecord, { dryRun }: Of<'sweep-keys'>) {
  // A warning says that GitHub did not show all runs.
  if (main.exit !== 0 || main.hasWarning) return;
  if (dryRun || !isGitHubClear(run)) return;
  for (const key of run.stage.keys().filter(isSweepable)) {
    if (creationOf(key) < main.startedAt && isLeft(key, main, run.stage) && isOver(run, key) === 'yes')
      yield `success, but key ${key.id} of a run that is over is alive`;
  }
}

function* listed(step: StepRecord, failOn: string) {
  const { main } = step;
  const { status } = main;
  const count = Number(main.output('count') ?? Number.NaN);
  const isGreen = main.exit === 0;
  if (isGreen && Number.isNaN(count)) yield 'success without a count';
  const expected = failOn === (count === 0 ? 'empty' : 'match') ? failOn : 'ok';
  if (['ok', 'empty', 'match'].includes(status) && status !== expected) yield `${status}, with ${count} records`;
  if (status === 'error' && !Number.isNaN(count)) yield 'an error with a result';
}
