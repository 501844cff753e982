import { test } from 'vitest';
import { errorOf, setStage, warningsOf } from './stage.js';

test.concurrent('skipped counts as success, and is reported as such', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 300, outcome: 'skipped' });
  const result = await run({ 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
  expect(result.log).toMatch(new RegExp(`${operation.id}.*skipped`));
  expect(result.summary).toContain('skipped');
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'skipped' }]);
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent.for(['error', 'cancelled'])('%s fails', async (outcome, context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome });
  const result = await run({ 'operation-id': operation.id });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': operation.id });
  expect(errorOf(result)).toMatch(new RegExp(`${operation.id}. ${outcome}`));
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('cancelling is still running', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, course: [{ afterMs: 0, status: 'cancelling' }] });
  const step = start({ 'operation-id': operation.id });
  await service.ended({ endpoint: 'get-operation', n: 2 });
  service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(result.log).toMatch(/cancelling → finished/);
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('a word that nobody knows is still running, with one warning', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const course = [{ afterMs: 0, status: 'hibernating' }] as const;
  const operations = [1, 2, 3].map(() => service.plane.startOperation({ projectId, course }));
  const step = start({ 'operation-id': operations.map(({ id }) => id).join(',') });
  await Promise.all(operations.map(({ id }) => step.waitForLine(id)));
  for (const operation of operations) service.plane.endOperation(operation, 'constructor');
  await step.waitForLine(/hibernating → constructor/);
  for (const operation of operations) service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/hibernating/)]);
});

test.concurrent('a word that nobody knows ends no wait', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const course = [{ afterMs: 0, status: 'done' }] as const;
  const operation = service.plane.startOperation({ projectId, course });
  const result = await run({ 'operation-id': operation.id, timeout: '600ms' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'timeout' });
});

test.concurrent('any word of action is fine', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, action: 'reticulate_splines' });
  const result = await run({ 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  expect(result.log).toContain('reticulate_splines');
  expect(warningsOf(result)).toEqual([]);
});
