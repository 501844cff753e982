import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shardNumber, splitIntoBatches } from '../../../../src/modes/list/projects.js';

test('batches cover all in order, are at most as many as asked for, and differ in size by at most one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 256 }), (count, maxBatches) => {
      const ids = Array.from({ length: count }, (_, index) => String(index));
      const batches = splitIntoBatches(ids, maxBatches);
      const sizes = batches.map(({ length }) => length);
      expect(batches.flat()).toEqual(ids);
      expect(batches.length).toBeLessThanOrEqual(maxBatches);
      expect(sizes.every((size) => size > 0)).toBe(true);
      if (count > 0) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 400, examples: [0, 1, 255, 256, 257, 300, 511, 512, 513, 1_000].map((count) => [count, 256]) },
  );
});

test.each([
  [0, 256, 0, 0],
  [1, 256, 1, 1],
  [256, 256, 256, 1],
  [257, 256, 129, 2],
  [512, 256, 256, 2],
  [513, 256, 171, 3],
  [100_000, 256, 256, 391],
  [9, 1, 1, 9],
  [9, 4, 3, 3],
  [10, 4, 4, 3],
])('%i ids in at most %i batches are %i, the largest of %i', (count, maxBatches, number, largest) => {
  const ids = Array.from({ length: count }, (_, index) => String(index));
  const sizes = splitIntoBatches(ids, maxBatches).map(({ length }) => length);
  expect(sizes).toHaveLength(number);
  expect(Math.max(0, ...sizes)).toBe(largest);
});

test('each id is in one share of as many as there are, and always in the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 1, max: 999_999 }), (id, shares) => {
      const share = shardNumber(id, shares);
      expect(Number.isInteger(share)).toBe(true);
      expect(share).toBeGreaterThanOrEqual(1);
      expect(share).toBeLessThanOrEqual(shares);
      expect(shardNumber(id, shares)).toBe(share);
      expect(shardNumber(id, 1)).toBe(1);
    }),
    { numRuns: 1_000 },
  );
});

/** How many ids each share has. */
function spread(ids: readonly string[], shares: number): number[] {
  const counts = Array.from({ length: shares }, () => 0);
  for (const id of ids) {
    const index = shardNumber(id, shares) - 1;
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

const named: Readonly<Record<string, (index: number) => string>> = {
  'counted up': (index) => String(index),
  'with a common beginning and end': (index) => `project-${String(index).padStart(8, '0')}-eu`,
  'of dull hexadecimal': (index) => `${(index * 4_096).toString(16).padStart(32, '0')}`,
  'of other scripts': (index) => `店-${index}-🙂`,
};

for (const [what, idOf] of Object.entries(named)) {
  test(`10,000 ids ${what} are spread evenly over 256 shares`, () => {
    const counts = spread(
      Array.from({ length: 10_000 }, (_, index) => idOf(index)),
      256,
    );
    const mean = 10_000 / 256;
    // Thrown by fair dice, a share has 39 ± 6; none of 256 is beyond six of these in a thousand ages.
    expect(Math.min(...counts)).toBeGreaterThan(mean - 6 * Math.sqrt(mean));
    expect(Math.max(...counts)).toBeLessThan(mean + 6 * Math.sqrt(mean));
    const chiSquare = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0);
    expect(chiSquare).toBeGreaterThan(255 - 5 * Math.sqrt(2 * 255));
    expect(chiSquare).toBeLessThan(255 + 5 * Math.sqrt(2 * 255));
  });
}

test('where an id falls never changes with the version of the action', () => {
  // By `printf %s ID | sha256sum | cut -c1-12`, as a number, modulo, plus one.
  expect(['shop-1', 'late-field-12345678', '9007199254740993', '店'].map((id) => shardNumber(id, 256))).toEqual([
    109, 193, 89, 3,
  ]);
});
