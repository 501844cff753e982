import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { needsService } from '../official/workflow.js';
import { mainBranch } from './service-stage.js';
import { setStage } from './stage.js';

const tried = new Set<string>();

type Attempt = (file: string, context: TestContext) => Promise<void>;

/** One test of a file of `examples`, which is run as it stands. */
function example(name: string, promise: string, attempt: Attempt): void {
  tried.add(name);
  test.concurrent(`${name} ${promise}`, (context) => attempt(join('examples', name), context));
}

test('test/e2e runs each example with a job that needs the service', () => {
  const together = readdirSync('examples').filter((name) => needsService(readFileSync(join('examples', name), 'utf8')));
  expect([...tried].sort()).toEqual(together.sort());
});

const failsOnce = '#!/bin/sh\ntest -e tried || { touch tried; exit 1; }\n';

for (const [promise, outcome] of [
  ['builds and deploys without the key once the operations have finished', 'finished'],
  ['does not deploy if an operation fails', 'failed'],
] as const) {
  example('deploy-gate.yml', promise, async (file, context) => {
    const { run, script, story } = await setStage(context, { newOperations: { lengthMs: 1000, outcome } });
    const files = { 'build.sh': script('build'), 'connect.sh': failsOnce, 'deploy.sh': script('deploy') };
    const { resultsOf } = await run(file, 'push', files);
    const isOpen = outcome === 'finished';
    expect(resultsOf('change')).toEqual([isOpen ? 'success' : 'failure']);
    const deployed = isOpen ? ['build, key none', 'deploy, key none'] : [];
    expect(story()).toEqual(['create-branch, key 1', 'get-operation, key 1', ...deployed]);
  });
}

for (const [promise, outcome] of [
  ['deploys when the operations of the branch have finished', 'finished'],
  ['does not deploy if an operation of the branch failed before the step began', 'failed'],
] as const) {
  example('after-the-cli.yml', promise, async (file, context) => {
    const { service, run, script, startUntil, story } = await setStage(context);
    service.plane.startOperation({ branchId: mainBranch, lengthMs: 0, outcome });
    startUntil({ endpoint: 'list-operations', n: 2 }, { branchId: mainBranch });
    service.plane.startOperation({ branchId: 'br-preview-1', lengthMs: Number.POSITIVE_INFINITY });
    await run(file, 'push', { 'change.sh': script('change'), 'deploy.sh': script('deploy') });
    const deployed = outcome === 'finished' ? ['deploy, key none'] : [];
    expect(story()).toEqual(['change, key 1', 'list-operations, key 1', ...deployed]);
  });
}

example('merge-queue.yml', 'holds the queue until no operation of the branch is running', async (file, context) => {
  const { service, run, startUntil, story } = await setStage(context);
  startUntil({ endpoint: 'list-operations', n: 2 }, { branchId: mainBranch });
  service.plane.startOperation({ branchId: 'br-preview-1', lengthMs: Number.POSITIVE_INFINITY });
  const { resultsOf } = await run(file, 'merge_group');
  expect(resultsOf('ready')).toEqual(['success']);
  expect(story()).toEqual(['list-operations, key 1']);
});

example('merge-queue.yml', 'rejects a merge if an operation of the branch failed', async (file, context) => {
  const { service, run } = await setStage(context);
  service.plane.startOperation({ branchId: mainBranch, lengthMs: 0, outcome: 'failed', ageMs: 20 * 60_000 });
  const { resultsOf } = await run(file, 'merge_group');
  expect(resultsOf('ready')).toEqual(['failure']);
});

for (const [promise, outcome, isTested] of [
  ['creates a branch, tests on it without the key, and deletes it', 'finished', true],
  ['deletes the branch even if its creation failed', 'failed', false],
] as const) {
  example('preview.yml', promise, async (file, context) => {
    const { service, run, script, story } = await setStage(context, { newOperations: { lengthMs: 300, outcome } });
    await run(file, 'pull_request', { 'test.sh': script('test') });
    const [, id] = /branches\/(.+)/.exec(service.requests.find(({ method }) => method === 'DELETE')?.path ?? '') ?? [];
    const { name } = JSON.parse(service.requests[0]?.body ?? '').branch;
    expect(name).toMatch(/^preview-[\d-]+$/);
    expect(story()).toEqual([
      ...['create-branch, key 1', 'get-operation, key 1', ...(isTested ? [`test ${id}, key none`] : [])],
      ...['delete-branch, key 1', 'get-operation, key 1'],
    ]);
  });
}

const inEurope = (projectsJson: string) => {
  const all: readonly { id: string; region_id: string }[] = JSON.parse(projectsJson);
  return all.flatMap(({ id, region_id: region }) => (region.includes('-eu-') ? id : []));
};

example('fan-out-in-batches.yml', 'runs its script for each project with a key for each job', async (file, context) => {
  const { service, run, script, story } = await setStage(context, { projects: 12 });
  const wanted = inEurope(service.plane.projectsJson);
  const { succeeded, resultsOf } = await run(file, 'schedule', { 'migrate.sh': script('migrate') });
  expect(succeeded).toBe(true);
  expect(wanted).toHaveLength(5);
  expect(resultsOf('migrate')).toEqual(Array(4).fill('success'));
  const migrated = story().filter((line) => line.startsWith('migrate'));
  const projects = migrated.map((line) => line.replace(/, key [2345]$/, ''));
  expect(projects.sort()).toEqual(wanted.map((id) => `migrate ${id}`).sort());
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
});
