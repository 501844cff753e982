import { expect, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import { github, token } from './message.js';
import { act, observed, preloading, setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('a cancel of the job ends a wait as cancelled, and post revokes the key', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: never });

  const { done, cancel, reach } = await start({
    steps: [
      act('mint', 'create-key'),
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, { env: observed('say-signals') }),
      { id: 'next', run: 'true' },
      { id: 'late', if: 'always()', run: 'echo "It is ${{ steps.wait.outputs.status }}."' },
    ],
  });
  await reach(service.arrived({ endpoint: 'get-operation' }));
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.steps['wait']).toMatchObject({
    conclusion: 'canceled',
    errors: ['The operation was canceled.'],
    summary: expect.stringMatching(/^### 🚫 wait-operation: Cancelled/),
  });
  expect(job.steps['wait']?.log.match(/It got SIG\w+/g)).toEqual(['It got SIGINT']);
  expect(job.steps['next']?.conclusion).toBe('skipped');
  expect(job.steps['late']?.log).toContain('It is cancelled.');
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('if main is killed before it saves a state, the step fails and post sends no request', async (context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    steps: [
      act('mint', 'create-key', {}, { env: { ...preloading('signal-at'), SIGNAL_AT: 'SIGKILL before state 1' } }),
    ],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('failed');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', log: 'Post job cleanup.\n' });
  expect(service.requests).toEqual([]);
});

test.concurrent('if main is killed after it saved its key, the step fails and post revokes the key', async (context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    steps: [act('mint', 'create-key', {}, { env: { ...preloading('signal-at'), SIGNAL_AT: 'SIGKILL after state 3' } })],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('failed');
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('post revokes the key although a second cancel arrives', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: never });
  service.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'hang-before-headers', done: 'never' } });

  const { done, cancel, reach } = await start({
    steps: [act('mint', 'create-key'), act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id })],
  });
  await reach(service.arrived({ endpoint: 'get-operation' }));
  cancel();
  await reach(service.arrived({ endpoint: 'revoke-key' }));
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.key('2')?.revokedAt).toBeDefined();
});

test.concurrent('the job fails if post is killed before it revokes the key', async (context) => {
  const { service, start } = await setStage(context);
  service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'hang-before-headers', done: 'never' } });

  const { done, kill, reach } = await start({ steps: [act('mint', 'create-key')] });
  await reach(service.arrived({ endpoint: 'revoke-key' }));
  await kill('post');
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['mint']?.conclusion).toBe('succeeded');
  expect(job.steps['Post mint']?.conclusion).toBe('failed');
  expect(service.plane.isAlive('2')).toBe(true);
});

test.concurrent('if the runner shuts down before post, a sweep in the next run revokes the key', async (context) => {
  const { service, projectId, start, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: never });

  const { done, shutDown, reach } = await start({
    steps: [act('mint', 'create-key'), act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id })],
  });
  await reach(service.arrived({ endpoint: 'get-operation' }));
  shutDown();
  const job = await done;

  expect(job.conclusion).toBe('failed');
  expect(job.steps['wait']).toMatchObject({ conclusion: 'canceled', errors: ['The operation was canceled.'] });
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'skipped', log: '' });
  expect(service.requests.map(({ endpoint }) => endpoint)).not.toContain('revoke-key');
  expect(service.plane.isAlive('2')).toBe(true);

  const { repository, repository_id: repositoryId, run_id: ended } = github;
  const api = await startGitHub({ token, repository, repositoryId });
  context.onTestFinished(() => api.close());
  api.addRun({ id: ended, status: 'completed' });
  const next = { run_id: '19512345679' };
  api.addRun({ id: next.run_id });

  const later = await run({ apiUrl: api.url, github: next, steps: [act('sweep', 'sweep-keys')] });

  expect(later.conclusion).toBe('succeeded');
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('if a gate with continue-on-error fails, the next step runs, and sees the outcome of the gate', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });

  const job = await run({
    outputs: { status: '${{ steps.wait.outputs.status }}', operation: '${{ steps.wait.outputs.operation-id }}' },
    steps: [
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, { 'continue-on-error': true }),
      { id: 'next', run: 'echo "It is ${{ steps.wait.outcome }}, ${{ steps.wait.conclusion }}."' },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.outputs).toEqual({ status: 'failed', operation: id });
  expect(job.steps['wait']?.errors).toEqual([expect.stringContaining(id)]);
  expect(job.steps['next']?.log).toContain('It is failure, success.');
});
