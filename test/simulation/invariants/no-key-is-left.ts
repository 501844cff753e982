import type { ApiKey } from '../../control-plane/index.js';
import { output, type ProcessRecord, type Run, type Sent, type StepRecord } from '../record.js';
import { retryAfterOf } from '../retry-after.js';
import {
  asksForPatience,
  bornAt,
  diedAt,
  isAliveAt,
  isIncompleteKeyList,
  isKeyList,
  isRefusal,
  isTold,
  keysOf,
  wasFaulty,
  wasSaidToBeGone,
} from '../truth.js';

const postTakes = 20_000;
const reachableFor = 5_000;
const reachableAtTheEnd = 1_500;
/** Where a create was unclear, post looks until its time is nearly over; where only the key that looks is left, it goes then. */
const looksUntil = 18_400;
const mintedLooksUntil = 15_500;
const mintedGoesAt = 16_000;

/**
 * After main and post, no key made by the run is alive where post had a credential that the service accepts, revoke-in-post
 * was on, the API could be reached for 5 of post's 20 seconds and no Retry-After forbade it; else the user was told its id or
 * name.
 */
export function noKeyIsLeft(run: Run): string[] {
  return run.steps.flatMap((step) => {
    const { main, post, plan } = step;
    const { expects } = plan;
    if (expects.mode !== 'create-key') return [];
    // What is handed on on purpose stays; all else is nobody's.
    const kept = expects.revokes ? undefined : output(main, 'key-id');
    const end = post?.endedAt ?? main.endedAt;
    // A post that ends before its time answers for what comes after it, too.
    const left = keysOf(run, step).filter(
      (key) => diedAt(key) > end + 0.01 && key.id !== kept && !wasTooLate(run, step, key, post),
    );
    if (post === undefined) return left.map(({ id }) => `key ${id} is alive, and post had nothing to do`);
    if (post.exit === 'killed' || post.exit === 'hung') return [];
    return left.flatMap((key) => {
      if (isBelievedGone(key, step, post)) return [];
      if (!isTold(post, key)) return [`key ${key.id} is alive, and nobody was told`];
      return expects.revokes && couldRevoke(run, step, key, post)
        ? [`key ${key.id} is alive, though post could have revoked it`]
        : [];
    });
  });
}

/** Made after the last look that was due. */
function wasTooLate({ stage }: Run, step: StepRecord, key: ApiKey, post: ProcessRecord | undefined): boolean {
  if (post === undefined) return false;
  const due = post.startedAt + (hasParent(step, post) ? looksUntil : mintedLooksUntil) - 2 * stage.tripMs;
  // A look that took until then was the last that there was time for. A whole one shows what was when it came to the service;
  // where it was cut, what the one before it has shown stands.
  const last = post.sent.findLast((sent) => isKeyList(sent) || isCutLook(sent));
  const seen = post.sent.findLast(isKeyList)?.at ?? 0;
  const until = last !== undefined && (last.endedAt ?? 0) >= due ? Math.min(due, seen) : due;
  return bornAt(key) > until;
}

/** The time was up while its answer was awaited. */
function isCutLook({ endpoint, broken }: Sent): boolean {
  return endpoint === 'list-keys' && broken === 'The exchange was given up';
}

/** As the contract believes it: by a DELETE and its repetition, or by a 401 that nobody could check. */
function isBelievedGone(key: ApiKey, step: StepRecord, post: ProcessRecord): boolean {
  if (wasSaidToBeGone(key.id, post.sent)) return true;
  const own = `Bearer ${key.key}`;
  return (
    !hasParent(step, post) &&
    post.sent.some(({ authorization, answer }) => authorization === own && answer?.status === 401)
  );
}

function parentOf({ main }: StepRecord): string {
  return main.sent[0]?.authorization ?? '';
}

function hasParent(step: StepRecord, post: ProcessRecord): boolean {
  const { inputs, environment } = step.plan.post;
  const parent = parentOf(step);
  return (
    post !== undefined && [inputs['api-key'], environment['CTL_API_KEY']].some((key) => `Bearer ${key}` === parent)
  );
}

/** A 404 on a DELETE says nothing of the one who asks. */
function isUnknownKey({ method, answer }: Sent): boolean {
  return method === 'DELETE' && answer?.status === 404;
}

function couldRevoke(run: Run, step: StepRecord, left: ApiKey, post: ProcessRecord): boolean {
  const { stage } = run;
  if (post.crash !== undefined || post.runnerFailed) return false;
  if (post.sent.some((sent) => retryAfterOf(sent) !== undefined)) return false;
  // What an incomplete list does not show cannot be found.
  if (post.sent.some(isIncompleteKeyList)) return false;
  // A proxy that wants a login is final.
  if (post.sent.some(({ broken }) => broken?.includes('407'))) return false;
  // A service that says no to a key does not accept it.
  if (post.sent.some((sent) => isRefusal(sent) && !asksForPatience(sent) && !isUnknownKey(sent))) return false;
  const minted = keysOf(run, step).find(({ key }) => step.state.includes(key));
  const parent = stage.keys().find(({ key }) => `Bearer ${key}` === parentOf(step));
  const isAccepted = [minted, hasParent(step, post) ? parent : undefined].some(
    (key) => key !== undefined && isAliveAt(key, post.endedAt),
  );
  return isAccepted && isReachable(run, step, post, bornAt(left));
}

function isReachable(run: Run, step: StepRecord, post: ProcessRecord, born: number): boolean {
  // The key that looks for others goes last, and needs some of the end of the time.
  const isLooking = /"mayHaveStrayKey":true/.test(step.state) && /"minted"/.test(step.state);
  const looks = isLooking ? longestReach(run, post, post.startedAt + mintedGoesAt) >= reachableAtTheEnd : true;
  return looks && longestReach(run, post, born) >= reachableFor;
}

/** The longest time without a fault that post had, or would have had. */
function longestReach({ plan, stage }: Run, post: ProcessRecord, since: number): number {
  const from = Math.max(post.startedAt, since);
  const to = post.startedAt + postTakes;
  const isEndless = plan.faults.some(({ nth, count }) => nth === undefined && count === undefined);
  const troubles = [
    ...post.sent.filter(wasFaulty).map((sent): [number, number] => [sent.at, endOf(sent, post)]),
    ...plan.outages.map((outage): [number, number] => [outage.from, outage.to]),
    // What a fault without an end would have done to a request that was never sent is not known.
    ...(isEndless ? [[post.endedAt, to] as [number, number]] : []),
  ].sort(([one], [other]) => one - other);
  let longest = 0;
  let free = from;
  for (const [begin, end] of troubles) {
    longest = Math.max(longest, Math.min(begin, to) - free - 4 * stage.tripMs);
    free = Math.max(free, end);
  }
  return Math.max(longest, to - free - 4 * stage.tripMs);
}

function endOf({ endedAt }: Sent, post: ProcessRecord): number {
  return endedAt ?? post.endedAt;
}
