import { parseKeyName } from '../../../src/keys/key-name.js';
import { excuses } from '../excuses.js';
import type { Of } from '../plan.js';
import type { Run, StepRecord } from '../record.js';
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
  if (!isAliveAt(key, main.endedAt) && !wasRevokedByAnother) yield `success, but key ${key.id} is revoked`;
  const isMisnamed = main.sent.some(
    ({ method, fault, status }) => method === 'POST' && fault === 'status' && status < 300,
  );
  if (main.output('key-id') !== key.id && !isMisnamed) yield `key-id is not ${key.id}`;
  if (main.output('key-name') !== key.name) yield `key-name is not ${key.name}`;
  if (parseKeyName(key.name)?.isKept !== !expects.revokes)
    yield `the name ${key.name} does not say whether the key is kept`;
}

function* revoked({ stage }: Run, { main }: StepRecord, { ids, name, ignores }: Of<'revoke-key'>) {
  if (main.exit !== 0) return;
  const since = main.startedAt - stage.lags.keys;
  const keys = stage.keys().filter((key) => ids?.includes(key.id) ?? key.name === name);
  for (const key of keys) {
    const isMeant = ids !== undefined || creationOf(key) <= Math.max(0, since);
    if (isMeant && isAliveAt(key, main.endedAt)) yield `success, but key ${key.id} is alive`;
  }
  // Lists show a key for a while after its end.
  const there = keys.filter((key) => revocationOf(key) >= since);
  const isMissing = ids === undefined ? there.length === 0 : there.length < new Set(ids).size;
  if (isMissing && !ignores) yield 'success, but a key was not there';
  if (isMissing && there.length === 0 && main.status !== 'not-found') yield `${main.status}, but no key was there`;
}

/** `revoked-key-ids` and `count` are the keys that this step revoked. Lists show a key for a while after its end. */
function* wronglyReported({ stage }: Run, { main }: StepRecord) {
  const reported = main.ids('revoked-key-ids');
  const kept = main.ids('kept-key-ids');
  const count = main.output('count');
  for (const id of reported) {
    const key = stage.keys().find((one) => one.id === id);
    const wasGone = key === undefined || revocationOf(key) < main.startedAt - stage.lags.keys;
    if (wasGone || kept.includes(id) || isAliveAt(key, main.endedAt))
      yield `key ${id} is reported as revoked by this step, but was not`;
  }
  if (count !== undefined && count !== String(reported.length)) yield `the count is ${count}`;
}

function* swept(run: Run, { main }: StepRecord, { dryRun, failsOnMatch, olderThanMs }: Of<'sweep-keys'>) {
  const isMatch = run.stage.keys().some((key) => isSweepable(key) && isOver(run, key) !== 'no');
  if (main.status === 'match' && !isMatch && isGitHubClear(run)) yield 'match, but nothing had to be revoked';
  if (main.exit !== 0) return;
  if (failsOnMatch && main.output('count') !== '0') yield 'success, but a key had to be revoked';
  for (const key of run.stage.keys().filter(isSweepable)) {
    const { id, name } = key;
    const isListed = creationOf(key) <= Math.max(0, main.startedAt - run.stage.lags.keys);
    if (!isListed || !isAliveAt(key, main.endedAt) || excuses.isRunDenied(run, parseKeyName(name)?.run.id)) continue;
    const over = isOver(run, key);
    if (over === 'yes' && !dryRun) yield `success, but key ${id} of a run that is over is alive`;
    if (over === 'unknown' && main.endedAt - creationOf(key) < olderThanMs)
      yield `success, but key ${id} was left, and its attempt is unknown`;
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
