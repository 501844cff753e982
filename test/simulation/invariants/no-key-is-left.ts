import type { ApiKey } from '../../control-plane/index.js';
import { output, type ProcessRecord, parentOf, type Run, type SentRequest, type StepRecord } from '../record.js';
import {
  creationOf,
  idOfDelete,
  isAliveAt,
  isBelievedGone,
  isFaulty,
  isIncompleteKeyList,
  isRejection,
  isReported,
  isThrottled,
  isWholeKeyList,
  keysOf,
  postTimeout,
  retryAfterOf,
  revocationOf,
} from '../truth.js';

/** A promise of the contract. */
const exchangeTimeout = 5_000;
/** The search goes on "until the time is nearly over". The minted key ends its search earlier, to revoke itself. */
const searchEndsBefore = { parent: 1_600, minted: 4_500 };
const mintedIsRevokedIn = 4_000;
const shortestReach = 1_500;

/**
 * After main and post no key of the step is alive if `revoke-in-post` is on, post has a credential that the service accepts,
 * the service can be reached for 5 of post's 20 s, and no `Retry-After` ends after them. Else post reports its id or name.
 */
export function noKeyIsLeft(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const { main, post, plan } = step;
    const { expects } = plan;
    if (expects.mode !== 'create-key') return [];
    const kept = expects.revokes ? undefined : output(main, 'key-id');
    const end = post?.endedAt ?? main.endedAt;
    const left = keysOf(run, step).filter(
      (key) => revocationOf(key) > end + 0.01 && key.id !== kept && !(post && wasCreatedTooLate(run, step, key, post)),
    );
    if (post === undefined) return left.map(({ id }) => `key ${id} is alive, and there was no post step`);
    if (post.exit === 'killed' || post.exit === 'hung') return [];
    return left.flatMap((key) => {
      if (isThoughtGone(key, step, post)) return [];
      if (!isReported(post, key)) return [`key ${key.id} is alive and not reported`];
      return expects.revokes && couldRevoke(run, step, key, post)
        ? [`key ${key.id} is alive, although post could have revoked it`]
        : [];
    });
  });
}

/** After the last search that was due. A post that ends earlier answers for the rest of its time, too. */
function wasCreatedTooLate({ stage }: Run, step: StepRecord, key: ApiKey, post: ProcessRecord): boolean {
  const before = searchEndsBefore[parentInPost(step) === undefined ? 'minted' : 'parent'];
  const due = post.startedAt + postTimeout - before - 2 * stage.tripMs - stage.slackMs;
  // A search that took until then was the last. A whole list shows the keys of the time when its request arrived. If the
  // deadline cut the request, the list before it counts.
  const last = post.sent.findLast((sent) => isWholeKeyList(sent) || isCutSearch(sent));
  const seen = post.sent.findLast(isWholeKeyList)?.at ?? 0;
  const until = last !== undefined && (last.endedAt ?? 0) >= due ? Math.min(due, seen) : due;
  return creationOf(key) > until;
}

function isCutSearch({ endpoint, response, error }: SentRequest): boolean {
  return endpoint === 'list-keys' && response === undefined && (error?.includes('given up') ?? true);
}

/** As the contract allows: by a DELETE and its repetition, or by a 401 that post could not check without the parent key. */
function isThoughtGone({ id, key }: ApiKey, step: StepRecord, post: ProcessRecord): boolean {
  const gets401 = post.sent.some((sent) => sent.authorization === `Bearer ${key}` && sent.response?.status === 401);
  return isBelievedGone(id, post.sent) || (parentInPost(step) === undefined && gets401);
}

/** The header of the parent key, if post has that key. */
function parentInPost(step: StepRecord): string | undefined {
  const { inputs, environment } = step.plan.post;
  const keys = [inputs['api-key'], environment['CTL_API_KEY']].map((key) => `Bearer ${key}`);
  return keys.find((key) => key === parentOf(step));
}

function couldRevoke(run: Run, step: StepRecord, left: ApiKey, post: ProcessRecord): boolean {
  const end = post.startedAt + postTimeout;
  const isToldToWait = post.sent.some((sent) => (sent.endedAt ?? 0) + (retryAfterOf(sent) ?? 0) > end);
  const isProxyClosed = post.sent.some(({ error }) => error?.includes('407'));
  if (post.crash !== undefined || post.runnerFailed || isToldToWait || isProxyClosed) return false;
  // A search cannot find a key that an incomplete list does not show.
  if (post.sent.some(isIncompleteKeyList)) return false;
  const parent = parentInPost(step);
  const credentials = run.stage.keys().filter(({ key }) => step.state.includes(key) || `Bearer ${key}` === parent);
  const isAccepted = credentials.some((key) => isAliveAt(key, post.endedAt) && !isRejected(key, post));
  return isAccepted && isReachable(run, step, post, creationOf(left));
}

/** A 404 for the DELETE of another key is about that key. For its own id the contract counts it as a rejection. */
function isRejected({ id, key }: ApiKey, { sent }: ProcessRecord): boolean {
  return sent.some(
    (one) =>
      one.authorization === `Bearer ${key}` &&
      isRejection(one) &&
      !isThrottled(one) &&
      !(one.method === 'DELETE' && one.response?.status === 404 && idOfDelete(one) !== id),
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
  // The effect of an endless fault on requests that post did not send is unknown.
  const isEndless = plan.faults.some(({ nth, count }) => nth === undefined && count === undefined);
  const troubles = [
    ...post.sent.filter(isFaulty).map((sent) => {
      const ended = sent.endedAt ?? post.endedAt;
      return [sent.at, ended + (retryAfterOf(sent) ?? 0)] as const;
    }),
    ...plan.outages.map(({ from, to }) => [from, to] as const),
    ...(isEndless ? [[post.endedAt, end] as const] : []),
  ].sort(([one], [other]) => one - other);
  let longest = 0;
  let free = Math.max(post.startedAt, since);
  for (const [from, to] of [...troubles, [end, end] as const]) {
    longest = Math.max(longest, Math.min(from, end) - free - 4 * stage.tripMs);
    free = Math.max(free, to);
  }
  return longest;
}
