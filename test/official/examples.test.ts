import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { startGitHub } from '../github/index.js';
import { startProxy } from '../scenarios/proxy-server.js';
import { authorityFile, good } from '../scenarios/tls/certificates.js';
import { github, token } from './message.js';
import { jobsAlone } from './workflow.js';
import { setWorkflowStage } from './workflow-stage.js';

const exiting3 = '#!/bin/sh\nexit 3\n';
const exitCode3 = 'Process completed with exit code 3.';

const tried = new Set<string>();

/** One test of a job of a file of `examples`, which is run as it stands. */
function example(
  name: string,
  jobId: string,
  promise: string,
  attempt: (place: readonly [file: string, jobId: string], context: TestContext) => Promise<void>,
): void {
  tried.add(`${name} ${jobId}`);
  test.concurrent(`${name}, job ${jobId}, ${promise}`, (context) => attempt([join('examples', name), jobId], context));
}

test('each job of an example that can run alone is tried; test/e2e tries the others', () => {
  const alone = readdirSync('examples').flatMap((name) =>
    jobsAlone(readFileSync(join('examples', name), 'utf8')).map((jobId) => `${name} ${jobId}`),
  );
  expect([...tried].sort()).toEqual(alone.sort());
});

example(
  'deploy-gate.yml',
  'change',
  'is green when all that the change started has finished',
  async (place, context) => {
    const { service, run, answering, story } = await setWorkflowStage(context);
    const operations = [400, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs }));

    const job = await run(...place, { files: { 'change-something.sh': answering(operations) } });

    expect(job.conclusion).toBe('succeeded');
    expect(story()).toEqual(['get-operation, key 1']);
    expect(job.steps['wait-operation']?.summary).toMatch(/^### ✅ wait-operation: 2 operations finished/);
  },
);

example('deploy-gate.yml', 'change', 'is red where an operation fails, and names it', async (place, context) => {
  const { service, run, answering, story } = await setWorkflowStage(context);
  const failing = service.plane.startOperation({ lengthMs: 300, outcome: 'failed' });

  const job = await run(...place, { files: { 'change-something.sh': answering([failing]) } });

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual(['get-operation, key 1']);
  expect(job.steps['wait-operation']?.errors).toEqual([expect.stringContaining(failing.id)]);
});

example('gate-on-curl.yml', 'branch', 'sends one request, and waits for its operations', async (place, context) => {
  const { service, projectId, run, story } = await setWorkflowStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 1000 });
  // The API's document shows no way to make a branch: this answer stands in.
  const body = JSON.stringify({ connection: 'db://secret', operations: [{ id, project_id: projectId }] });
  service.faults.add({ path: '/branches', fault: { kind: 'status', status: 201, body } });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(story()).toEqual(['other, key 1', 'get-operation, key 1']);
  expect(service.requests[0]).toMatchObject({
    method: 'POST',
    path: `/v2/projects/${projectId}/branches`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(job.log).toMatch(/^The branch is there\.$/m);
  for (const secret of ['db://secret', service.apiKey]) expect(job.sent).not.toContain(secret);
});

example('gate-on-curl.yml', 'branch', 'stops where the API refuses', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);
  service.faults.add({ path: '/branches', fault: { kind: 'status', status: 422 } });

  const job = await run(...place);

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual(['other, key 1']);
  expect(job.steps['Ask for a branch']?.log).toMatch(/^curl: .*422/m);
  expect(job.steps['wait-operation']?.conclusion).toBe('skipped');
});

example('gate-on-ids.yml', 'change', 'sees all operations to their end, and then is red', async (place, context) => {
  const { service, run, script, answering, startUntil, story } = await setWorkflowStage(context);
  const failing = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  const slow = startUntil({ endpoint: 'get-operation', n: 4 });

  const job = await run(...place, {
    files: { 'change-something.sh': answering([failing, slow]), 'deploy.sh': script('deploy') },
  });

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual(['get-operation, key 1']);
  expect(job.steps['wait-operation']?.errors).toEqual([expect.stringContaining(failing.id)]);
  expect(job.steps['wait-operation']?.log).toMatch(new RegExp(`${slow.id}.*finished`));
});

