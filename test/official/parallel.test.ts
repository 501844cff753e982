import { expect, test } from 'vitest';
import { parallel } from './plan.js';
import { act, hold, observed, setStage } from './stage.js';

const background = { background: true };

test.concurrent('background steps wait for operations and create a key at the same time, each with its own outputs', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operations = [300, 600].map((lengthMs) => service.plane.startOperation({ lengthMs }));
  const waits = operations.map(({ id }, index) =>
    act(`wait-${index}`, 'wait-operation', { 'project-id': projectId, 'operation-id': id }, background),
  );
  const outputs = { 0: '${{ steps.wait-0.outputs.operation-id }}', 1: '${{ steps.wait-1.outputs.operation-id }}' };

  const job = await run({
    outputs,
    steps: [
      ...waits,
      act('mint', 'create-key', {}, background),
      { wait: ['wait-0', 'wait-1', 'mint'] },
      act('keys', 'list-keys', { 'api-key': '${{ steps.mint.outputs.key }}' }),
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.outputs).toEqual({ 0: operations[0]?.id, 1: operations[1]?.id });
  expect(job.steps['keys']).toMatchObject({ conclusion: 'succeeded', errors: [] });
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('a failed background wait fails the job, and another background wait still succeeds', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const [good, bad] = ['finished', 'failed'].map((outcome) => service.plane.startOperation({ lengthMs: 300, outcome }));

  const job = await run({
    steps: [
      act('good', 'wait-operation', { 'project-id': projectId, 'operation-id': good?.id ?? '' }, background),
      act('bad', 'wait-operation', { 'project-id': projectId, 'operation-id': bad?.id ?? '' }, background),
      { wait: ['bad', 'good'] },
      { id: 'deploy', run: 'true' },
    ],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['good']).toMatchObject({ conclusion: 'succeeded', errors: [] });
  expect(job.steps['bad']).toMatchObject({ conclusion: 'failed', errors: [expect.stringContaining(bad?.id ?? '')] });
  expect(job.steps['deploy']?.conclusion).toBe('skipped');
});

test.concurrent('a failed background wait fails the job even if no step waits for it', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 300, outcome: 'failed' });

  const job = await run({
    steps: [act('bad', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, background)],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['bad']).toMatchObject({ conclusion: 'failed', errors: [expect.stringContaining(id)] });
});

test.concurrent('a cancel step ends a background wait as cancelled', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
  const held = hold(context, 'held');

  const { done, reach } = await start({
    steps: [
      act(
        'wait',
        'wait-operation',
        { 'project-id': projectId, 'operation-id': id },
        { ...background, env: observed('say-signals') },
      ),
      held.step,
      { cancel: ['wait'] },
      { id: 'show', if: 'always()', run: 'echo "It is ${{ steps.wait.outputs.status }}."' },
    ],
  });
  await reach(service.arrived({ endpoint: 'get-operation' }));
  held.release();
  const job = await done;

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['wait']).toMatchObject({ conclusion: 'canceled', errors: [] });
  expect(job.steps['wait']?.log.match(/It got SIG\w+/g)).toEqual(['It got SIGINT']);
  expect(job.steps['show']?.log).toContain('It is cancelled.');
});

test.concurrent('four parallel steps create four keys, and each post revokes its own', async (context) => {
  const { service, run } = await setStage(context);
  const steps = ['a', 'b', 'c', 'd'];

  const job = await run({
    outputs: Object.fromEntries(steps.map((id) => [id, `\${{ steps.${id}.outputs.key-id }}`])),
    steps: [...parallel(...steps.map((id) => act(id, 'create-key'))), act('keys', 'list-keys')],
  });

  expect(job.conclusion).toBe('succeeded');
  const ids = steps.map((id) => job.outputs[id] ?? '');
  expect([...ids].sort()).toEqual(['2', '3', '4', '5']);
  for (const [index, id] of ids.entries()) {
    expect(job.steps[`Post ${steps[index]}`]?.log).toContain(`Revoked ${id} (`);
  }
  expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
});

test.concurrent('wait-all holds the job until a background gate succeeds, and later steps see its outputs', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });

  const { done, reach } = await start({
    outputs: { status: '${{ steps.gate.outputs.status }}' },
    steps: [
      act('gate', 'wait-operation', { 'project-id': projectId, 'operation-id': operation.id }, background),
      { 'wait-all': true },
      act('deploy', 'list-projects', { filter: 'name=${{ steps.gate.outputs.status }}' }),
    ],
  });
  await reach(service.ended({ endpoint: 'get-operation', n: 2 }));
  expect(service.requests.map(({ endpoint }) => endpoint)).not.toContain('list-projects');
  service.plane.endOperation(operation);
  const job = await done;

  expect(job.conclusion).toBe('succeeded');
  expect(job.outputs).toEqual({ status: 'finished' });
  expect(job.steps['deploy']).toMatchObject({ conclusion: 'succeeded', log: expect.stringContaining('name=finished') });
});

test.concurrent('after a wait for a background create-key, its key reaches later steps, masked', async (context) => {
  const { service, run } = await setStage(context);

  const job = await run({
    steps: [
      act('mint', 'create-key', {}, background),
      { wait: ['mint'] },
      { id: 'show', env: { KEY: '${{ steps.mint.outputs.key }}' }, run: 'echo "It is $KEY."; test -n "$KEY"' },
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['show']?.log).toContain('It is ***.');
  expect(job.sent).not.toContain(service.plane.key('2')?.key);
});

test.concurrent('a cancel of the job ends all background steps as cancelled, and post revokes the key', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
  service.faults.add({ endpoint: 'list-projects', fault: { kind: 'hang-before-headers' } });
  const observedInBackground = { ...background, env: observed('say-signals') };

  const { done, reach, cancel } = await start({
    outputs: { wait: '${{ steps.wait.outputs.status }}', list: '${{ steps.list.outputs.status }}' },
    steps: [
      act('mint', 'create-key'),
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, observedInBackground),
      act('list', 'list-projects', {}, observedInBackground),
      { wait: ['wait', 'list'] },
    ],
  });
  await reach(service.arrived({ endpoint: 'get-operation' }));
  await reach(service.arrived({ endpoint: 'list-projects' }));
  cancel();
  const job = await done;

  expect(job.conclusion).toBe('canceled');
  expect(job.outputs).toEqual({ wait: 'cancelled', list: 'cancelled' });
  for (const step of ['wait', 'list']) {
    expect(job.steps[step]).toMatchObject({ conclusion: 'canceled', errors: [] });
    expect(job.steps[step]?.log.match(/It got SIG\w+/g)).toEqual(['It got SIGINT']);
  }
  expect(job.steps['Post mint']?.log).toMatch(/Revoked 2 \(/);
  expect(service.plane.isAlive('2')).toBe(false);
});
