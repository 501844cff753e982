import { describe, expect, it } from 'vitest';
import {
  type Progress,
  pauseBeforeRound,
  timeForFirstSearch,
  timeForRevocation,
} from '../../../../src/modes/post/schedule.js';

const search = { rounds: 1, hasFailed: false, remaining: 16_000, retryAfterMs: 0, lastRoundBeforeEnd: 500 };
const failed = { ...search, hasFailed: true };
const revocation = { ...search, hasFailed: true, remaining: 20_000, lastRoundBeforeEnd: Number.POSITIVE_INFINITY };

/** The next pause with the highest random number, and with the lowest where that differs. Undefined: no next round. */
it.each<[title: string, progress: Progress, longest: number | undefined, shortest?: number]>([
  ['the first round of a phase starts at once', { ...search, rounds: 0 }, 0],
  ['the first round waits for a Retry-After of the phase before', { ...search, rounds: 0, retryAfterMs: 3_000 }, 3_000],
  ['no first round if a Retry-After ends after the phase', { ...search, rounds: 0, retryAfterMs: 16_001 }, undefined],
  ['a search that succeeded is repeated after 250 ms', search, 250],
  ['the third pause lasts from half a second to one second', { ...search, rounds: 3 }, 1_000, 500],
  ['the pause grows to 2 s and no further', { ...search, rounds: 40 }, 2_000, 1_000],
  ['after a failure a pause is at most a quarter of the rest', { ...failed, rounds: 9, remaining: 4_000 }, 1_000],
  [
    'a pause ends when the last round is due',
    { ...search, rounds: 9, remaining: 2_200, lastRoundBeforeEnd: 1_800 },
    400,
  ],
  ['no pause is shorter than 250 ms, even if the last round is due sooner', { ...search, remaining: 510 }, 250],
  ['a search that succeeded when the last round was due is over', { ...search, remaining: 500 }, undefined],
  ['a search that failed when the last round was due is repeated', { ...failed, remaining: 500 }, 250],
  ['a Retry-After is longer than the pause', { ...search, retryAfterMs: 7_000 }, 7_000],
  ['a Retry-After that ends with the phase is kept', { ...search, retryAfterMs: 16_000 }, 16_000],
  ['a Retry-After beyond the phase ends it', { ...search, retryAfterMs: 16_001 }, undefined],
  ['a revocation that failed is repeated', revocation, 250],
  ['a revocation that succeeded is over', { ...revocation, hasFailed: false }, undefined],
])('%s', (_, progress, longest, shortest = longest) => {
  expect([pauseBeforeRound(progress, 1), pauseBeforeRound(progress, 0)]).toEqual([longest, shortest]);
});

describe('the time of a phase', () => {
  it.each([
    ['the minted key searches until 4 s before the end', timeForFirstSearch(20_000, true), 16_000],
    ['a minted key that is kept searches until the end', timeForFirstSearch(20_000, false), 20_000],
    ['a key without strays has all the time for its revocation', timeForRevocation(20_000, 0, false), 20_000],
    ['a revocation leaves half of the time to the parent key', timeForRevocation(19_000, 0, true), 9_500],
    ['a revocation has at least 4 s', timeForRevocation(5_000, 0, true), 4_000],
    ['a revocation after the search has the last 4 s', timeForRevocation(4_000, 0, true), 4_000],
    ['the time for a revocation counts from the end of a Retry-After', timeForRevocation(17_000, 5_000, true), 11_000],
    ['a Retry-After does not move the deadline', timeForRevocation(5_000, 4_000, true), 5_000],
  ])('%s', (_, time, expected) => {
    expect(time).toBe(expected);
  });
});
