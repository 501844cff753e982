import { expect, test } from 'vitest';
import { World } from '../../../virtual/world.js';

test('an id that the list showed is text of the service, also where it is not found any more', async () => {
  const world = new World({ projects: 1 });
  const id = `x\u202E\u200B\u2028::error::${'long '.repeat(500)}`;
  world.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY, vanishesAfterMs: 400, fields: { id } });
  world.faults.add({ endpoint: 'get-operation', fault: { kind: 'status', status: 404 } });
  const { verdict, cause } = await world.wait('all');
  expect(verdict).toBe('error');
  expect(cause?.message).toMatch(/no longer has operation/);
  expect(cause?.message).not.toMatch(/[\p{Cf}\p{Zl}]/u);
});
