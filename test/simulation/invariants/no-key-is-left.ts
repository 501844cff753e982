import type { ApiKey } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import { isFoundInPost, isProvableInPost, isStrayProvable, type KeyOfPost, oldMs } from '../healthy.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { creationOf, isAliveAt, revocationOf } from '../truth.js';

/** Each key of the step that works after post in truth, also one that is made later, is kept on purpose or named by post. */
export function* noKeyIsLeft(step: StepRecord): Generator<string> {
  const { main, post, plan, parentInPost } = step;
  const { expects } = plan;
  if (expects.mode !== 'create-key') return;
  const kept = expects.revokes || main.status !== 'ok' ? undefined : main.output('key');
  for (const key of step.keys) {
    const { id } = key;
    if (key.key === kept || revocationOf(key) <= (post ?? main).endedAt + 0.01) continue;
    if (post === undefined) yield `key ${id} works, and there was no post step`;
    else if (!excuses.wasKilled(post) && !excuses.isCalledGone(post, key, parentInPost) && !isNamed(key, step, post))
      yield `key ${id} works after the job, and nobody was told`;
  }
}

/** A key that main received needs its id, because the alarm for a create that was lost names the same name. */
function isNamed(key: ApiKey, { minted }: StepRecord, { alarms }: ProcessRecord): boolean {
  const id = new RegExp(`\\b${key.id}\\b`);
  return alarms.some((text) => id.test(text) || (!minted.includes(key) && text.includes(key.name)));
}

/** Post raises an alarm only if the world gave it a reason: see the limits of `healthy.ts`. */
export function* alarmsAreDue(step: StepRecord, run: Run): Generator<string> {
  const { post } = step;
  if (post === undefined || !post.endedByItself || post.crash !== undefined) return;
  for (const alarm of post.alarms) if (!isDue(alarm, step, run, post)) yield `a false alarm: ${alarm}`;
}

function isDue(alarm: string, step: StepRecord, run: Run, post: ProcessRecord): boolean {
  const { minted, keys, main, parentInPost } = step;
  const { stage } = run;
  const lagMs = stage.lags.keys;
  const parent = stage.keys().find(({ key }) => parentInPost === `Bearer ${key}`);
  const canParentAsk = parent !== undefined && isAliveAt(parent, post.endedAt);
  const troublesEnd = troublesEndOf(run, post);
  const isGood = ({ status, isPage }: SentRequest) => status >= 200 && status < 300 && !isPage;
  // A 2xx to a DELETE that had no effect is seen when the key is old enough to be asked.
  const isMisled = post.sent.some((one) => one.deletedId !== undefined && one.fault === 'status' && isGood(one));
  const times = { beganAt: post.startedAt, unknownMs: lagMs, acceptedMs: lagMs, tripMs: stage.tripMs };
  /** Main counts the age of its key from the end of the response that has it. */
  const receivedAt = Math.max(
    0,
    ...main.sent.filter(({ method }) => method === 'POST').map(({ endedAt = 0 }) => endedAt),
  );
  const ofPost = (key: ApiKey): KeyOfPost => {
    const createdAt = minted.includes(key) ? Math.max(creationOf(key), receivedAt) : creationOf(key);
    const end = isMisled ? Math.max(troublesEnd, createdAt + oldMs) : troublesEnd;
    return { ...times, troublesEnd: end, createdAt, revokedAt: revocationOf(key) };
  };
  const isIn = ({ id }: ApiKey) => new RegExp(`\\b${id}\\b`).test(alarm);
  const isSaid = ({ id }: ApiKey) =>
    post.deletesOf(id).some(({ json }) => (json as { revoked?: unknown } | undefined)?.revoked === true);
  const [named] = minted.filter(isIn);
  if (named !== undefined) {
    const isAccepted = post.deletesOf(named.id).some(isGood);
    // A parent key that is revoked proves nothing, and 401 for 10 s counts only without a parent key.
    if (parent !== undefined && !canParentAsk && !isAccepted) return true;
    return !isProvableInPost(ofPost(named), canParentAsk || isAccepted);
  }
  const strays = keys.filter((key) => !minted.includes(key) && revocationOf(key) > post.startedAt);
  const namedStrays = strays.filter(isIn);
  if (namedStrays.length > 0)
    return !canParentAsk || namedStrays.some((key) => !isStrayProvable(ofPost(key), isSaid(key)));
  if (main.sent.some((one) => one.method === 'POST' && one.fault === 'status' && isGood(one))) return true;
  // If the state after a create could not be written, post takes that create for lost.
  if (step.plan.runnerFault !== undefined) return true;
  // Somebody else may have revoked the key of a lost create, and without its parent key post cannot look for one.
  if (main.ambiguousCreates > 0 && (stage.revokedByOthers.size > 0 || parent === undefined)) return true;
  const found = canParentAsk && !post.hasIncompleteList ? strays.filter((key) => isFoundInPost(ofPost(key))) : [];
  // A kill may come between the state that announces a create and the create, or between a response and its state.
  const open = main.exit === 'killed' ? main.sent.filter(({ method }) => method === 'POST').length + 1 : 0;
  return found.length < Math.max(open, main.ambiguousCreates) - minted.length;
}

/** A 429 holds all requests for its `Retry-After`, 2 s at most, and a random second more. */
const longestHoldMs = 3_000;

function troublesEndOf({ plan }: Run, { sent, startedAt, endedAt: end }: ProcessRecord): number {
  const troubled = sent.filter(({ fault }) => fault !== undefined);
  const ends = troubled.map((one) => (one.endedAt ?? end) + (one.status === 429 || one.retryAfter ? longestHoldMs : 0));
  const outages = plan.outages.filter(({ from, to }) => from < end && to > startedAt).map(({ to }) => to);
  return Math.max(startedAt, ...ends, ...outages);
}
