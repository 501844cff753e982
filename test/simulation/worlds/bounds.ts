import type { World, WorldOperation } from './world.js';

/** What the worlds of a search may have. All of its combinations are searched. Times are seconds. */
export interface Bound {
  readonly operations: number;
  readonly begins: readonly number[];
  readonly lasts: readonly number[];
  readonly lags: readonly (readonly number[])[];
  readonly pageSizes: readonly number[];
  readonly timeoutSeconds?: number;
  readonly dateAheadSeconds?: number;
  /** Each request of each world fails once. */
  readonly faults?: boolean;
}

const constant = (...lags: number[]) => lags.map((lag) => [lag]);
const three = { operations: 3, begins: [-3_600, -2, 1], lasts: [0, 2], lags: constant(0, 4), pageSizes: [1, 2] };

/** These take seconds, those of `nightly` minutes. */
export const small = {
  'three operations': { ...three, begins: [-2, 1], lasts: [0, 4] },
  'two operations and dates that are ahead': {
    ...three,
    operations: 2,
    begins: [-3_600, -2, 1, 3],
    lasts: [0, 1, 3],
    dateAheadSeconds: 120,
  },
  'two operations at the deadline': {
    ...three,
    operations: 2,
    begins: [-2, 22, 24, 26, 29],
    lasts: [0, 2, 25],
    pageSizes: [1],
    timeoutSeconds: 30,
  },
  'two operations and a failed request': { ...three, operations: 2, pageSizes: [1], faults: true },
} satisfies Record<string, Bound>;

export const nightly = {
  ...small,
  'many of three operations': {
    ...three,
    begins: [-3_600, -2, 1, 3],
    lasts: [0, 1, 3],
    lags: constant(0, 1, 2, 3, 4),
  },
  'three operations and copies of the list that differ': {
    ...three,
    lags: [[0], [4], [4, 0, 4, 0, 4, 0, 4], [0, 4, 0, 4, 0, 4, 0]],
  },
  'three operations and a failed request': { ...three, faults: true },
} satisfies Record<string, Bound>;

/** All worlds of a bound but those of its faults. Only the last operation fails: after a failure nothing more happens. */
export function* worldsOf(bound: Bound): Generator<World> {
  const { pageSizes, timeoutSeconds, dateAheadSeconds } = bound;
  const times = { ...(timeoutSeconds && { timeoutSeconds }), ...(dateAheadSeconds && { dateAheadSeconds }) };
  for (const operations of choicesOf(bound, bound.operations))
    for (const pageSize of pageSizes) yield { operations, pageSize, ...times };
}

function* choicesOf(bound: Bound, count: number): Generator<readonly WorldOperation[]> {
  if (count === 0) return yield [];
  for (const earlier of choicesOf(bound, count - 1)) {
    const follows = earlier.map((_, after) => ({ after }));
    for (const begins of [...bound.begins, ...follows])
      for (const lasts of bound.lasts)
        for (const lags of bound.lags) {
          const ends = count === bound.operations ? 'failed' : 'finished';
          yield [...earlier, { begins, lasts, ends, lags }];
        }
  }
}
