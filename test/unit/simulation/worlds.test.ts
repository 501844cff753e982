import { describe, expect, it } from 'vitest';
import { violationsIn } from '../../simulation/exhaustive.js';
import { type Bound, small } from '../../simulation/worlds/bounds.js';
import { runWorld } from '../../simulation/worlds/judge.js';
import { search } from '../../simulation/worlds/search.js';
import type { World } from '../../simulation/worlds/world.js';

/** The nightly run searches all worlds. */
const everySeventh = { index: 0, of: 7 };

describe('a wait for all of a small world', () => {
  for (const [name, bound] of Object.entries(small))
    it(`never succeeds before its time: ${name}`, async () => {
      expect(await violationsIn(search(bound, everySeventh))).toEqual([]);
    });

  const late = (lag: number): Bound => ({ ...small['three operations'], lags: [[0], [lag]] });

  it('is right if a list lags by 5 s', async () => {
    expect(await violationsIn(search(late(5), everySeventh))).toEqual([]);
  });

  it('is seen to be wrong if a list lags by 5.5 s', async () => {
    expect(await violationsIn(search(late(5.5), everySeventh))).toContainEqual(
      expect.stringMatching(/^finished, although/),
    );
  });
});

/** Each has an operation that fails, and that an earlier rule of the wait missed. */
const scenes: Readonly<Record<string, World>> = {
  'the last operation is asked for singly, and ends after the read of that poll': {
    operations: [
      { begins: -2, lasts: 4, ends: 'finished', lags: [0] },
      { begins: -1, lasts: 0, ends: 'finished', lags: [0] },
      { begins: { after: 0 }, lasts: 1, ends: 'failed', lags: [4] },
    ],
    pageSize: 1,
  },
  'two operations appear, and the read of the second page fails': {
    operations: [
      { begins: 1, lasts: 20, ends: 'failed', lags: [0] },
      { begins: 2, lasts: 1, ends: 'finished', lags: [0] },
    ],
    pageSize: 1,
    fails: { what: 'second page', nth: 1 },
  },
  'an empty list then shows an ended operation, whose follow-up is not listed yet': {
    operations: [
      { begins: 0, lasts: 2, ends: 'finished', lags: [3] },
      { begins: { after: 0 }, lasts: 1, ends: 'failed', lags: [4] },
    ],
    pageSize: 2,
  },
  'the first read shows its first page, and fails at its second': {
    operations: [
      { begins: -2, lasts: 20, ends: 'failed', lags: [0] },
      { begins: -1, lasts: 0, ends: 'finished', lags: [0] },
    ],
    pageSize: 1,
    fails: { what: 'second page', nth: 1 },
  },
};

describe('a wait for all sees a failure although', () => {
  for (const [name, world] of Object.entries(scenes))
    it(name, async () => {
      expect(await runWorld(world)).toMatchObject({ verdict: 'failed', violation: undefined });
    });
});
