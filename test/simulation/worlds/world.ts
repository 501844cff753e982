import type { Life as Owed } from '../owed.js';

/** One operation. Times are seconds; the step starts at 0. */
export interface WorldOperation {
  /** A follow-up begins when the operation with that index ends. */
  readonly begins: number | { readonly after: number };
  readonly lasts: number;
  readonly ends: 'finished' | 'failed';
  /** The n-th read of the list shows it as it was so long ago. The last number is valid for all later reads. */
  readonly lags: readonly number[];
}

/** One project, as it is in truth, and as the service shows it. A follow-up stands behind the operation that it follows. */
export interface World {
  readonly operations: readonly WorldOperation[];
  readonly pageSize: number;
  /** Default: 60. */
  readonly timeoutSeconds?: number;
  /** The `Date` of a response is ahead of the times in the records. */
  readonly dateAheadSeconds?: number;
  /** The n-th request gets a 503, or the n-th one for a second page. */
  readonly fails?: { readonly what: 'request' | 'second page'; readonly nth: number };
}

export interface Life extends Omit<Owed, 'listedFrom'> {
  readonly isGood: boolean;
  readonly lags: readonly number[];
}

const idOf = (index: number) => `00000000-0000-4000-8000-00000000000${index}`;

/** When each operation begins and ends, in milliseconds. */
export function livesOf({ operations }: World): Life[] {
  const lives: Life[] = [];
  for (const { begins, lasts, ends, lags } of operations) {
    const follows = typeof begins === 'number' ? undefined : idOf(begins.after);
    const from = typeof begins === 'number' ? begins * 1_000 : (lives[begins.after]?.ends ?? 0);
    // No two operations begin in the same millisecond, so the order of the list is that of their times.
    const began = from - operations.length + lives.length;
    const isGood = ends === 'finished';
    const times = { begins: began, ends: from + lasts * 1_000, lags: lags.map((lag) => lag * 1_000) };
    lives.push({ id: idOf(lives.length), ...times, isGood, follows });
  }
  return lives;
}

/** Milliseconds by which this read of the list is behind. */
export function lagOf({ lags }: Life, read: number): number {
  return lags[Math.min(read, lags.length - 1)] ?? 0;
}
