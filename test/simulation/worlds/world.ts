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
  /** A request for one operation takes so long, and shows the state at its end. */
  readonly singleSeconds: number;
  /** Default: 60. */
  readonly timeoutSeconds?: number;
  /** The `Date` of a response is ahead of the times in the records. */
  readonly dateAheadSeconds?: number;
  /** The n-th request gets a 503, or the n-th one for a second page. */
  readonly fails?: { readonly what: 'request' | 'second page'; readonly nth: number };
}

export interface Life {
  readonly begins: number;
  readonly ends: number;
  readonly isGood: boolean;
  /** Index of the operation that it follows. */
  readonly follows: number | undefined;
  readonly lags: readonly number[];
}

/** When each operation begins and ends, in milliseconds. */
export function livesOf({ operations }: World): Life[] {
  const lives: Life[] = [];
  for (const { begins, lasts, ends, lags } of operations) {
    const follows = typeof begins === 'number' ? undefined : begins.after;
    const from = typeof begins === 'number' ? begins * 1_000 : (lives[begins.after]?.ends ?? 0);
    // No two operations begin in the same millisecond, so the order of the list is that of their times.
    const began = from - operations.length + lives.length;
    const isGood = ends === 'finished';
    lives.push({ begins: began, ends: from + lasts * 1_000, isGood, follows, lags: lags.map((lag) => lag * 1_000) });
  }
  return lives;
}

/** Milliseconds by which this read of the list is behind. */
export function lagOf({ lags }: Life, read: number): number {
  return lags[Math.min(read, lags.length - 1)] ?? 0;
}
