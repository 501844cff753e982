// All times are in milliseconds. The contract promises these four.

/** The timeout is short, because after a cancellation all remaining steps share 5 minutes. */
export const totalTimeout = 20_000;
/** The timeout of one request. A second attempt fits into the 20 s of the post step. */
export const requestTimeout = 5_000;
/** A key of less than this age can be missing on a replica that lags. */
export const youngAge = 60_000;
/** A young key counts as gone only after it has been missing for this long. */
export const minAbsence = 10_000;

// The contract does not promise the following times. `npm run simulate` checks that they are long enough.

/** The pauses between rounds. */
const roundPauses = { firstMs: 250, maxMs: 2_000 };
/** After a failure, pauses get shorter near the end of a phase, but not shorter than this. */
const minPause = 250;
/** Time reserved to revoke the minted key. A request is given up after half of this time, so a second one fits. */
export const timeForMinted = 4_000;
/** The time between the last planned round and the end of a search. If that round fails, it is repeated in this time. */
export const lastRoundBeforeEnd = { ofMinted: 500, ofParent: 1_500 };

/** How long the revocation of the minted key may take. Up to half of the time after `retryAfterMs` is left for a later search. */
export function timeForRevocation(remaining: number, retryAfterMs: number, isSearchedAfter: boolean): number {
  if (!isSearchedAfter) return remaining;
  return Math.min(remaining, retryAfterMs + Math.max(timeForMinted, (remaining - retryAfterMs) / 2));
}

export interface Progress {
  readonly rounds: number;
  readonly hasFailed: boolean;
  /** The time until the end of the phase. */
  readonly remaining: number;
  readonly retryAfterMs: number;
  /** The time between the last round and the end of the phase. If infinite, the first successful round ends the phase. */
  readonly lastRoundBeforeEnd: number;
}

/** Returns the time until the next round of a phase, or undefined after the last round. `random` is from 0 to 1. */
export function pauseBeforeRound(progress: Progress, random: number): number | undefined {
  const { rounds, hasFailed, remaining, retryAfterMs } = progress;
  if (retryAfterMs > remaining) return undefined;
  if (rounds === 0) return retryAfterMs;
  const untilLastRound = remaining - progress.lastRoundBeforeEnd;
  if (!hasFailed && untilLastRound <= 0) return undefined;
  let pause = backoff(rounds, roundPauses, 0.5 + random / 2);
  if (hasFailed) pause = Math.min(pause, remaining / 4);
  if (untilLastRound > 0) pause = Math.min(pause, untilLastRound);
  return Math.max(minPause, pause, retryAfterMs);
}

/** Returns `share` (0 to 1) of a maximum that doubles with each attempt. */
function backoff(attempts: number, { firstMs, maxMs }: typeof roundPauses, share: number): number {
  return share * Math.min(maxMs, firstMs * 2 ** (attempts - 1));
}
