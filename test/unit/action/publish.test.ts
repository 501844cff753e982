import { expect, test } from 'vitest';
import { fitOutputs, type Output } from '../../../src/action/publish.js';

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
