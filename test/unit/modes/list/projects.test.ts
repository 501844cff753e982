import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shardNumber, splitIntoBatches } from '../../../../src/modes/list/shards.js';

test('batches have all ids in order, and are as many as their largest size requires, at most max-batches', () => {
  const property = fc.property(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 256 }), (count, max) => {
    const ids = Array.from({ length: count }, (_, index) => String(index));
    const batches = splitIntoBatches(ids, max);
    const sizes = batches.map(({ length }) => length);
    const largest = Math.ceil(count / max);
    expect(batches.flat()).toEqual(ids);
    expect(batches).toHaveLength(count === 0 ? 0 : Math.ceil(count / largest));
    expect(Math.max(0, ...sizes)).toBe(largest);
    if (count > 0) expect(largest - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });
  fc.assert(property, {
    numRuns: 200,
    examples: [0, 1, 255, 256, 257, 511, 512, 513].map((count): [number, number] => [count, 256]),
  });
});

test.each<[string, (index: number) => string]>([
  ['counted up', String],
  ['with a common beginning and end', (index) => `project-${String(index).padStart(8, '0')}-eu`],
  ['of similar hexadecimal digits', (index) => (index * 4_096).toString(16).padStart(32, '0')],
  ['of other scripts', (index) => `店-${index}-🙂`],
])('10,000 ids %s are spread evenly over 256 shards', (_, idOf) => {
  const counts = Array.from({ length: 256 }, () => 0);
  for (let index = 0; index < 10_000; index++) {
    const shard = shardNumber(idOf(index), 256) - 1;
    counts[shard] = (counts[shard] ?? Number.NaN) + 1;
  }
  const mean = 10_000 / 256;
  // Random ids give 39 ± 6 each; none of 256 is more than six of these away.
  expect(Math.min(...counts)).toBeGreaterThan(mean - 6 * Math.sqrt(mean));
  expect(Math.max(...counts)).toBeLessThan(mean + 6 * Math.sqrt(mean));
  const chiSquare = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0);
  expect(Math.abs(chiSquare - 255)).toBeLessThan(5 * Math.sqrt(2 * 255));
});

test('the shard of an id never changes with the version of the action', () => {
  // By `printf %s ID | sha256sum | cut -c1-12`, as a number, modulo, plus one.
  expect(['shop-1', 'late-field-12345678', '9007199254740993', '店'].map((id) => shardNumber(id, 256))).toEqual([
    109, 193, 89, 3,
  ]);
});
