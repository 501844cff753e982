import type { ApiKey } from '../../../control-plane/index.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from '../record.js';
import { creationOf, isAliveAt, names, revocationOf } from '../truth.js';

/**
 * Post may raise no alarm about a key if it could prove its end in time. The key is 0 to 13 s old, copies lag by 8 s, and what
 * troubles post is over early enough. A key is old after 10 s; a `Date` has no milliseconds, so it may seem younger by a second.
 */
const limits = { oldMs: 11_000, longestPauseMs: 2_100, absenceMs: 10_000, mintedMs: 19_500, straysMs: 18_000 };
/** A 429 holds all requests of post for its `Retry-After`, 2 s at most, and a random second more. */
const longestHoldMs = 3_000;

/** Post raises an alarm only if the world gave it a reason. */
export function* alarmsAreDue(step: StepRecord, run: Run): Generator<string> {
  const { post } = step;
  if (post === undefined || !post.endedByItself || post.crash !== undefined || post.alarms.length === 0) return;
  const isDue = reasonsOf(step, run, post);
  for (const alarm of post.alarms) if (!isDue(alarm)) yield `a false alarm: ${alarm}`;
}

function reasonsOf(step: StepRecord, { stage, plan }: Run, post: ProcessRecord): (alarm: string) => boolean {
  const { keys, main, parentInPost, minted: received } = step;
  const [minted] = received;
  const parent = stage.keys().find(({ key }) => parentInPost === `Bearer ${key}`);
  const hasParent = parent !== undefined && isAliveAt(parent, post.endedAt);
  const lag = stage.lags.keys;
  /** Between two questions: a pause, and the requests with both keys. */
  const pause = limits.longestPauseMs + 4 * stage.tripMs;
  const strays = keys.filter((key) => !received.includes(key) && revocationOf(key) > post.startedAt);

  // A list of keys that is not whole is of no use.
  const troubled = post.sent.filter(({ fault, isPartial }) => fault !== undefined || isPartial);
  const ends = troubled.map(
    (one) => (one.endedAt ?? post.endedAt) + (one.status === 429 || one.retryAfter ? longestHoldMs : 0),
  );
  const outages = plan.outages.filter(({ from, to }) => from < post.endedAt && to > post.startedAt);
  const troublesEnd = Math.max(post.startedAt, ...ends, ...outages.map(({ to }) => to));
  /** A 2xx to a DELETE had no effect. That is seen when the key is old enough to be asked. */
  const isMisled = post.sent.some((one) => one.deletedId !== undefined && isWrong(one));
  /** Main counts the age of its key from the end of the response that has it. */
  const receivedAt = Math.max(0, ...main.sent.map(({ method, endedAt = 0 }) => (method === 'POST' ? endedAt : 0)));
  const createdAt = (key: ApiKey) => Math.max(creationOf(key), key === minted ? receivedAt : 0);
  const undisturbedFrom = (key: ApiKey) => Math.max(troublesEnd, isMisled ? createdAt(key) + limits.oldMs : 0);
  /** By then a request has reached a copy that knows the key. */
  const knownAt = (key: ApiKey) => Math.max(createdAt(key) + lag, undisturbedFrom(key)) + pause;
  const deletedAt = (key: ApiKey) => Math.min(knownAt(key), revocationOf(key));

  function isMintedInDoubt(key: ApiKey): boolean {
    const accepted = post.deletesOf(key.id).find(({ isGood, isPage }) => isGood && !isPage);
    // A parent key that is revoked proves nothing, and 401 for 10 s counts only without a parent key.
    if (parent !== undefined && !hasParent && accepted === undefined) return true;
    const rejectedFrom = Math.max(
      deletedAt(key) + lag,
      createdAt(key) + limits.oldMs,
      undisturbedFrom(key),
      accepted?.endedAt ?? 0,
    );
    // A 404 for the parent key counts only if the key still gets 401 after it.
    const rest = accepted !== undefined ? 0 : hasParent ? pause : limits.absenceMs + pause;
    return rejectedFrom + pause + rest > post.startedAt + limits.mintedMs;
  }

  function isStrayInDoubt(key: ApiKey): boolean {
    const isSaid = post.deletesOf(key.id).some(({ json }) => json?.['revoked'] === true);
    const rest = isSaid ? 0 : lag + limits.absenceMs + pause;
    return Math.max(deletedAt(key), undisturbedFrom(key)) + pause + rest > post.startedAt + limits.straysMs;
  }

  return (alarm) => {
    if (minted !== undefined && names(alarm, minted.id)) return isMintedInDoubt(minted);
    const named = strays.filter(({ id }) => names(alarm, id));
    if (named.length > 0) return !hasParent || named.some(isStrayInDoubt);
    const found = strays.filter((key) => hasParent && knownAt(key) <= post.startedAt + limits.straysMs);
    return found.length < lostCreates(step, stage.revokedByOthers.size > 0) - received.length;
  };
}

/** A fault: a 2xx of the service that means nothing. */
const isWrong = ({ fault, isGood, isPage }: SentRequest) => fault === 'status' && isGood && !isPage;

/** Creates that may have made a key which main did not receive. `Infinity`: nobody can know how many. */
function lostCreates(step: StepRecord, hasOthers: boolean): number {
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
