import type { ApiKey } from '../../../control-plane/index.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { creationOf, isAliveAt, isOver, isSweepable, names, revocationOf } from '../truth.js';

/** Each key of the step that works after post in truth, also one that is made later, is kept on purpose or named by post. */
export function* noKeyIsLeft(step: StepRecord): Generator<string> {
  const { main, post, plan, minted, parentInPost } = step;
  const { expects } = plan;
  if (expects.mode !== 'create-key') return;
  const kept = expects.revokes || main.status !== 'ok' ? undefined : main.output('key');
  // A key that main received needs its id, because the alarm for a create that was lost names the same name.
  const isNamed = (key: ApiKey, alarm: string) =>
    names(alarm, key.id) || (!minted.includes(key) && alarm.includes(key.name));
  for (const key of step.keys) {
    if (key.key === kept || revocationOf(key) <= (post ?? main).endedAt + 0.01) continue;
    if (post === undefined) yield `key ${key.id} works, and there was no post step`;
    // The runner kills a post that is cancelled too late; a sweep finds what it left.
    else if (post.exit === 'killed' || post.exit === 'hung' || isCalledGone(post, key, parentInPost)) continue;
    else if (!post.alarms.some((alarm) => isNamed(key, alarm)))
      yield `key ${key.id} works after the job, and nobody was told`;
  }
}

/** The service itself says that an old key is gone, in the ways that the contract names. */
function isCalledGone({ sent, deletesOf }: ProcessRecord, key: ApiKey, parent: string | undefined): boolean {
  const says = (status: number, by: string | undefined) => (one: SentRequest) =>
    one.status === status && one.authorization === by && !one.isPage && (one.endedAt ?? 0) - creationOf(key) >= 10_000;
  const rejections = sent.filter(says(401, `Bearer ${key.key}`));
  const [first, last] = [rejections[0]?.at ?? 0, rejections.at(-1)?.at ?? 0];
  const isGone = says(404, parent);
  const isConfirmed = deletesOf(key.id).some((one) => (one.isGood || isGone(one)) && (one.endedAt ?? 0) <= last);
  return isConfirmed || (parent === undefined && last - first >= 10_000);
}

/** What a step says to have revoked is revoked, and a success leaves no key that it was to revoke. */
export function* revocationsAreTrue(step: StepRecord, run: Run): Generator<string> {
  const { main, plan, keys } = step;
  const { expects } = plan;
  if (!main.endedByItself) return;
  const all = run.stage.keys();
  const isAlive = (key: ApiKey) => isAliveAt(key, main.endedAt);
  for (const id of main.ids('revoked-key-ids'))
    if (all.some((key) => key.id === id && isAlive(key)) && !('dryRun' in expects && expects.dryRun))
      yield `key ${id} is reported as revoked, and works`;
  if (main.exit !== 0) return;
  const isListed = (key: ApiKey) => creationOf(key) <= Math.max(0, main.startedAt - run.stage.lags.keys);
  const mustBeGone = (key: ApiKey) => {
    if (expects.mode === 'revoke-key')
      return expects.ids?.includes(key.id) ?? (key.name === expects.name && isListed(key));
    const isSwept = expects.mode === 'sweep-keys' && !expects.dryRun && isSweepable(key) && isListed(key);
    return isSwept && isOver(run, key) === 'yes';
  };
  for (const key of all) if (isAlive(key) && mustBeGone(key)) yield `success, but key ${key.id} works`;
  if (expects.mode === 'create-key' && !keys.some(({ key }) => key === main.output('key')))
    yield 'success, but this step did not create the key of its output';
}

/** No step touches a key that it did not create and was not asked to revoke, nor one that is kept. */
export function* otherKeysStay(step: StepRecord, run: Run): Generator<string> {
  const { main, post, plan, processes } = step;
  const { expects } = plan;
  const sent = processes.flatMap((process) => process.sent);
  for (const id of new Set(sent.flatMap(({ deletedId }) => deletedId ?? [])))
    if (!mayTouch(step, run, id)) yield `key ${id} was touched, which this step may not revoke`;
  if (expects.mode !== 'create-key' || expects.revokes || main.exit !== 0) return;
  const kept = main.output('key-id') ?? '';
  if (post?.deletesOf(kept).length) yield `post touched key ${kept}, which is kept`;
}

function mayTouch({ main, plan: { expects }, keys }: StepRecord, run: Run, id: string): boolean {
  const all = run.stage.keys();
  const key = all.find((one) => one.id === id);
  switch (expects.mode) {
    case 'create-key':
      // The service itself may name another id as that of the new key.
      return key === undefined || keys.includes(key);
    case 'revoke-key': {
      if (expects.ids !== undefined) return expects.ids.includes(id);
      const listedBy = main.startedAt - run.stage.lags.keys;
      const named = all.filter((one) => one.name === expects.name && creationOf(one) <= listedBy);
      return key?.name === expects.name && named.filter((one) => isAliveAt(one, main.endedAt)).length <= 1;
    }
    case 'sweep-keys': {
      if (expects.dryRun || key === undefined || !isSweepable(key)) return false;
      // If GitHub does not show the attempt, or not in time, the age of the key counts, and the sweep says so.
      const isUnseen = isOver(run, key) === 'unknown' || main.texts('warning', 'error').length > 0;
      return isOver(run, key) === 'yes' || (isUnseen && main.endedAt - creationOf(key) > expects.olderThanMs);
    }
    default:
      return false;
  }
}
