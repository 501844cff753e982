import type { ApiKey } from '../../../control-plane/index.js';
import { excuses } from '../excuses.js';
import type { ProcessRecord, Run, StepRecord } from '../record.js';
import { creationOf, isAliveAt, postTimeout, revocationOf } from '../truth.js';

const exchangeTimeout = 5_000;
const mintedIsRevokedIn = 4_000;
const shortestReach = 1_500;

/**
 * Each key of the step that lives after post in truth, also one that a late request creates, is named by post, or kept on
 * purpose. No key lives if `revoke-in-post` is on, post has a credential that the service accepts, the service can be reached
 * for 5 of post's 20 s after it shows the key, and no `Retry-After` ends after them.
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
      const told = post.texts('warning', 'error').filter((text) => text.includes(name) || named.test(text));
      const isReported = told.some((text) => mayBeOpen || !text.includes('may still be created'));
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
  const isToldToWait = post.sent.some(({ retryAt }) => retryAt > post.startedAt + postTimeout);
  const isProxyClosed = post.sent.some(({ error }) => error?.includes('407'));
  // A search cannot find a key that an incomplete list does not show.
  if (post.crash !== undefined || post.runnerFailed || isToldToWait || isProxyClosed || post.hasIncompleteList)
    return false;
  const parent = parentInPost(step);
  const credentials = run.stage.keys().filter(({ key }) => step.state.includes(key) || `Bearer ${key}` === parent);
  const accepted = credentials.filter((key) => isAliveAt(key, post.startedAt) && !isRejected(key, post));
  // A minted key that post revokes can search until the last part of post.
  const isSpent = accepted.every((key) => !isAliveAt(key, post.endedAt));
  if (accepted.length === 0 || (isSpent && accepted.some(({ id }) => run.stage.revokedByOthers.has(id)))) return false;
  const reach = exchangeTimeout + (isSpent ? mintedIsRevokedIn : 0);
  return isReachable(run, step, post, creationOf(left) + run.stage.lags.keys, reach);
}

/** A 404 for the DELETE of another key is about that key. For its own id the contract counts it as a rejection. */
function isRejected({ id, key }: ApiKey, { sent }: ProcessRecord): boolean {
  return sent.some(({ authorization, isRejection, isThrottled, status, deletedId = id }) => {
    const isAboutOther = status === 404 && deletedId !== id;
    return authorization === `Bearer ${key}` && isRejection && !isThrottled && !isAboutOther;
  });
}

function isReachable(run: Run, step: StepRecord, post: ProcessRecord, from: number, reach: number): boolean {
  // The minted key searches first, and revokes itself at the end.
  const isSearching = /"openCreates":[1-9]|"foundKeyIds":\["/.test(step.state) && /"minted"/.test(step.state);
  const lastPart = post.startedAt + postTimeout - mintedIsRevokedIn;
  const isReachableAtEnd = !isSearching || longestReach(run, post, lastPart) >= shortestReach + run.stage.slackMs;
  return isReachableAtEnd && longestReach(run, post, from) >= reach + run.stage.slackMs;
}

/** The longest time without a fault or a `Retry-After` that post had, or would have had. */
function longestReach({ plan, stage }: Run, post: ProcessRecord, since: number): number {
  const end = post.startedAt + postTimeout;
  const troubles = post.sent
    .filter(({ isFaulty }) => isFaulty)
    .map((sent) => ({ from: sent.at, to: (sent.endedAt ?? post.endedAt) + (sent.retryAfter ?? 0) }));
  troubles.push(...plan.outages);
  // An endless fault could also hit requests that post did not send.
  if (plan.faults.some(({ nth, count }) => nth === undefined && count === undefined))
    troubles.push({ from: post.endedAt, to: end });
  troubles.sort((one, other) => one.from - other.from);
  let longest = 0;
  let free = Math.max(post.startedAt, since);
  for (const { from, to } of [...troubles, { from: end, to: end }]) {
    longest = Math.max(longest, Math.min(from, end) - free - 4 * stage.tripMs);
    free = Math.max(free, to);
  }
  return longest;
}
