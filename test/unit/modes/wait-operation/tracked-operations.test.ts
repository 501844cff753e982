import { expect, test } from 'vitest';
import { TrackedOperations } from '../../../../src/modes/wait-operation/tracked-operations.js';

test('an operation that was seen to fail stays failed, whatever a later response shows', () => {
  const operations = new TrackedOperations(
    'p',
    { target: { ids: new Map([['p', ['a']]]) }, pollsOnce: false },
    () => 0,
  );
  for (const status of ['failed', 'running', 'finished']) operations.take({ id: 'a', status, record: {} });
  expect(operations.all.get('a')?.status).toBe('failed');
});
