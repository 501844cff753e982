import { test } from 'vitest';
import { errorOf, setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('the first that fails ends the step, and the error says what is not awaited any longer', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const endless = service.plane.startOperation({ projectId, lengthMs: never });
  const failing = service.plane.startOperation({ projectId, lengthMs: 300, outcome: 'failed', failuresCount: 7 });
  const result = await run({ 'operation-id': `${endless.id},${failing.id}` });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': failing.id });
  const error = errorOf(result);
  expect(error).toMatch(/^1 of 2 operations in project \S+ failed/);
  expect(error).toContain(failing.id);
  expect(error).toMatch(/failures_count 7/);
  expect(error).toMatch(new RegExp(`Stopped waiting for: .*${endless.id}`));
});

test.concurrent('fail-fast: false sees all of them to their end', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const failing = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' });
  const other = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': `${failing.id},${other.id}`, 'fail-fast': 'false' });
  await step.waitForLine(new RegExp(`${failing.id}.*failed`));
  await step.waitForLine(other.id);
  service.plane.endOperation(other);

  const result = await step.done;

  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': failing.id });
  expect(result.log).toMatch(new RegExp(`${other.id}.*finished`));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'failed' }, { status: 'finished' }]);
});

test.concurrent('failed wins over timeout', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const failing = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' });
  const endless = service.plane.startOperation({ projectId, lengthMs: never });
  const result = await run({
    'operation-id': `${failing.id},${endless.id}`,
    'fail-fast': 'false',
    timeout: '1s',
  });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failing.id });
  expect(errorOf(result)).toContain(endless.id);
});
