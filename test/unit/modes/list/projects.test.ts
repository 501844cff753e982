import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitIntoBatches } from '../../../../src/modes/list/lists.js';

test('batches hold all ids in order, in as many lists as allowed whose sizes differ by at most one', () => {
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
