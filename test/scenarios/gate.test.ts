import { test } from 'vitest';
import { errorOf, setStage } from './stage.js';

test.concurrent('an operation that finishes turns the step green', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY, schedulingMs: 0 });

  const step = start({ 'operation-id': operation.id });
  await step.waitForLine(/running/);
  service.plane.endOperation(operation);
  const result = await step.done;

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
  expect(errorOf(result)).toMatch(/Do not deploy on top of this/);
});
