import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { fingerprintOf, keyName } from '../../src/modes/keys/key-name.js';
import { startGitHub } from '../github/index.js';
import { startProxy } from '../scenarios/proxy-server.js';
import { authorityFile, good } from '../scenarios/tls/certificates.js';
import { setStage } from './stage.js';

const tried = new Set<string>();

/** One test of a file of `examples`, which is run as it stands. */
function example(name: string, promise: string, attempt: (file: string, context: TestContext) => Promise<void>): void {
  tried.add(name);
  test.concurrent(`${name} ${promise}`, (context) => attempt(join('examples', name), context));
}

test('each example is tried', () => {
  expect([...tried].sort()).toEqual(readdirSync('examples').sort());
});

example('deploy-gate.yml', 'deploys when all that the change started has finished', async (file, context) => {
  const { service, run, script, answering, ranAt, story } = await setStage(context);
  const began = Date.now();
  const operations = [400, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs }));

  const { succeeded, log } = await run(file, {
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['get-operation, key 1', 'deploy, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
  expect(log.summariesOf('change')).toEqual([expect.stringMatching(/^### ✅ wait-operation: 2 operations finished/)]);
});

example('deploy-gate.yml', 'deploys nothing where an operation fails', async (file, context) => {
  const { service, run, script, answering, story } = await setStage(context);
  const failing = service.plane.startOperation({ lengthMs: 300, outcome: 'failed' });

  const { succeeded, log } = await run(file, {
    files: { 'change-something.sh': answering([failing]), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(log.resultsOf('change')).toEqual(['failure']);
  expect(log.stepsOf('deploy')).toEqual([]);
  expect(story()).toEqual(['get-operation, key 1']);
  expect(log.annotationsOf('change', 'error')).toEqual([expect.stringContaining(failing.id)]);
});

example('gate-on-curl.yml', 'sends one request, and waits for its operations', async (file, context) => {
  const { service, projectId, run, story } = await setStage(context);
  const { id } = service.plane.startOperation({ lengthMs: 1000 });
  // The API's document shows no way to make a branch: this answer stands in.
  const body = JSON.stringify({ connection: 'db://secret', operations: [{ id, project_id: projectId }] });
  service.faults.add({ path: '/branches', fault: { kind: 'status', status: 201, body } });

  const { succeeded, log } = await run(file, { event: 'workflow_dispatch' });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['other, key 1', 'get-operation, key 1']);
  expect(service.requests[0]).toMatchObject({
    method: 'POST',
    path: `/v2/projects/${projectId}/branches`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(log.linesOf('branch').at(-1)).toBe('The branch is there.');
  expect(log.text).not.toContain('db://secret');
});

example('gate-on-curl.yml', 'stops where the API refuses', async (file, context) => {
  const { service, run, story } = await setStage(context);
  service.faults.add({ path: '/branches', fault: { kind: 'status', status: 422 } });

  const { succeeded, log } = await run(file, { event: 'workflow_dispatch' });

  expect(succeeded).toBe(false);
  expect(story()).toEqual(['other, key 1']);
  expect(log.linesOf('branch')).toEqual([expect.stringContaining('422')]);
});

example('gate-on-ids.yml', 'sees all operations to their end, and then is red', async (file, context) => {
  const { service, run, script, answering, startUntil, story } = await setStage(context);
  const failing = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  const slow = startUntil({ endpoint: 'get-operation', n: 4 });

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'change-something.sh': answering([failing, slow]), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(story()).toEqual(['get-operation, key 1']);
  expect(log.annotationsOf('change', 'error')).toEqual([expect.stringContaining(failing.id)]);
  expect(log.linesOf('change').join('\n')).toMatch(new RegExp(`${slow.id}.*finished`));
});

example('gate-on-ids.yml', 'goes on when all have finished', async (file, context) => {
  const { service, run, script, answering, story } = await setStage(context);
  const operations = [300, 600].map((lengthMs) => service.plane.startOperation({ lengthMs }));

  const { succeeded } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['get-operation, key 1', 'deploy, key none']);
});

example('gate-on-ids.yml', 'stops where the script fails', async (file, context) => {
  const { run, script, story } = await setStage(context);

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'change-something.sh': '#!/bin/sh\nexit 3\n', 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(story()).toEqual([]);
  expect(log.stepsOf('change').at(-1)).toBe('Main Change something, and keep the ids of its operations: failure');
});

example('wait-until-idle.yml', 'waits for what is under way in the branch, and for no other', async (file, context) => {
  const { service, run, script, startUntil, story } = await setStage(context);
  startUntil({ endpoint: 'list-operations', n: 2 }, { branchId: 'br-main-1' });
  service.plane.startOperation({ branchId: 'br-preview-1', lengthMs: Number.POSITIVE_INFINITY });

  const { succeeded, log } = await run(file, { event: 'schedule', files: { 'dump.sh': script('dump') } });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['list-operations, key 1', 'dump, key none']);
  expect(log.summariesOf('dump')).toEqual([expect.stringMatching(/^### ✅ wait-operation: 1 operation finished/)]);
});

example('key-for-one-job.yml', 'has a key for its script, and revokes it', async (file, context) => {
  const { service, run, script, story } = await setStage(context);

  const { succeeded, log } = await run(file, { files: { 'migrate.sh': script('migrate') } });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['create-key, key 1', 'migrate, key 2', 'revoke-key, key 2']);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
  expect(log.summariesOf('migrate')).toEqual([
    expect.stringMatching(/^### ✅ create-key: Key 2 \(shop-run1-1-\S+\) was made/),
    expect.stringMatching(/^### ✅ create-key: Key 2 is revoked/),
  ]);
});

example('key-for-some-steps.yml', 'revokes the key before the steps that need none', async (file, context) => {
  const { service, run, script, statusOf, story } = await setStage(context);
  const left = service.plane.addKey('shop-run7-1-left');

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'migrate.sh': script('migrate'), 'fill.sh': script('fill'), 'test.sh': script('test') },
  });

  expect(succeeded).toBe(true);
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
  expect(log.summariesOf('migrate')[2]).toMatch(/^### ✅ list-keys: 1 key\b[\s\S]*shop-run7-1-left/);
});

example('fan-out-in-batches.yml', 'runs its script for each project', async (file, context) => {
  const { service, run, script, story } = await setStage(context, { projects: 3 });

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'migrate.sh': script('migrate') },
  });

  expect(succeeded).toBe(true);
  expect(log.resultsOf('migrate')).toEqual(['success', 'success', 'success']);
  const [list, ...migrated] = story();
  expect(list).toBe('list-projects, key 1');
  expect(migrated.sort()).toEqual(service.projectIds.map((id) => `migrate ${id}, key none`).sort());
});

example('fan-out-in-batches.yml', 'is red where there is no project', async (file, context) => {
  const { run, script, story } = await setStage(context, { projects: 0 });

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'migrate.sh': script('migrate') },
  });

  expect(succeeded).toBe(false);
  expect(log.resultsOf('list')).toEqual(['failure']);
  expect(story()).toEqual(['list-projects, key 1']);
});

example('fan-out-to-projects.yml', 'gives a job and a key to each project of the region', async (file, context) => {
  const { service, run, script, story } = await setStage(context, { projects: 4 });
  const all: { id: string; region_id: string }[] = JSON.parse(service.plane.projectsJson);
  const wanted = all.filter(({ region_id: region }) => region.includes('-eu-')).map(({ id }) => id);

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'migrate.sh': script('migrate') },
  });

  expect(succeeded).toBe(true);
  expect(wanted).toHaveLength(2);
  expect(log.resultsOf('migrate')).toEqual(['success', 'success']);
  const migrations = story().filter((line) => line.startsWith('migrate'));
  expect(migrations.map((line) => line.replace(/, key [23]$/, ''))).toEqual(
    expect.arrayContaining(wanted.map((id) => `migrate ${id}`)),
  );
  expect(
    story()
      .filter((line) => line.startsWith('revoke'))
      .sort(),
  ).toEqual(['revoke-key, key 2', 'revoke-key, key 3']);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
});

