import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitOutputs, type Output } from '../../../src/action/publish.js';

const maxRecordsBytes = 100 * 1024;
const maxStepUnits = 400 * 1024;

test.each([
  [100_000, 100_000, []],
  [200_000, 200_000, ['projects']],
  [250_000, 250_000, ['projects', 'project-ids']],
  [250_000, 450_000, ['projects', 'project-ids', 'batches']],
])('of ids of %i units and batches of %i, only what must go is left empty: %j', (ids, batches, dropped) => {
  const outputs: Output[] = [
    { name: 'batches', value: 'x'.repeat(batches), rank: 3 },
    { name: 'project-ids', value: 'x'.repeat(ids), rank: 2 },
    { name: 'projects', value: 'x'.repeat(90_000), rank: 1, holdsRecords: true },
    { name: 'count', value: '1' },
  ];
  expect(fitOutputs(outputs).dropped).toEqual(dropped);
});

test('whatever the sizes, outputs keep their names and order, fit, and are emptied by rank', () => {
  const output = fc.record({
    name: fc.string(),
    value: fc.integer({ min: 1, max: 200_000 }).map((length) => 'x'.repeat(length)),
    rank: fc.integer({ min: 1, max: 3 }),
    holdsRecords: fc.boolean(),
  });
  const property = fc.property(fc.array(output, { maxLength: 6 }), (large) => {
    const given: readonly Output[] = [{ name: 'status', value: 'finished' }, ...large];
    const { outputs, dropped } = fitOutputs(given);
    expect(outputs.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
    expect(outputs[0]?.value).toBe('finished');
    expect(outputs.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(maxStepUnits);
    const emptied = given.filter(({ value }, index) => value !== outputs[index]?.value);
    expect(dropped.toSorted()).toEqual(emptied.map(({ name }) => name).toSorted());
    const isTooLarge = ({ value = '', holdsRecords }: Output) => holdsRecords && value.length >= maxRecordsBytes;
    for (const one of given) if (isTooLarge(one)) expect(emptied).toContain(one);
    const highest = Math.max(0, ...emptied.filter((one) => !isTooLarge(one)).map(({ rank = 0 }) => rank));
    for (const one of given) if ((one.rank ?? 4) < highest) expect(emptied).toContain(one);
  });
  fc.assert(property, { numRuns: 50 });
});
