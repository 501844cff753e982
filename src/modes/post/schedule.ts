import { backoff } from '../../http/retry.js';

/** Short, because after cancellation all remaining steps share 5 minutes. In milliseconds, a promise of the contract. */
export const totalTimeout = 20_000;
/** Short enough to retry a request within the post step's 20 s. In milliseconds, a promise of the contract. */
export const requestTimeout = 5_000;

// The following times are choices, checked by `npm run simulate`: late keys are found, and requests stay few.

/** The pauses between rounds, in milliseconds. */
const roundPauses = { firstMs: 250, maxMs: 2_000 };
/** The minimum pause, in milliseconds. After a failure, pauses get shorter near the end of the phase. */
const minPause = 250;
/** Milliseconds to revoke the minted key. If the first request hangs for half of this time, a second request still fits. */
const timeForMinted = 4_000;
/** Milliseconds between the last round and the end of a search. A failed last round can be repeated in this time. */
export const lastRoundBeforeEnd = { ofMinted: 500, ofParent: 1_500 };

/** Milliseconds for the search with the minted key. `remaining` is the time until the end of the post step. */
export function timeForFirstSearch(remaining: number, isRevokedAfter: boolean): number {
  return isRevokedAfter ? remaining - timeForMinted : remaining;
}

/**
 * Milliseconds to revoke the minted key. If the parent key searches afterwards, that search gets up to half of the time left
 * after `retryAfterMs`.
 */
export function timeForRevocation(remaining: number, retryAfterMs: number, isSearchedAfter: boolean): number {
  if (!isSearchedAfter) return remaining;
  return Math.min(remaining, retryAfterMs + Math.max(timeForMinted, (remaining - retryAfterMs) / 2));
}

export interface Progress {
  /** Number of rounds in this phase so far. */
  readonly rounds: number;
  /** True if the last round failed. */
  readonly hasFailed: boolean;
  /** Milliseconds until the end of the phase. */
  readonly remaining: number;
  /** Milliseconds until the longest `Retry-After` ends. */
  readonly retryAfterMs: number;
  /** Milliseconds between the last round and the phase's end. If infinite, the first successful round ends the phase. */
  readonly lastRoundBeforeEnd: number;
}

/** Milliseconds until the next round of a phase. Undefined if the phase has no further round. `random` is from 0 to 1. */
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
