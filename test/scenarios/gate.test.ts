import { test } from 'vitest';
import { errorOf, setStage } from './stage.js';

test.concurrent('an operation that finishes turns the step green', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 700 });

  const result = await run({ 'operation-id': operation.id });

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': operation.id });
  expect(result.log).toMatch(/create_branch on \S+ \[.+\]: running → finished/);
});

test.concurrent('an operation that fails turns the step red, and the error says what to do', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 200, outcome: 'failed' });

  const result = await run({ 'operation-id': operation.id });

  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': operation.id });
  expect(errorOf(result)).toContain(operation.id);
  expect(errorOf(result)).toMatch(/make the change again/);
});
