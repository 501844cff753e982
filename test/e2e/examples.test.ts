import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { needsService } from '../official/workflow.js';
import { setStage } from './stage.js';

const tried = new Set<string>();

type Attempt = (file: string, context: TestContext) => Promise<void>;

/** One test of a file of `examples`, which is run as it stands. */
function example(name: string, promise: string, attempt: Attempt, retry = 0): void {
  tried.add(name);
  test.concurrent(`${name} ${promise}`, { retry }, (context) => attempt(join('examples', name), context));
}

/** A test of printed text has three tries: on a busy machine, act can lose the last line that a step prints before it ends. */
const printing: typeof example = (name, promise, attempt) => example(name, promise, attempt, 2);

test('test/e2e runs each example that contains a job which cannot run alone', () => {
  const together = readdirSync('examples').filter((name) => needsService(readFileSync(join('examples', name), 'utf8')));
  expect([...tried].sort()).toEqual(together.sort());
});

const failsOnce = '#!/bin/sh\ntest -e tried || { touch tried; exit 1; }\n';

example('deploy-gate.yml', 'deploys once the operations finished and a connection works', async (file, context) => {
  const { service, run, script, answerBranch, ranAt, story } = await setStage(context);
  const began = Date.now();
  answerBranch([400, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs })));
  const { succeeded } = await run(file, 'push', { 'connect.sh': failsOnce, 'deploy.sh': script('deploy') });
  expect(succeeded).toBe(true);
  expect(story()).toEqual(['create-branch, key 1', 'get-operation, key 1', 'deploy, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
});

example('deploy-gate.yml', 'does not deploy if an operation fails', async (file, context) => {
  const { service, run, script, answerBranch, story } = await setStage(context);
  answerBranch([service.plane.startOperation({ lengthMs: 300, outcome: 'failed' })]);
  const { succeeded, resultsOf } = await run(file, 'push', { 'connect.sh': failsOnce, 'deploy.sh': script('deploy') });
  expect(succeeded).toBe(false);
  expect([resultsOf('change'), resultsOf('deploy')]).toEqual([['failure'], []]);
  expect(story()).toEqual(['create-branch, key 1', 'get-operation, key 1']);
});

const reusableGate = { '.github/workflows/reusable-gate.yml': readFileSync('examples/reusable-gate.yml', 'utf8') };