example('gate-on-ids.yml', 'change', 'deploys when all have finished', async (place, context) => {
  const { service, run, script, answering, ranAt, story } = await setWorkflowStage(context);
  const began = Date.now();
  const operations = [300, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs }));

  const job = await run(...place, {
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(job.conclusion).toBe('succeeded');
  expect(story()).toEqual(['get-operation, key 1', 'deploy, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
});

example('gate-on-ids.yml', 'change', 'stops where the script fails', async (place, context) => {
  const { run, script, story } = await setWorkflowStage(context);

  const job = await run(...place, {
    files: { 'change-something.sh': exiting3, 'deploy.sh': script('deploy') },
  });

  expect(job.conclusion).toBe('failed');
  expect(story()).toEqual([]);
  expect(job.steps['Change something, and keep the ids of its operations']?.errors).toEqual([exitCode3]);
});

example(
  'wait-until-idle.yml',
  'dump',
  'waits for what is under way in the branch, and for no other',
  async (place, context) => {
    const { service, run, script, startUntil, story } = await setWorkflowStage(context);
    startUntil({ endpoint: 'list-operations', n: 2 }, { branchId: 'br-main-1' });
    service.plane.startOperation({ branchId: 'br-preview-1', lengthMs: Number.POSITIVE_INFINITY });

    const job = await run(...place, { files: { 'dump.sh': script('dump') } });

    expect(job.conclusion).toBe('succeeded');
    expect(story()).toEqual(['list-operations, key 1', 'dump, key none']);
    expect(job.steps['wait-operation']?.summary).toMatch(/^### ✅ wait-operation: 1 operation finished/);
  },
);

example(
  'key-for-one-job.yml',
  'migrate',
  'has a key for its script, shows it nowhere, and revokes it',
  async (place, context) => {
    const { service, run, script, story } = await setWorkflowStage(context);

    const job = await run(...place, { files: { 'migrate.sh': script('migrate') } });

    expect(job.conclusion).toBe('succeeded');
    expect(story()).toEqual(['create-key, key 1', 'migrate, key 2', 'revoke-key, key 2']);
    expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
    expect(job.steps['mint']?.summary).toMatch(/^### ✅ create-key: Created key 2 \(shop-run19512345678-1-\S+\)/);
    expect(job.steps['Post mint']?.summary).toMatch(/^### ✅ create-key: Key 2 was revoked/);
    expect(job.steps['Run ./migrate.sh']?.log).toContain('It runs with <***>.');
    for (const secret of [service.apiKey, service.plane.key('2')?.key ?? '']) expect(job.sent).not.toContain(secret);
  },
);

example('key-for-one-job.yml', 'migrate', 'revokes its key also where the script fails', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);

  const job = await run(...place, { files: { 'migrate.sh': exiting3 } });

  expect(job.conclusion).toBe('failed');
  expect(job.steps['Run ./migrate.sh']?.errors).toEqual([exitCode3]);
  expect(story()).toEqual(['create-key, key 1', 'revoke-key, key 2']);
  expect(job.steps['Post mint']).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
  expect(service.plane.isAlive('2')).toBe(false);
});

example(
  'key-for-some-steps.yml',
  'migrate',
  'revokes the key before the steps that need none',
  async (place, context) => {
    const { service, run, script, statusOf, story } = await setWorkflowStage(context);
    const left = service.plane.addKey('shop-run7-1-left');

    const job = await run(...place, {
      files: { 'migrate.sh': script('migrate'), 'fill.sh': script('fill'), 'test.sh': script('test') },
    });

    expect(job.conclusion).toBe('succeeded');
    expect(story()).toEqual([
      'create-key, key 1',
      'migrate, key 3',
      'fill, key 3',
      'list-keys, key 1', // for the id
      'revoke-key, key 1',
      'list-keys, key 1',
      'test, key 3',
      'revoke-key, key 3', // by the post step: 401, which the list confirms
      'list-keys, key 1',
    ]);
    expect(statusOf('test')).toBe(401);
    expect(service.plane.aliveKeys()).toEqual([expect.objectContaining({ id: '1' }), left]);
    expect(job.steps['list-keys']?.summary).toMatch(/^### ✅ list-keys: 1 key\b[\s\S]*shop-run7-1-left/);
    expect(job.sent).not.toContain(service.plane.key('3')?.key);
  },
);

example('fan-out-in-batches.yml', 'list', 'hands all projects on as an output of the job', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context, { projects: 3 });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(JSON.parse(job.outputs['batches'] ?? '')).toEqual(service.projectIds.map((id) => [id]));
  expect(story()).toEqual(['list-projects, key 1']);
});

example('fan-out-in-batches.yml', 'list', 'is red where there is no project', async (place, context) => {
  const { run } = await setWorkflowStage(context, { projects: 0 });

  const job = await run(...place);

  expect(job.conclusion).toBe('failed');
  expect(job.steps['list']?.errors).toHaveLength(1);
});

example('fan-out-to-projects.yml', 'list', 'hands the projects of the region on', async (place, context) => {
  const { service, run } = await setWorkflowStage(context, { projects: 4 });
  const all: { id: string; region_id: string }[] = JSON.parse(service.plane.projectsJson);
  const wanted = all.filter(({ region_id: region }) => region.includes('-eu-')).map(({ id }) => id);

  const job = await run(...place);

  expect(wanted).toHaveLength(2);
  expect(JSON.parse(job.outputs['project-ids'] ?? '')).toEqual(wanted);
});

example('failed-operations.yml', 'look', 'is red where one has failed, and names it', async (place, context) => {
  const { service, run } = await setWorkflowStage(context, { operations: 5 });
  const failed = service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 5 * 3_600_000 });

  const job = await run(...place);

  expect(job.conclusion).toBe('failed');
  expect(job.steps['list-operations']).toMatchObject({
    errors: [expect.stringContaining('Found 1 operation')],
    summary: expect.stringContaining(failed.id),
  });
});

