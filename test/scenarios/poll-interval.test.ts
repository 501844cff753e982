import { test } from 'vitest';
import { setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('a poll-interval that is given is the time between two looks', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': operation.id, 'poll-interval': '100ms' });
  await service.arrived({ endpoint: 'get-operation', n: 6 });
  service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  const gaps = service.requests.slice(1).map(({ at }, index) => at - (service.requests[index]?.at ?? 0));
  // By `auto` none would be under 400 ms.
  expect(Math.min(...gaps)).toBeGreaterThan(80);
  expect(Math.min(...gaps)).toBeLessThan(400);
});

test.concurrent('an interval longer than the wait leaves the look at the deadline', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': operation.id, 'poll-interval': '1h', timeout: '2s' });
  await service.ended({ endpoint: 'get-operation', n: 1 });
  service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(service.requests).toHaveLength(2);
});
