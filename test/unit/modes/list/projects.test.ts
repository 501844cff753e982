import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shardNumber, splitIntoBatches } from '../../../../src/modes/list/shards.js';

test('ids are split in order into at most max-batches batches of nearly equal size', () => {
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
  const examples = [0, 1, 255, 256, 257, 511, 512, 513].map((count): [number, number] => [count, 256]);
  fc.assert(property, { numRuns: 200, examples });
});

test('the shard of an id is the same in every version of the action', () => {
  // By `printf %s ID | sha256sum | cut -c1-12`, as a number, modulo, plus one.
  const ids = ['shop-1', 'late-field-12345678', '9007199254740993', '店'];
  expect(ids.map((id) => shardNumber(id, 256))).toEqual([109, 193, 89, 3]);
});
