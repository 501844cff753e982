import type { ApiKey } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { creationOf, isAliveAt, postTimeout, revocationOf } from '../truth.js';

/** Enough for a search, and for the minted key to revoke itself at the end. */
const lastPart = 10_000;

/**
 * Each key of the step that lives after post in truth, also one that a late request creates, is named by post, or kept on
 * purpose. No key lives if `revoke-in-post` is on, post has a credential that the service accepts, and nothing troubles
 * the last 10 of post's 20 s, in which the service shows the key.
 */
export function* noKeyIsLeft(step: StepRecord, run: Run): Generator<string> {
  const { main, post, plan } = step;
  const { expects } = plan;
  if (expects.mode !== 'create-key') return;
  const kept = expects.revokes ? undefined : main.output('key-id');
  const end = post?.endedAt ?? main.endedAt;
  for (const key of step.keys) {
    const { id, name } = key;
    if (revocationOf(key) <= end + 0.01 || id === kept) continue;
    if (post === undefined) yield `key ${id} is alive, and there was no post step`;
    else if (!excuses.wasKilled(post) && !isThoughtGone(key, step, post)) {
      const named = new RegExp(`\\b${id}\\b`);
      // A warning about a create that may still be carried out does not answer for a key that each replica showed.
      const lastListAt = post.sent.findLast(({ keyList }) => keyList === 'whole')?.at ?? 0;
      const mayBeOpen = creationOf(key) + run.stage.lags.keys > lastListAt;
      const alarms = post
        .texts('warning', 'error')
        .filter((text) => mayBeOpen || !text.includes('may still be created'));
      const isReported = alarms.some((text) => text.includes(name) || named.test(text));
      if (!isReported) yield `key ${id} is alive and is not reported`;
      else if (expects.revokes && couldRevoke(run, step, key, post))
        yield `key ${id} is alive, although post could have revoked it`;
    }
  }
}

function isThoughtGone(key: ApiKey, step: StepRecord, post: ProcessRecord): boolean {
  return excuses.isThoughtGone(post, key) || (parentInPost(step) === undefined && excuses.rejectsItself(post, key));
}

/** The header of the parent key, if post has that key. */
function parentInPost({ plan, parent }: StepRecord): string | undefined {
  const { inputs, environment } = plan.post;
  return [inputs['api-key'], environment['CTL_API_KEY']].map((key) => `Bearer ${key}`).find((key) => key === parent);
}

function couldRevoke(run: Run, step: StepRecord, left: ApiKey, post: ProcessRecord): boolean {
  const isProxyClosed = post.sent.some(({ error }) => error?.includes('407'));
  // A search cannot find a key that an incomplete list does not show.
  if (post.crash !== undefined || post.runnerFailed || isProxyClosed || post.hasIncompleteList) return false;
  const parent = parentInPost(step);
  const credentials = run.stage.keys().filter(({ key }) => step.state.includes(key) || `Bearer ${key}` === parent);
  const isAccepted = credentials.some((key) => isAliveAt(key, post.endedAt) && !isRejected(key, post));
  return isAccepted && isReachableAtEnd(run, post, creationOf(left) + run.stage.lags.keys);
}

/** A 404 for the DELETE of another key is about that key. For its own id the contract counts it as a rejection. */
function isRejected({ id, key }: ApiKey, { sent }: ProcessRecord): boolean {
  return sent.some(
    ({ authorization, isRejection, isThrottled, method, status, deletedId }) =>
      authorization === `Bearer ${key}` &&
      isRejection &&
      !isThrottled &&
      !(method === 'DELETE' && status === 404 && deletedId !== id),
  );
}

function isReachableAtEnd({ plan, stage }: Run, post: ProcessRecord, listedFrom: number): boolean {
  const end = post.startedAt + postTimeout;
  const calmFrom = end - lastPart - stage.slackMs - 4 * stage.tripMs;
  // An endless fault could also hit requests that post did not send.
  const hasEndless = plan.faults.some(({ nth, count }) => nth === undefined && count === undefined);
  const isOut = plan.outages.some(({ from, to }) => from < end && to > calmFrom);
  const isTroubled = post.sent.some(
    ({ isFaulty, retryAfter = 0, endedAt = end }) => isFaulty && endedAt + retryAfter > calmFrom,
  );
  return listedFrom <= calmFrom && !hasEndless && !isOut && !isTroubled;
}