example('fan-out-in-shares.yml', 'runs its script once for each project', async (file, context) => {
  const { service, run, script, story } = await setStage(context, { projects: 30 });

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    files: { 'migrate.sh': script('migrate') },
  });

  expect(succeeded).toBe(true);
  expect(log.resultsOf('migrate')).toEqual(Array(8).fill('success'));
  const migrated = story().filter((line) => line.startsWith('migrate'));
  expect(migrated.sort()).toEqual(service.projectIds.map((id) => `migrate ${id}, key none`).sort());
});

example('failed-operations.yml', 'is red where one has failed, and names it', async (file, context) => {
  const { service, run } = await setStage(context, { operations: 5 });
  const failed = service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 5 * 3_600_000 });

  const { succeeded, log } = await run(file, { event: 'schedule' });

  expect(succeeded).toBe(false);
  expect(log.annotationsOf('look', 'error')).toEqual([expect.stringContaining('admits 1 operation')]);
  expect(log.summariesOf('look')).toEqual([expect.stringContaining(failed.id)]);
});

example('failed-operations.yml', 'is green where none has, of late', async (file, context) => {
  const { service, run, story } = await setStage(context);
  service.plane.startOperation({ lengthMs: 0 });
  service.plane.startOperation({ lengthMs: 0, outcome: 'failed', ageMs: 7 * 3_600_000 });

  const { succeeded } = await run(file, { event: 'schedule' });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['list-operations, key 1']);
});

