import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shardNumber, splitIntoBatches } from '../../../../src/modes/list/shards.js';

test('ids are split in order into at most max-batches batches of nearly equal size', () => {
  expect(splitIntoBatches([...'abcdefghij'], 4).map((batch) => batch.join(''))).toEqual(['ab', 'cde', 'fg', 'hij']);
  const property = fc.property(fc.nat(5_000), fc.integer({ min: 1, max: 256 }), (count, max) => {
    const ids = Array.from({ length: count }, (_, index) => String(index));
    const batches = splitIntoBatches(ids, max);
    const sizes = batches.map(({ length }) => length);
    expect(batches.flat()).toEqual(ids);
    expect(batches.length).toBeLessThanOrEqual(max);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });
  fc.assert(property, { numRuns: 200 });
  const batches = (count: number) => splitIntoBatches(Array(count).fill('id'), 256).length;
  expect([0, 1, 255, 256, 257, 512, 513].map(batches)).toEqual([0, 1, 255, 256, 129, 256, 171]);
});

test('the shard of an id is the same in every version of the action', () => {
  // By `printf %s ID | sha256sum | cut -c1-12`, as a number, modulo, plus one.
  const ids = ['shop-1', 'late-field-12345678', '9007199254740993', '店'];
  expect(ids.map((id) => shardNumber(id, 256))).toEqual([109, 193, 89, 3]);
});