example('failed-operations.yml', 'look', 'is green where none has, of late', async (place, context) => {
  const { service, run, story } = await setWorkflowStage(context);
  service.plane.startOperation({ lengthMs: 0 });
  service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 7 * 3_600_000 });

  const job = await run(...place);

  expect(job.conclusion).toBe('succeeded');
  expect(story()).toEqual(['list-operations, key 1']);
});

example('sweep-keys.yml', 'sweep', 'revokes the keys of runs that are over, and no other', async (place, context) => {
  const { service, run } = await setWorkflowStage(context);
  const { repository, repository_id: repositoryId, server_url: server, run_id: ownRun } = github;
  const api = await startGitHub({ token, repository, repositoryId });
  context.onTestFinished(() => api.close());
  api.addRun({ id: ownRun });
  api.addRun({ id: '7', status: 'completed', conclusion: 'cancelled' });
  api.addRun({ id: '8' });
  const nameIn = (id: string, ofRepository = repositoryId) =>
    makeKeyName(
      'shop',
      { run: { id, attempt: 1, fingerprint: repositoryFingerprint(server, ofRepository) }, isKept: false },
      Math.random,
    );
  const [over, gone, running, foreign, console_] = [
    nameIn('7'),
    nameIn('9'),
    nameIn('8'),
    nameIn('7', '7654321'),
    'shop of the console',
  ].map((name) => service.plane.addKeyOfAge(name, 7_200_000));

  const job = await run(...place, { apiUrl: api.url });

  expect(job.conclusion).toBe('succeeded');
  expect(service.plane.aliveKeys().slice(1)).toEqual([running, foreign, console_]);
  expect(service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
    `/v2/api_keys/${over?.id}`,
    `/v2/api_keys/${gone?.id}`,
  ]);
  expect(api.requests.length).toBeGreaterThan(0);
  expect(api.requests.every(({ headers }) => headers.authorization?.endsWith(token))).toBe(true);
  expect(job.steps['sweep-keys']).toMatchObject({ errors: [], warnings: [] });
});

example(
  'behind-a-proxy.yml',
  'wait',
  'reaches the API by the proxy and by its own authority',
  async (place, context) => {
    const { service, run, startUntil, story } = await setWorkflowStage(context, { tls: good });
    const proxy = await startProxy(context, Number(new URL(service.baseUrl).port));
    startUntil({ endpoint: 'list-operations', n: 2 });

    const job = await run(...place, {
      vars: {
        CTL_BASE_URL: 'https://control.test/v2',
        PROXY_URL: `http://127.0.0.1:${proxy.port}`,
        CA_FILE: authorityFile,
      },
    });

    expect(job.conclusion).toBe('succeeded');
    expect(proxy.asked[0]?.url).toBe('control.test:443');
    expect(story()).toEqual(['list-operations, key 1']);
    expect(job.steps['wait-operation']?.summary).toMatch(/^### ✅ wait-operation: 1 operation finished/);
  },
);
