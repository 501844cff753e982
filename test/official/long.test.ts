// Claims that take long, side by side: a step's timeout is a minute at least, and post after an unclear create 20 s.
import { expect, test } from 'vitest';
import { act, hold, setStage } from './stage.js';

const hang = { endpoint: 'create-key', fault: { kind: 'hang-before-headers' } } as const;

test.concurrent('timeout-minutes ends a wait as cancelled, and the job fails', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });

  const job = await run({
    outputs: { status: '${{ steps.wait.outputs.status }}' },
    steps: [
      act('mint', 'create-key'),
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, { 'timeout-minutes': 1 }),
    ],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.outputs).toEqual({ status: 'cancelled' });
  expect(job.steps['wait']).toMatchObject({
    conclusion: 'failed',
    errors: [expect.stringMatching(/has timed out after 1 minutes/)],
    summary: expect.stringMatching(/^### 🚫 wait-operation: Cancelled/),
  });
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('if timeout-minutes ends a hanging create-key, post finds and revokes the key', async (context) => {
  const { service, run } = await setStage(context);
  service.faults.add(hang);

  const job = await run({
    steps: [act('mint', 'create-key', {}, { 'timeout-minutes': 1 })],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']).toMatchObject({
    conclusion: 'failed',
    errors: [expect.stringMatching(/has timed out after 1 minutes/)],
  });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('if main is killed while it waits for its key, post finds and revokes the key', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add(hang);

  const { done, kill, reach } = await start({ steps: [act('mint', 'create-key')] });
  await reach(service.arrived({ endpoint: 'create-key' }));
  await kill('main');
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('failed');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('if the job is cancelled during create-key, post finds and revokes the key', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add(hang);

  const { done, cancel, reach } = await start({ steps: [act('mint', 'create-key')] });
  await reach(service.arrived({ endpoint: 'create-key' }));
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.steps['mint']).toMatchObject({ conclusion: 'canceled', errors: ['The operation was canceled.'] });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('if a cancel step ends a background create-key, post finds and revokes the key', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add(hang);
  const held = hold(context, 'held');

  const { done, reach } = await start({
    steps: [
      act('mint', 'create-key', {}, { background: true }),
      held.step,
      { cancel: ['mint'] },
      { id: 'show', run: 'echo "It is ${{ steps.mint.outputs.status }}."' },
    ],
  });
  await reach(service.arrived({ endpoint: 'create-key' }));
  held.release();
  const job = await done;

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['mint']).toMatchObject({ conclusion: 'canceled', errors: [] });
  expect(job.steps['show']?.log).toContain('It is cancelled.');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});
