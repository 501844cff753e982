import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

const background = { background: true };

test.concurrent('steps in the background wait, list and make a key at the same time, each with its own outputs and post', async (context) => {
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
  expect(job.steps['Post mint']?.log).toMatch(/Key 2 is revoked/);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent('a wait in the background that fails turns the job red, and disturbs no other step', async (context) => {
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

test.concurrent('a wait in the background that fails turns the job red also where no step waits for it', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 300, outcome: 'failed' });

  const job = await run({
    steps: [act('bad', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, background)],
  });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['bad']).toMatchObject({ conclusion: 'failed', errors: [expect.stringContaining(id)] });
});

test.concurrent('a cancel step ends a wait in the background as a cancel of the job would', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
  const folder = mkdtempSync(join(tmpdir(), 'ctl-action-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const begun = join(folder, 'begun');

  const { done } = await start({
    steps: [
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': id }, background),
      { id: 'begun', run: `until test -e '${begun}'; do sleep 0.1; done` },
      { cancel: ['wait'] },
      { id: 'show', if: 'always()', run: 'echo "It is ${{ steps.wait.outputs.status }}."' },
    ],
  });
  await service.arrived({ endpoint: 'get-operation' });
  writeFileSync(begun, '');
  const job = await done;

  expect(job.steps['wait']).toMatchObject({ conclusion: 'canceled', errors: [] });
  expect(job.steps['show']?.log).toContain('It is cancelled.');
});
