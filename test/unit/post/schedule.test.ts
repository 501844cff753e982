import { expect, it } from 'vitest';
import { type Progress, pauseBeforeRound, timeForRevocation } from '../../../src/post/schedule.js';

const search = { rounds: 1, hasFailed: false, remaining: 16_000, retryAfterMs: 0, lastRoundBeforeEnd: 500 };
const failed = { ...search, hasFailed: true };
const revocation = { ...search, hasFailed: true, remaining: 20_000, lastRoundBeforeEnd: Number.POSITIVE_INFINITY };

/** The next pause with the highest random number, and with the lowest where that differs. Undefined: no next round. */
it.each<[title: string, progress: Progress, longest: number | undefined, shortest?: number]>([
  ['the first search starts at once', { ...search, rounds: 0 }, 0],
  ['the first search waits for an earlier Retry-After', { ...search, rounds: 0, retryAfterMs: 3_000 }, 3_000],
  ['no search starts if a Retry-After exceeds the deadline', { ...search, rounds: 0, retryAfterMs: 16_001 }, undefined],
  ['a successful search is repeated after 250 ms', search, 250],
  ['the third pause lasts between half a second and one second', { ...search, rounds: 3 }, 1_000, 500],
  ['a pause grows to at most 2 s', { ...search, rounds: 40 }, 2_000, 1_000],
  ['after a failure, a pause is at most a quarter of the time left', { ...failed, rounds: 9, remaining: 4_000 }, 1_000],
  ['a pause ends when the last search is due', { ...search, rounds: 9, remaining: 900 }, 400],
  ['the last search ends a longer pause', { ...search, rounds: 9, remaining: 2_200, lastRoundBeforeEnd: 1_800 }, 400],
  ['a pause lasts at least 250 ms even if the last search is due sooner', { ...search, remaining: 510 }, 250],
  ['a search that succeeds at its last planned time is not repeated', { ...search, remaining: 500 }, undefined],
  ['a search that fails at its last planned time is repeated', { ...failed, remaining: 500 }, 250],
  ['a Retry-After of 7 s replaces a shorter pause', { ...search, retryAfterMs: 7_000 }, 7_000],
  ['a Retry-After that ends at the deadline is waited for', { ...search, retryAfterMs: 16_000 }, 16_000],
  ['a Retry-After beyond the deadline ends the search', { ...search, retryAfterMs: 16_001 }, undefined],
  ['a failed revocation is repeated', revocation, 250],
  ['a successful revocation is not repeated', { ...revocation, hasFailed: false }, undefined],
])('pauses in post: %s', (_, progress, longest, shortest = longest) => {
  expect([pauseBeforeRound(progress, 1), pauseBeforeRound(progress, 0)]).toEqual([longest, shortest]);
});

it.each([
  ['a revocation without a later search gets all the remaining time', timeForRevocation(20_000, 0, false), 20_000],
  ['a revocation leaves half of the remaining time to a later search', timeForRevocation(19_000, 0, true), 9_500],
  ['a revocation gets at least 4 s', timeForRevocation(5_000, 0, true), 4_000],
  ['a revocation in the last 4 s leaves no time to a later search', timeForRevocation(4_000, 0, true), 4_000],
  ['a revocation gets its Retry-After and half of the time after it', timeForRevocation(17_000, 5_000, true), 11_000],
  ['a revocation after a Retry-After ends no later than post', timeForRevocation(5_000, 4_000, true), 5_000],
])('time limits in post: %s', (_, time, expected) => {
  expect(time).toBe(expected);
});