example('sweep-keys.yml', 'revokes the keys of runs that are over, and no other', async (file, context) => {
  const { service, run } = await setStage(context);
  const token = 'the-token-of-this-job';
  const github = await startGitHub({ token, repository: 'acme/shop', repositoryId: 1 });
  context.onTestFinished(() => github.close());
  github.addRun({ id: '1' });
  github.addRun({ id: '7', status: 'completed', conclusion: 'cancelled' });
  github.addRun({ id: '8' });
  const nameIn = (id: string, repository = 'acme/shop') =>
    keyName(
      'shop',
      { run: { id, attempt: 1, fingerprint: fingerprintOf('https://github.com', repository) }, isKept: false },
      Math.random,
    );
  const [over, gone, running, foreign, console_] = [
    nameIn('7'),
    nameIn('9'),
    nameIn('8'),
    nameIn('7', 'acme/other'),
    'shop of the console',
  ].map((name) => service.plane.addKeyOfAge(name, 7_200_000));

  const { succeeded, log } = await run(file, {
    event: 'schedule',
    secrets: { CTL_API_KEY: service.apiKey, GITHUB_TOKEN: token },
    env: { GITHUB_API_URL: github.url },
  });

  expect(succeeded).toBe(true);
  expect(service.plane.aliveKeys().slice(1)).toEqual([running, foreign, console_]);
  expect(service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([
    `/v2/api_keys/${over?.id}`,
    `/v2/api_keys/${gone?.id}`,
  ]);
  expect(github.requests.every(({ headers }) => headers.authorization?.endsWith(token))).toBe(true);
  expect(log.annotationsOf('sweep', 'warning')).toEqual([]);
});

example('behind-a-proxy.yml', 'reaches the API by the proxy and by its own authority', async (file, context) => {
  const { service, run, startUntil, story } = await setStage(context, { tls: good });
  const proxy = await startProxy(context, Number(new URL(service.baseUrl).port));
  startUntil({ endpoint: 'list-operations', n: 2 });

  const { succeeded, log } = await run(file, {
    event: 'workflow_dispatch',
    vars: {
      CTL_BASE_URL: 'https://control.test/v2',
      PROXY_URL: `http://127.0.0.1:${proxy.port}`,
      CA_FILE: authorityFile,
    },
  });

  expect(succeeded).toBe(true);
  expect(proxy.asked[0]?.url).toBe('control.test:443');
  expect(story()).toEqual(['list-operations, key 1']);
  expect(log.summariesOf('wait')).toEqual([expect.stringMatching(/^### ✅ wait-operation: 1 operation finished/)]);
});
