import { expect, type TestContext, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { github, token } from './message.js';
import type { WorkStep } from './plan.js';
import type { JobResult } from './result.js';
import { act, setStage } from './stage.js';

const modes = ['projects', 'operations', 'wait', 'mint', 'keys', 'revoke', 'sweep'] as const;

/** Starts a service and a GitHub with two runs: that of the job, and 111, which has ended and has left a key. */
async function setModeStage(context: TestContext) {
  const stage = await setStage(context);
  const { repository, repository_id: repositoryId, server_url: server, run_id: ownRun } = github;
  const api = await startGitHub({ token, repository, repositoryId });
  context.onTestFinished(() => api.close());
  api.addRun({ id: ownRun });
  api.addRun({ id: '111', status: 'completed' });
  const run = { id: '111', attempt: 1, fingerprint: repositoryFingerprint(server, repositoryId) };
  const left = stage.service.plane.addKey(makeKeyName('shop', { run, isKept: false }, Math.random));
  return { ...stage, apiUrl: api.url, left };
}

/** Whether each step told what its end was, in an output that a later part of the job could read. */
function statuses(job: JobResult): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(modes.map((id) => [id, job.outputs[id]]));
}

const outputs = Object.fromEntries(modes.map((id) => [id, `\${{ steps.${id}.outputs.status }}`]));

test.concurrent('each mode succeeds if its result is confirmed, and later steps can use its outputs', async (context) => {
  const { service, apiUrl, left, run } = await setModeStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 300 });

  const job = await run({
    apiUrl,
    outputs,
    steps: [
      act('projects', 'list-projects'),
      act('operations', 'list-operations', {
        'project-id': '${{ fromJSON(steps.projects.outputs.project-ids)[0] }}',
        since: '5m',
      }),
      act('wait', 'wait-operation', {
        'project-id': '${{ fromJSON(steps.projects.outputs.project-ids)[0] }}',
        'operation-id': '${{ steps.operations.outputs.operation-ids }}',
      }),
      act('mint', 'create-key'),
      act('keys', 'list-keys', {
        'api-key': '${{ steps.mint.outputs.key }}',
        filter: 'name=${{ steps.mint.outputs.key-name }}',
        'fail-on': 'empty',
      }),
      act('second', 'create-key'),
      act('revoke', 'revoke-key', { 'key-id': '${{ steps.second.outputs.key-id }}' }),
      act('sweep', 'sweep-keys'),
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(statuses(job)).toEqual({
    projects: 'ok',
    operations: 'ok',
    wait: 'finished',
    mint: 'ok',
    keys: 'ok',
    revoke: 'revoked',
    sweep: 'ok',
  });
  for (const mode of modes) {
    expect(job.steps[mode], mode).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
    expect(job.steps[mode]?.summary, mode).toMatch(/^### ✅ /);
  }
  expect(job.steps['wait']?.log).toContain(`${id}] finished`);
  // Only what made a key has something to do when the job ends.
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(job.steps['Post mint']?.log).toMatch(/^Post job cleanup\.\nRevoked 3 \(/);
  for (const idle of ['projects', 'operations', 'wait', 'keys', 'revoke', 'sweep']) {
    expect(job.steps[`Post ${idle}`], idle).toMatchObject({ log: 'Post job cleanup.\n', summary: '' });
  }
  expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
  expect(service.plane.isAlive(left.id)).toBe(false);
});

test.concurrent('each mode that fails adds one error annotation and a summary, and fails the job', async (context) => {
  const { service, projectId, apiUrl, left, run } = await setModeStage(context);
  const failed = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  for (const endpoint of ['create-key', 'revoke-key'] as const) {
    service.faults.add({ endpoint, fault: { kind: 'status', status: 403 } });
  }
  const next = (step: WorkStep): WorkStep => ({ ...step, if: 'always()' });

  const job = await run({
    apiUrl,
    outputs,
    steps: [
      act('projects', 'list-projects', { 'fail-on': 'match' }),
      act('operations', 'list-operations', { 'project-id': 'no-such-project' }),
      act('wait', 'wait-operation', { 'project-id': projectId, 'operation-id': failed.id }),
      act('mint', 'create-key'),
      act('keys', 'list-keys', { filter: 'name=nobody', 'fail-on': 'empty' }),
      act('revoke', 'revoke-key', { 'key-id': left.id }),
      act('sweep', 'sweep-keys'),
    ].map(next),
  });

  expect(job.conclusion).toBe('failed');
  expect(statuses(job)).toEqual({
    projects: 'match',
    operations: 'error',
    wait: 'failed',
    mint: 'error',
    keys: 'empty',
    revoke: 'error',
    sweep: 'error',
  });
  for (const mode of modes) {
    expect(job.steps[mode], mode).toMatchObject({ conclusion: 'failed', errors: [expect.any(String)] });
    expect(job.steps[mode]?.summary, mode).toMatch(/^### ❌ /);
    expect(job.steps[`Post ${mode}`], mode).toMatchObject({ conclusion: 'succeeded', log: 'Post job cleanup.\n' });
  }
  expect(job.steps['wait']?.errors).toEqual([expect.stringContaining(failed.id)]);
});
