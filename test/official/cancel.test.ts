import { expect, test } from 'vitest';
import { act, sabotaged, setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('a cancel ends a wait as cancelled, without an error of ours, and post revokes the key of the job', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: never });

  const { done, cancel } = await start({
    steps: [
      act('mint', 'create-key'),
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }),
      { id: 'next', run: 'true' },
      { id: 'late', if: 'always()', run: 'echo "It is ${{ steps.wait.outputs.status }}."' },
    ],
  });
  await service.arrived({ endpoint: 'get-operation' });
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.steps['wait']).toMatchObject({
    conclusion: 'canceled',
    errors: ['The operation was canceled.'],
    summary: expect.stringMatching(/^### 🚫 wait-operation: Cancelled/),
  });
  expect(job.steps['next']?.conclusion).toBe('skipped');
  expect(job.steps['late']?.log).toContain('It is cancelled.');
  expect(job.steps['Post mint']?.log).toMatch(/Key 2 is revoked/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('main is killed before it saved a state: the step is red, and post is idle', async (context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    steps: [act('mint', 'create-key', {}, { env: { ...sabotaged('signal-at'), SIGNAL_AT: 'SIGKILL before state 1' } })],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('failed');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', log: 'Post job cleanup.\n' });
  expect(service.requests).toEqual([]);
});

test.concurrent('main is killed while it waits for its key: the step is red, and post finds the key and revokes it', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add({ endpoint: 'create-key', fault: { kind: 'hang-before-headers' } });

  const { done, kill } = await start({ steps: [act('mint', 'create-key')] });
  await service.arrived({ endpoint: 'create-key' });
  await kill('main');
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('failed');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('a cancel while a key is made: post finds the key and revokes it', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add({ endpoint: 'create-key', fault: { kind: 'hang-before-headers' } });

  const { done, cancel } = await start({ steps: [act('mint', 'create-key')] });
  await service.arrived({ endpoint: 'create-key' });
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.steps['mint']).toMatchObject({ conclusion: 'canceled', errors: ['The operation was canceled.'] });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('post is killed: the job is red, so that nobody takes the key for revoked', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'hang-before-headers', done: 'never' } });

  const { done, kill } = await start({ steps: [act('mint', 'create-key')] });
  await service.arrived({ endpoint: 'revoke-key' });
  await kill('post');
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('succeeded');
  expect(job.steps['Post mint']?.conclusion).toBe('failed');
  expect(service.plane.isAlive('2')).toBe(true);
});

test.concurrent('the runner is shut down: main ends, no post runs, and the key is left to a sweep', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: never });

  const { done, shutDown } = await start({
    steps: [act('mint', 'create-key'), act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id })],
  });
  await service.arrived({ endpoint: 'get-operation' });
  shutDown();
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['wait']).toMatchObject({ conclusion: 'canceled', errors: ['The operation was canceled.'] });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'skipped', log: '' });
  expect(service.requests.map(({ endpoint }) => endpoint)).not.toContain('revoke-key');
  expect(service.plane.isAlive('2')).toBe(true);
});