example('gate-on-ids.yml', 'deploys after the called workflow has waited for all operations', async (file, context) => {
  const { service, run, script, answering, ranAt, story } = await setStage(context);
  const began = Date.now();
  const operations = [300, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs }));
  const files = { ...reusableGate, 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') };
  const { succeeded } = await run(file, 'workflow_dispatch', files);
  expect(succeeded).toBe(true);
  expect(story()).toEqual(['get-operation, key 1', 'deploy 2, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
});

printing('reusable-gate.yml', 'waits for all operations, and fails if one of them failed', async (_, context) => {
  const { service, run, script, answering, startUntil, story } = await setStage(context);
  const failing = service.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  const slow = startUntil({ endpoint: 'get-operation', n: 4 });
  const files = { ...reusableGate, 'change-something.sh': answering([failing, slow]), 'deploy.sh': script('deploy') };
  const { succeeded, text } = await run('examples/gate-on-ids.yml', 'workflow_dispatch', files);
  expect(succeeded).toBe(false);
  expect(story()).toEqual(['get-operation, key 1']);
  expect(text).toMatch(new RegExp(`${slow.id}.*finished`));
});

example('merge-queue.yml', 'holds the queue until no operation of the branch is running', async (file, context) => {
  const { service, run, startUntil, story } = await setStage(context);
  startUntil({ endpoint: 'list-operations', n: 2 }, { branchId: 'br-main-1' });
  service.plane.startOperation({ branchId: 'br-preview-1', lengthMs: Number.POSITIVE_INFINITY });
  const { resultsOf } = await run(file, 'merge_group');
  expect(resultsOf('ready')).toEqual(['success']);
  expect(story()).toEqual(['list-operations, key 1']);
});

example('merge-queue.yml', 'rejects a merge after a failed operation', async (file, context) => {
  const { service, run } = await setStage(context);
  service.plane.startOperation({ branchId: 'br-main-1', lengthMs: 0, outcome: 'failed', ageMs: 20 * 60_000 });
  const { resultsOf } = await run(file, 'merge_group');
  expect(resultsOf('ready')).toEqual(['failure']);
});

example('merge-queue.yml', 'sends no request on a pull request', async (file, context) => {
  const { run, story } = await setStage(context);
  const { succeeded } = await run(file, 'pull_request');
  expect(succeeded).toBe(true);
  expect(story()).toEqual([]);
});

const inEurope = (projectsJson: string) => {
  const all: readonly { id: string; region_id: string }[] = JSON.parse(projectsJson);
  return all.flatMap(({ id, region_id: region }) => (region.includes('-eu-') ? id : []));
};

const notMigrated = (text: string) => /Not migrated: (.*)/.exec(text)?.[1]?.trim().split(' ') ?? [];

example('fan-out-in-batches.yml', 'waits for each project to be idle, then runs its script', async (file, context) => {
  const { service, run, script, ranAt, story } = await setStage(context, { projects: 12 });
  const wanted = inEurope(service.plane.projectsJson);
  const began = Date.now();
  for (const projectId of wanted) service.plane.startOperation({ projectId, lengthMs: 4000 });
  const { succeeded, resultsOf } = await run(file, 'schedule', { 'migrate.sh': script('migrate') });
  expect(succeeded).toBe(true);
  expect(wanted).toHaveLength(5);
  expect(resultsOf('migrate')).toEqual(['success', 'success', 'success']);
  expect(resultsOf('report')).toEqual(['success']);
  const migrated = story().filter((line) => line.startsWith('migrate'));
  const projects = migrated.map((line) => line.replace(/, key [234]$/, ''));
  expect(projects.sort()).toEqual(wanted.map((id) => `migrate ${id}`).sort());
  expect(ranAt('migrate') - began).toBeGreaterThanOrEqual(4000);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
});

printing('fan-out-in-batches.yml', 'goes on without a failed project, and reports it', async (file, context) => {
  const { service, run, script, startUntil, story } = await setStage(context, { projects: 12 });
  const [busy = '', broken = '', ...others] = inEurope(service.plane.projectsJson);
  startUntil({ endpoint: 'list-operations', path: busy }, { projectId: busy, outcome: 'failed' });
  const failing = script('migrate').replace('exec curl', `test "$1" != ${broken} || exit 3\nexec curl`);
  const { succeeded, resultsOf, text } = await run(file, 'schedule', { 'migrate.sh': failing });
  expect(succeeded).toBe(false);
  expect(resultsOf('report')).toEqual(['failure']);
  expect(notMigrated(text).sort()).toEqual([busy, broken].sort());
  const migrated = story().flatMap((line) => /^migrate (\S+),/.exec(line)?.[1] ?? []);
  expect(migrated.sort()).toEqual(others.sort());
});

printing('fan-out-in-batches.yml', 'reports all projects if its jobs fail before the script', async (file, context) => {
  const { service, run, script } = await setStage(context, { projects: 4 });
  service.faults.add({ endpoint: 'create-key', fault: { kind: 'status', status: 403 } });
  const { resultsOf, text } = await run(file, 'schedule', { 'migrate.sh': script('migrate') });
  expect(resultsOf('report')).toEqual(['failure']);
  expect(notMigrated(text)).toEqual(inEurope(service.plane.projectsJson));
});

for (const [promise, testScript, result] of [
  ['creates a branch, tests on it, and deletes it', undefined, 'success'],
  ['deletes the branch although the test fails', '#!/bin/sh\nexit 3\n', 'failure'],
] as const) {
  example('preview.yml', promise, async (file, context) => {
    const { service, run, script, story } = await setStage(context, { newOperations: { lengthMs: 300 } });
    const { resultsOf } = await run(file, 'pull_request', { 'test.sh': testScript ?? script('test') });
    const [, id] = /branches\/(.+)/.exec(service.requests.find(({ method }) => method === 'DELETE')?.path ?? '') ?? [];
    expect([resultsOf('create'), resultsOf('test'), resultsOf('delete')]).toEqual([['success'], [result], ['success']]);
    expect(service.requests[0]?.body).toMatch(/^\{"branch":\{"name":"preview-[\d-]+"\}\}$/);
    const tested = result === 'success' ? [`test ${id}, key none`] : [];
    expect(story()).toEqual([
      ...['create-branch, key 1', 'get-operation, key 1', ...tested],
      ...['delete-branch, key 1', 'get-operation, key 1'],
    ]);
  });
}
