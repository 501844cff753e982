import type { ApiKey } from '../../../control-plane/index.js';
import { isDue, type KeyOfPost, type PostWorld } from '../alarms.js';
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
  const isGone = says(404, parent);
  const isConfirmed = deletesOf(key.id).some((one) => one.isGood || isGone(one));
  const [first, last] = [rejections[0]?.at ?? 0, rejections.at(-1)?.endedAt ?? 0];
  return rejections.length > 0 && (isConfirmed || (parent === undefined && last - first >= 10_000));
}

/** Post raises an alarm only if the world gave it a reason: see the limits of `alarms.ts`. */
export function* alarmsAreDue(step: StepRecord, run: Run): Generator<string> {
  const { post } = step;
  if (post === undefined || !post.endedByItself || post.crash !== undefined || post.alarms.length === 0) return;
  const world = worldOf(step, run, post);
  for (const alarm of post.alarms) if (!isDue(alarm, world)) yield `a false alarm: ${alarm}`;
}

/** A 429 holds all requests of post for its `Retry-After`, 2 s at most, and a random second more. */
const longestHoldMs = 3_000;

function worldOf(step: StepRecord, { stage, plan }: Run, post: ProcessRecord): PostWorld {
  const { minted, keys, main, parentInPost } = step;
  const parent = stage.keys().find(({ key }) => parentInPost === `Bearer ${key}`);
  // A list of keys that is not whole is of no use.
  const troubled = post.sent.filter(({ fault, isPartial }) => fault !== undefined || isPartial);
  const ends = troubled.map(
    (one) => (one.endedAt ?? post.endedAt) + (one.status === 429 || one.retryAfter ? longestHoldMs : 0),
  );
  const outages = plan.outages.filter(({ from, to }) => from < post.endedAt && to > post.startedAt);
  /** Main counts the age of its key from the end of the response that has it. */
  const receivedAt = Math.max(0, ...main.sent.map(({ method, endedAt = 0 }) => (method === 'POST' ? endedAt : 0)));
  const ofPost = (key: ApiKey): KeyOfPost => ({
    id: key.id,
    createdAt: Math.max(creationOf(key), minted.includes(key) ? receivedAt : 0),
    revokedAt: revocationOf(key),
  });
  const [received] = minted.map(ofPost);
  const strays = keys.filter((key) => !minted.includes(key)).map(ofPost);
  const isWrong = ({ fault, isGood, isPage }: SentRequest) => fault === 'status' && isGood && !isPage;
  return {
    beganAt: post.startedAt,
    troublesEnd: Math.max(post.startedAt, ...ends, ...outages.map(({ to }) => to)),
    isMisled: post.sent.some((one) => one.deletedId !== undefined && isWrong(one)),
    unknownMs: stage.lags.keys,
    acceptedMs: stage.lags.keys,
    tripMs: stage.tripMs,
    parent: parent === undefined ? 'missing' : isAliveAt(parent, post.endedAt) ? 'valid' : 'revoked',
    minted: received,
    isAccepted: post.deletesOf(received?.id ?? '').some(({ isGood, isPage }) => isGood && !isPage),
    strays: strays.filter(({ revokedAt }) => revokedAt > post.startedAt),
    isSaid: ({ id }) => post.deletesOf(id).some(({ json }) => json?.['revoked'] === true),
    lost: lostCreates(step, stage.revokedByOthers.size > 0, isWrong) - minted.length,
  };
}

function lostCreates(step: StepRecord, hasOthers: boolean, isWrong: (one: SentRequest) => boolean): number {
  const { main, post, plan, parentInPost } = step;
  const creates = main.sent.filter(({ method }) => method === 'POST');
  const ambiguous = creates.filter(({ isAmbiguousCreate }) => isAmbiguousCreate).length;
  const isUnknown =
    creates.some(isWrong) ||
    // If the state after a create could not be written, post takes that create for lost.
    plan.runnerFault !== undefined ||
    // Somebody else may have revoked the key of a lost create, and without its parent key post cannot look for one.
    (ambiguous > 0 && (hasOthers || parentInPost === undefined)) ||
    post?.sent.some(({ endpoint, isPartial }) => endpoint === 'list-keys' && isPartial) === true;
  if (isUnknown) return Number.POSITIVE_INFINITY;
  // A kill may come between the state that announces a create and the create, or between a response and its state.
  return main.exit === 'killed' ? Math.max(creates.length + 1, ambiguous) : ambiguous;
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
  const listedBy = Math.max(0, main.startedAt - run.stage.lags.keys);
  const isListed = (key: ApiKey) => creationOf(key) <= listedBy;
  switch (expects.mode) {
    case 'create-key': {
      const key = keys.find((one) => one.key === main.output('key'));
      if (key === undefined) yield 'success, but this step did not create the key of its output';
      return;
    }
    case 'revoke-key':
      for (const key of all)
        if (isAlive(key) && (expects.ids?.includes(key.id) ?? (key.name === expects.name && isListed(key))))
          yield `success, but key ${key.id} works`;
      return;
    case 'sweep-keys':
      for (const key of all.filter((one) => isSweepable(one) && isListed(one) && isAlive(one)))
        if (isOver(run, key) === 'yes' && !expects.dryRun)
          yield `success, but key ${key.id} of a run that is over works`;
  }
}
