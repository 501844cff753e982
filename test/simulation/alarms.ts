import { names } from './truth.js';

// When post may raise an alarm. Times are milliseconds of the run.

/** A key in the eyes of post. */
export interface KeyOfPost {
  readonly id: string;
  readonly createdAt: number;
  readonly revokedAt: number;
}

/** A post step, and what the world did to it. */
export interface PostWorld {
  readonly beganAt: number;
  /** When the last trouble of post was over. */
  readonly troublesEnd: number;
  /** A 2xx to a DELETE had no effect. That is seen when the key is old enough to be asked. */
  readonly isMisled: boolean;
  /** Copies do not know a new key for so long, and still accept and list a revoked one. */
  readonly unknownMs: number;
  readonly acceptedMs: number;
  readonly tripMs: number;
  readonly parent: 'valid' | 'revoked' | 'missing';
  readonly minted: KeyOfPost | undefined;
  /** A DELETE of the minted key had a 2xx. */
  readonly isAccepted: boolean;
  /** Keys of lost creates that lived when post began. */
  readonly strays: readonly KeyOfPost[];
  /** The response to a DELETE says that this stray is revoked. */
  readonly isSaid: (key: KeyOfPost) => boolean;
  /** Creates that may have made a key which main did not receive. `Infinity`: nobody can know how many. */
  readonly lost: number;
}

/**
 * Post may raise no alarm about a key if it could prove its end in time. The key is 0 to 13 s old, copies lag by 8 s, and what
 * troubles post is over early enough. A key is old after 10 s; a `Date` has no milliseconds, so it may seem younger by a second.
 */
const post = { oldMs: 11_000, longestPauseMs: 2_100, absenceMs: 10_000, mintedMs: 19_500, straysMs: 18_000 };

/** Whether the world gave post a reason for this alarm. */
export function isDue(alarm: string, world: PostWorld): boolean {
  const { minted, strays, isAccepted, parent, beganAt, unknownMs, acceptedMs, lost } = world;
  /** Between two questions: a pause, and the requests with both keys. */
  const pause = post.longestPauseMs + 4 * world.tripMs;
  const troublesEnd = ({ createdAt }: KeyOfPost) =>
    Math.max(beganAt, world.troublesEnd, world.isMisled ? createdAt + post.oldMs : 0);
  /** By then a request has reached a copy that knows the key. */
  const knownAt = (key: KeyOfPost) => Math.max(key.createdAt + unknownMs, troublesEnd(key)) + pause;
  const deletedAt = (key: KeyOfPost) => Math.min(knownAt(key), key.revokedAt);

  if (minted !== undefined && names(alarm, minted.id)) {
    // A parent key that is revoked proves nothing, and 401 for 10 s counts only without a parent key.
    if (parent === 'revoked' && !isAccepted) return true;
    const rejectedFrom = Math.max(deletedAt(minted) + acceptedMs, minted.createdAt + post.oldMs, troublesEnd(minted));
    // A 404 for the parent key counts only if the key still gets 401 after it.
    const rest = isAccepted ? 0 : parent === 'valid' ? pause : post.absenceMs + pause;
    return rejectedFrom + pause + rest > beganAt + post.mintedMs;
  }
  const isProvable = (key: KeyOfPost) => {
    const rest = world.isSaid(key) ? 0 : acceptedMs + post.absenceMs + pause;
    return Math.max(deletedAt(key), troublesEnd(key)) + pause + rest <= beganAt + post.straysMs;
  };
  const named = strays.filter(({ id }) => names(alarm, id));
  if (named.length > 0) return parent !== 'valid' || !named.every(isProvable);
  const isFound = (key: KeyOfPost) => knownAt(key) <= beganAt + post.straysMs;
  return (parent === 'valid' ? strays.filter(isFound).length : 0) < lost;
}
