import type { ApiKey } from '../../../control-plane/index.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { creationOf, isAliveAt, postTimeout, revocationOf } from '../truth.js';

/** A promise of the contract. */
const exchangeTimeout = 5_000;
/**
 * The contract lets the search go on until the time is nearly over. `src/modes/post/schedule.ts` leaves so much of it for the
 * last requests: the minted key ends its search earlier, because it still has to revoke itself.
 */
const searchEndsBefore = { parent: 1_600, minted: 4_500 };
const mintedIsRevokedIn = 4_000;
const shortestReach = 1_500;

/**
 * After main and post no key of the step is alive if `revoke-in-post` is on, post has a credential that the service accepts,
 * the service can be reached for 5 of post's 20 s, and no `Retry-After` ends after them. Else post reports its id or name.
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
    else if (post.exit !== 'killed' && post.exit !== 'hung') {
      if (wasCreatedTooLate(run, step, key, post) || isThoughtGone(key, step, post)) continue;
      const named = new RegExp(`\\b${id}\\b`);
      // A warning about a create that may still be carried out does not answer for a key that the search was due to find.
      const alarms = post.texts('warning', 'error').filter((text) => !text.includes('may still be created'));
      const isReported = alarms.some((text) => text.includes(name) || named.test(text));
      if (!isReported) yield `key ${id} is alive and not reported`;
      else if (expects.revokes && couldRevoke(run, step, key, post))
        yield `key ${id} is alive, although post could have revoked it`;
    }
  }
}

/** After the last search that was due. A post that ends earlier answers for the rest of its time, too. */
function wasCreatedTooLate({ stage }: Run, step: StepRecord, key: ApiKey, { startedAt, sent }: ProcessRecord): boolean {
  const before = searchEndsBefore[parentInPost(step) === undefined ? 'minted' : 'parent'];
  const searchIsDueUntil = startedAt + postTimeout - before - 2 * stage.tripMs - stage.slackMs;
  // A whole list shows the keys of the time when its request arrived.
  const lastWholeListAt = sent.findLast(({ keyList }) => keyList === 'whole')?.at ?? 0;
  // A search that took until its due end was the last. If the deadline cut its request, the list before it counts.
  const wasCut = ({ endpoint, response, error = 'given up' }: SentRequest) =>
    endpoint === 'list-keys' && response === undefined && error.includes('given up');
  const lastSearchEndedAt = sent.findLast((one) => one.keyList === 'whole' || wasCut(one))?.endedAt ?? 0;
  const isLast = lastSearchEndedAt >= searchIsDueUntil;
  return creationOf(key) > (isLast ? Math.min(searchIsDueUntil, lastWholeListAt) : searchIsDueUntil);
}

/** As the contract allows: by a DELETE and its repetition, or by a 401 that post could not check without the parent key. */
function isThoughtGone({ id, key }: ApiKey, step: StepRecord, post: ProcessRecord): boolean {
  const gets401 = post.sent.some(({ authorization, status }) => authorization === `Bearer ${key}` && status === 401);
  return post.believesGone(id) || (parentInPost(step) === undefined && gets401);
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
  if (post.crash !== undefined || post.runnerFailed || isToldToWait || isProxyClosed || post.hasIncompleteKeyList)
    return false;
  const parent = parentInPost(step);
  const credentials = run.stage.keys().filter(({ key }) => step.state.includes(key) || `Bearer ${key}` === parent);
  const isAccepted = credentials.some((key) => isAliveAt(key, post.endedAt) && !isRejected(key, post));
  return isAccepted && isReachable(run, step, post, creationOf(left));
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

function isReachable(run: Run, step: StepRecord, post: ProcessRecord, from: number): boolean {
  // The minted key searches first, and revokes itself at the end.
  const isSearching = /"mayHaveStrayKey":true/.test(step.state) && /"minted"/.test(step.state);
  const lastPart = post.startedAt + postTimeout - mintedIsRevokedIn;
  const isReachableAtEnd = !isSearching || longestReach(run, post, lastPart) >= shortestReach + run.stage.slackMs;
  return isReachableAtEnd && longestReach(run, post, from) >= exchangeTimeout + run.stage.slackMs;
}

/** The longest time without a fault or a `Retry-After` that post had, or would have had. */
function longestReach({ plan, stage }: Run, post: ProcessRecord, since: number): number {
  const end = post.startedAt + postTimeout;
  const troubles = post.sent
    .filter(({ isFaulty }) => isFaulty)
    .map((sent) => ({ from: sent.at, to: (sent.endedAt ?? post.endedAt) + (sent.retryAfter ?? 0) }));
  troubles.push(...plan.outages);
  // The effect of an endless fault on requests that post did not send is unknown.
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
