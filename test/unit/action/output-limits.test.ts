import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Output } from '../../../src/action/publish.js';
import { fitOutputs } from '../../../src/action/publish.js';

const recordsLimit = 100 * 1024;
const stepLimit = 400 * 1024;

test.each([
  ['just below the limit stay', 'x'.repeat(recordsLimit - 1), true],
  ['of the limit go', 'x'.repeat(recordsLimit), false],
  ['are counted in bytes, below', 'ä'.repeat(recordsLimit / 2 - 1), true],
  ['are counted in bytes, at the limit', 'ä'.repeat(recordsLimit / 2), false],
])('records %s', (_, value, stays) => {
  const { outputs, dropped } = fitOutputs([{ name: 'operations', value, rank: 1, holdsRecords: true }]);
  expect(outputs).toMatchObject([{ name: 'operations', value: stays ? value : '' }]);
  expect(dropped).toEqual(stays ? [] : ['operations']);
});

test('what are no records may be larger, as long as all fit', () => {
  const value = 'x'.repeat(stepLimit - 1);
  expect(fitOutputs([{ name: 'operation-ids', value, rank: 2 }]).dropped).toEqual([]);
  expect(fitOutputs([{ name: 'operation-ids', value: `${value}x`, rank: 2 }]).dropped).toEqual(['operation-ids']);
});

test('of several the records go first, then ids, then batches, and no more than must', () => {
  const outputs = (ids: number, batches: number): Output[] => [
    { name: 'batches', value: 'x'.repeat(batches), rank: 3 },
    { name: 'project-ids', value: 'x'.repeat(ids), rank: 2 },
    { name: 'projects', value: 'x'.repeat(90_000), rank: 1, holdsRecords: true },
    { name: 'count', value: '1' },
  ];
  expect(fitOutputs(outputs(100_000, 100_000)).dropped).toEqual([]);
  expect(fitOutputs(outputs(200_000, 200_000)).dropped).toEqual(['projects']);
  expect(fitOutputs(outputs(250_000, 250_000)).dropped.toSorted()).toEqual(['project-ids', 'projects']);
  expect(fitOutputs(outputs(250_000, 450_000)).dropped.toSorted()).toEqual(['batches', 'project-ids', 'projects']);
});

test('whatever the sizes, the outputs fit, keep their names and order, and only large ones are emptied', () => {
  const output = fc.record({
    name: fc.string(),
    length: fc.integer({ min: 1, max: 200_000 }),
    rank: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(output, { maxLength: 6 }), (plans) => {
      const given: Output[] = [
        { name: 'status', value: 'finished' },
        ...plans.map(({ name, length, rank }) => ({ name, value: 'x'.repeat(length), rank, holdsRecords: rank === 1 })),
      ];
      const { outputs, dropped } = fitOutputs(given);
      expect(outputs.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
      expect(outputs.reduce((sum, { value }) => sum + value.length, 0)).toBeLessThan(stepLimit);
      for (const [index, { value }] of outputs.entries())
        if (given[index]?.holdsRecords) expect(value.length).toBeLessThan(recordsLimit);
      const emptied = outputs.filter(({ value }, index) => value !== given[index]?.value);
      expect(dropped.toSorted()).toEqual(emptied.map(({ name }) => name).toSorted());
      expect(outputs[0]?.value).toBe('finished');
    }),
    { numRuns: 50 },
  );
});
