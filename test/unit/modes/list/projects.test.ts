import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitIntoBatches } from '../../../../src/modes/list/lists.js';

test('the output batches holds all project ids in order, in max-batches lists of nearly equal size', () => {
  const property = fc.property(
    fc.array(fc.string(), { maxLength: 40 }),
    fc.integer({ min: 1, max: 12 }),
    (ids, max) => {
      const batches = splitIntoBatches(ids, max);
      const sizes = batches.map(({ length }) => length);
      expect(batches.flat()).toEqual(ids);
      expect(batches).toHaveLength(Math.min(max, ids.length));
      if (ids.length > 0) expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    },
  );
  fc.assert(property, { numRuns: 200 });
});
