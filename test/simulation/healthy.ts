import type { Of } from './plan.js';
import type { ProcessRecord, Run, SentRequest, StepRecord } from './record.js';
import { maxLag, removalOf } from './truth.js';

/**
 * A world in which a wait may not end red by itself. It may have troubles: failed, hanging and damaged requests, outages, a
 * limiter, a 423 or 429, copies of the data. But they are over in time. The contract has a wider limit for each of these.
 */
const limits = {
  /** A project has its first usable response so long after the first request, the last 423 or 429, or the end of its hold. */
  silenceMs: 50_000,
  /** A 4xx that says no is not the only response about an operation or a list for so long, if there are three of them. */
  rejectionsMs: 9_000,
  rejections: 3,
  /** The first read reaches the end of the list. */
  operations: 1_000,
};

/** A 429 without `Retry-After` holds all requests so long, and the random time after a hold is at most `jitterMs`. */
const usualHoldMs = 1_000;
const jitterMs = 15_000;

export function isHealthy(
  { stage, plan }: Run,
  { main, plan: step }: StepRecord,
  expects: Of<'wait-operation'>,
): boolean {
  const { ids, projectIds } = expects;
  const isInterrupted = main.signalledAt !== undefined || !main.endedByItself || step.runnerFault !== undefined;
  const operations = stage.operations.filter((one) => projectIds.includes(one.projectId));
  const exist =
    projectIds.every((id) => (stage.listedOperations(id)?.length ?? Number.POSITIVE_INFINITY) <= limits.operations) &&
    operations.every((one) => removalOf(one) === Number.POSITIVE_INFINITY) &&
    (ids === 'all' || ids.every((id) => stage.operation(id) !== undefined));
  return (
    !isInterrupted &&
    exist &&
    stage.lags.operations <= maxLag &&
    stage.plane.notShown.lastPageCursor !== 'repeated' &&
    !plan.outages.some(({ to }) => to === Number.POSITIVE_INFINITY) &&
    projectIds.every((id) => answersInTime(main, id)) &&
    !isRejected(main)
  );
}

/** When the last trouble of the step was over, with the hold that it caused. */
export function troublesEnd({ sent, startedAt, endedAt: end }: ProcessRecord): number {
  const troubled = sent.filter(({ isUsable, fault }) => !isUsable || fault !== undefined);
  return Math.max(startedAt, ...troubled.map((one) => holdEnd(one, end)));
}

function holdEnd({ status, retryAfter, endedAt }: SentRequest, end: number): number {
  if (endedAt === undefined) return end;
  if (status !== 429) return endedAt + (retryAfter ?? 0);
  const hold = retryAfter ?? usualHoldMs;
  return endedAt + hold + Math.min(jitterMs, Math.max(usualHoldMs, hold / 4));
}

function answersInTime({ sent, endedAt: end }: ProcessRecord, projectId: string): boolean {
  const ofProject = sent.filter((one) => one.projectId === projectId);
  const first = ofProject.find(({ isUsable }) => isUsable)?.endedAt ?? end;
  const isThrottled = ({ status }: SentRequest) => status === 423 || status === 429;
  const holds = sent.filter((one) => isThrottled(one) && (one.endedAt ?? end) <= first).map((one) => holdEnd(one, end));
  return first - Math.max(ofProject[0]?.at ?? 0, ...holds) < limits.silenceMs;
}

function isRejected({ sent }: ProcessRecord): boolean {
  const streaks = new Map<string, SentRequest[]>();
  return sent.some((one) => {
    const subject = one.list;
    if (one.isUsable) streaks.delete(subject);
    if (!one.isPermanent || (one.status < 400 && !one.error?.includes('407'))) return false;
    const streak = [...(streaks.get(subject) ?? []), one];
    streaks.set(subject, streak);
    const ms = (one.endedAt ?? 0) - (streak[0]?.endedAt ?? 0);
    return streak.length >= limits.rejections && ms >= limits.rejectionsMs;
  });
}

/** A key in the eyes of post. Times are milliseconds of the run. */
export interface KeyOfPost {
  readonly createdAt: number;
  readonly revokedAt: number;
  /** When post began. */
  readonly beganAt: number;
  /** When the last trouble of post was over. */
  readonly troublesEnd: number;
  /** Copies do not know a new key for so long, and still accept and list a revoked one. */
  readonly unknownMs: number;
  readonly acceptedMs: number;
  readonly tripMs: number;
}

/**
 * Post may raise no alarm about a key if it could prove its end in time. The key is 0 to 13 s old, copies lag by 8 s, and what
 * troubles post is over early enough. A key is old after 10 s; a `Date` has no milliseconds, so it may seem younger by a second.
 */
export const oldMs = 11_000;
const post = { longestPauseMs: 2_100, absenceMs: 10_000, mintedMs: 19_500, straysMs: 18_000 };

/** Between two questions: a pause, and the requests with both keys. */
const pauseOf = ({ tripMs }: KeyOfPost) => post.longestPauseMs + 4 * tripMs;

/** By then a DELETE has reached a copy that knows the key. */
function deletionOf(key: KeyOfPost): number {
  const { createdAt, revokedAt, beganAt, troublesEnd, unknownMs } = key;
  return Math.min(Math.max(beganAt, createdAt + unknownMs, troublesEnd) + pauseOf(key), revokedAt);
}

/** `isConfirmed`: a DELETE had a 2xx, or the parent key can ask. Otherwise the key must get 401 for 10 s. */
export function isProvableInPost(key: KeyOfPost, isConfirmed: boolean): boolean {
  const { createdAt, acceptedMs, troublesEnd, beganAt } = key;
  const rejectedFrom = Math.max(deletionOf(key) + acceptedMs, createdAt + oldMs, beganAt, troublesEnd);
  const rest = isConfirmed ? 0 : post.absenceMs + pauseOf(key);
  return rejectedFrom + pauseOf(key) + rest <= beganAt + post.mintedMs;
}

/** `isSaid`: the response to a DELETE says that the key is revoked. Otherwise lists must lack it for 10 s. */
export function isStrayProvable(key: KeyOfPost, isSaid: boolean): boolean {
  const { acceptedMs, troublesEnd, beganAt } = key;
  const deletedAt = Math.max(deletionOf(key), beganAt, troublesEnd) + pauseOf(key);
  const rest = isSaid ? 0 : acceptedMs + post.absenceMs + pauseOf(key);
  return deletedAt + rest <= beganAt + post.straysMs;
}

/** Whether post can find the key of a lost create before it stops to look. */
export function isFoundInPost(key: KeyOfPost): boolean {
  const { createdAt, beganAt, troublesEnd, unknownMs } = key;
  return Math.max(beganAt, createdAt + unknownMs, troublesEnd) + pauseOf(key) <= beganAt + post.straysMs;
}
