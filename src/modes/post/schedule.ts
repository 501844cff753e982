import { backoff } from '../../http/retry.js';

/** Milliseconds for the whole post step, a promise of the contract. After a cancel the rest of the job shares under 5 minutes. */
export const totalTimeout = 20_000;
/** Milliseconds for one exchange, a promise of the contract. So post can retry within its 20 s. */
export const requestTimeout = 5_000;

// The times below are chosen. The simulation holds them: it expects late keys to be found, and bounds the number of requests.

/** Milliseconds between two rounds. */
const roundPauses = { firstMs: 250, maxMs: 2_000 };
/** Milliseconds. After a failure, pauses get shorter as the phase nears its end, but never shorter than this. */
const minPause = 250;
/** Milliseconds for revoking the minted key: if the first attempt hangs for half of it, a second one fits. */
const timeForMinted = 4_000;
/** Milliseconds before the end of a search when its last round is due, so that a failed one can be repeated. */
export const lastRoundBeforeEnd = { ofMinted: 500, ofParent: 1_500 };

/** Milliseconds for the search by the minted key. `remaining`: for all of post. */
export function timeForFirstSearch(remaining: number, isRevokedAfter: boolean): number {
  return isRevokedAfter ? remaining - timeForMinted : remaining;
}

/** Milliseconds for revoking the minted key, from the end of a `Retry-After`: all, or half if the parent key searches on. */
export function timeForRevocation(remaining: number, retryAfterMs: number, isSearchedAfter: boolean): number {
  if (!isSearchedAfter) return remaining;
  return Math.min(remaining, retryAfterMs + Math.max(timeForMinted, (remaining - retryAfterMs) / 2));
}

export interface Progress {
  /** Rounds of this phase so far. */
  readonly rounds: number;
  /** True if the last round left work to do. */
  readonly hasFailed: boolean;
  /** Milliseconds until the end of the phase. */
  readonly remaining: number;
  /** Milliseconds for which the service asks to send nothing. */
  readonly retryAfterMs: number;
  /** Milliseconds before the end of the phase when the last round is due. If infinite, the first success is the last round. */
  readonly lastRoundBeforeEnd: number;
}

/** Milliseconds until the next round of a phase, or undefined if there is none. `random`: from 0 to 1. */
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
