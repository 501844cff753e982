import { type KeyWorld, plain, type WorldOutage, type Wrong, wrongs } from './world.js';

/** All combinations of its values are searched, each with one fault, one outage or one kill, and with none. */
export interface Bound {
  readonly worlds: { readonly [F in keyof KeyWorld]?: readonly NonNullable<KeyWorld[F]>[] };
  readonly faults?: readonly Wrong[];
  readonly outages?: readonly WorldOutage[];
  readonly kills?: boolean;
}

const ages = [0, 1, 3, 6, 9, 10, 13];
const lags = { unknown: [0, 2, 4, 8], accepted: [0, 3, 8], copies: ['all', 'odd', 'even'] } as const;
const replies = { says: ['revoked', 'nothing'], again: [200, 404] } as const;
const either = [true, false];
const clocks = ['runner ahead', 'runner behind', 'no date', 'runner jumps', 'service jumps'] as const;
const faults = wrongs.filter((what) => what !== 'id of another');

function outagesOf(
  answer: WorldOutage['answer'],
  part: 'main' | 'post',
  froms: readonly number[],
  lengths: readonly number[],
) {
  return froms.flatMap((from) => lengths.map((seconds) => ({ part, from, seconds, answer })));
}

const everySecond = Array.from({ length: 20 }, (_, index) => index - 1);

/** These take seconds, those of `nightly` minutes. */
export const small = {
  'a key of each age, and copies that lag': {
    worlds: { age: ages, ...lags, hasParent: either, says: ['nothing'], jitter: [0, 0.99] },
  },
  'one fault': {
    worlds: { age: [0, 13], unknown: [0, 8], accepted: [0, 8], hasParent: either, says: ['nothing'] },
    faults,
  },
  'a kill': { worlds: { age: [0, 13], unknown: [0, 8], hasParent: either, isKept: either }, kills: true },
  'an outage that answers 401 to all': {
    worlds: { age: [1, 13], unknown: [0, 8], hasParent: either, jitter: [0, 0.99] },
    outages: outagesOf('401', 'post', [-1, 0, 3, 9, 10], [0.5, 2, 8]),
  },
  'clocks that are wrong': {
    worlds: { age: [0, 6], unknown: [0, 8], hasParent: either, clocks },
    faults: ['lost before'],
  },
} satisfies Record<string, Bound>;

export const nightly = {
  'a key of each age, and copies that lag': {
    worlds: {
      age: Array.from({ length: 27 }, (_, half) => half / 2),
      unknown: [0, 1, 2, 3, 4, 5, 6, 7, 8],
      accepted: [0, 2, 4, 6, 8],
      copies: lags.copies,
      hasParent: either,
      ...replies,
      jitter: [0, 0.5, 0.99],
    },
  },
  'one fault': { worlds: { age: ages, ...lags, hasParent: either, ...replies }, faults },
  'one fault, and revoked keys that stay listed': {
    worlds: { age: [0, 6, 13], ...lags, ...replies, listsRevoked: [true] },
    faults,
  },
  'one fault, and clocks that are wrong': {
    worlds: {
      age: [0, 3, 6, 9, 13],
      unknown: [0, 8],
      accepted: [0, 8],
      copies: lags.copies,
      hasParent: either,
      says: ['nothing'],
      clocks,
    },
    faults: ['lost before', 'lost after', 'late 12', '502', '404'],
  },
  'one fault, and keys that are revoked between main and post': {
    worlds: {
      age: [0, 6, 13],
      unknown: [0, 8],
      accepted: [0, 8],
      copies: lags.copies,
      hasParent: either,
      ...replies,
      between: ['minted key revoked', 'parent key revoked', 'all keys revoked'],
    },
    faults,
  },
  'a kill': {
    worlds: { age: ages, ...lags, hasParent: either, ...replies, isKept: either },
    kills: true,
  },
  'an outage that answers 401 to all': {
    worlds: {
      age: ages,
      unknown: [0, 8],
      accepted: [0, 3, 8],
      hasParent: either,
      again: replies.again,
      jitter: [0, 0.5, 0.99],
    },
    outages: [
      ...outagesOf('401', 'main', [0], [0.5, 2, 8]),
      ...outagesOf('401', 'post', everySecond, [0.5, 1, 2, 4, 8]),
    ],
  },
  'an outage of the gateway': {
    worlds: {
      age: [0, 3, 9, 13],
      unknown: [0, 8],
      accepted: [0, 8],
      hasParent: either,
      says: ['nothing'],
      jitter: [0, 0.99],
    },
    outages: ['502', '403', '404', 'page 404', 'lost before', 'silent', '429'].flatMap((answer) => [
      ...outagesOf(answer as Wrong, 'main', [0], [0.5, 2, 8]),
      ...outagesOf(answer as Wrong, 'post', [-1, 0, 1, 3, 6, 9, 12, 15], [0.5, 2, 8]),
    ]),
  },
} satisfies Record<string, Bound>;

export function* worldsOf({ worlds }: Bound): Generator<KeyWorld> {
  for (const world of choicesOf(Object.entries(worlds), plain)) {
    // Copies that do not lag are all alike.
    if (world.unknown > 0 || world.accepted > 0 || world.copies === 'all') yield world;
  }
}

function* choicesOf([first, ...rest]: [string, readonly unknown[]][], world: KeyWorld): Generator<KeyWorld> {
  if (first === undefined) return yield world;
  const [field, values] = first;
  for (const value of values) yield* choicesOf(rest, { ...world, [field]: value });
}
