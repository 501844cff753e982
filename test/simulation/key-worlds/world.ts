/** One request of main or of post goes wrong. `nth`: counted from 1. */
interface WorldFault {
  readonly part: 'main' | 'post';
  readonly nth: number;
  readonly what: Wrong;
}

export const wrongs = [
  /** The connection is cut, before or after the service carries the request out. */
  'lost before',
  'lost after',
  /** Silence. The service carries the request out never, at once, or so many seconds after the client gave it up. */
  'silent',
  'silent after',
  'late 3',
  'late 12',
  'late 45',
  /** A 2xx without content. The service carries the request out 4 s later, or never. */
  'accepted, late',
  'accepted, never',
  /** The service carries the request out, and the response is damaged. */
  'bad json',
  '502',
  '502 after',
  '429',
  '403',
  '404',
  'page 404',
  'page 502',
  /** The response to a create holds the id of a key of another. */
  'id of another',
] as const;
export type Wrong = (typeof wrongs)[number];

/** Every request gets this answer for a while. Seconds from the start of main or of post. */
export interface WorldOutage {
  readonly part: 'main' | 'post';
  readonly from: number;
  readonly seconds: number;
  readonly answer: Wrong | '401';
}

/** A job that makes a key, in truth, and as the service shows it. Times are seconds. */
export interface KeyWorld {
  /** Age of the key when post begins. */
  readonly age: number;
  /** A copy does not know a new key for so long, and still accepts and lists a revoked one. */
  readonly unknown: number;
  readonly accepted: number;
  /** The requests that such a copy answers. The others are answered by the truth. */
  readonly copies: 'all' | 'odd' | 'even';
  readonly hasParent: boolean;
  /** The body of the response to a DELETE. */
  readonly says: 'revoked' | 'nothing';
  /** The status of a DELETE for a key that was revoked before. */
  readonly again: 200 | 404;
  /** How long the pauses of the action are: 0 to 1. */
  readonly jitter: number;
  readonly isKept?: boolean;
  /** Lists show revoked keys, too, with `revoked: true`. */
  readonly listsRevoked?: boolean;
  readonly between?: 'minted key revoked' | 'parent key revoked' | 'all keys revoked';
  /** Ten minutes: both clocks are wrong all the time, or one jumps ahead between main and post. */
  readonly clocks?: 'runner ahead' | 'runner behind' | 'no date' | 'runner jumps' | 'service jumps';
  /** Main is killed just before its n-th message to the runner, or when its n-th request has arrived. */
  readonly killedAt?: { readonly what: 'message' | 'request'; readonly nth: number };
  /** A search has one of them at most. */
  readonly faults?: readonly WorldFault[];
  readonly outages?: readonly WorldOutage[];
}

export const plain: KeyWorld = {
  age: 13,
  unknown: 0,
  accepted: 0,
  copies: 'all',
  hasParent: true,
  says: 'revoked',
  again: 404,
  jitter: 0.5,
};
