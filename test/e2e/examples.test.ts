import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { needsService } from '../official/workflow.js';
import { setStage } from './stage.js';

const tried = new Set<string>();

/** One test of a file of `examples`, which is run as it stands. */
function example(name: string, promise: string, attempt: (file: string, context: TestContext) => Promise<void>): void {
  tried.add(name);
  test.concurrent(`${name} ${promise}`, (context) => attempt(join('examples', name), context));
}

test('each example with a job that cannot run alone is tried; test/official tries the others', () => {
  const together = readdirSync('examples').filter((name) => needsService(readFileSync(join('examples', name), 'utf8')));
  expect([...tried].sort()).toEqual(together.sort());
});

example('deploy-gate.yml', 'deploys when all that the change started has finished', async (file, context) => {
  const { service, run, script, answering, ranAt, story } = await setStage(context);
  const began = Date.now();
  const operations = [400, 1500].map((lengthMs) => service.plane.startOperation({ lengthMs }));

  const { succeeded } = await run(file, {
    files: { 'change-something.sh': answering(operations), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(true);
  expect(story()).toEqual(['get-operation, key 1', 'deploy, key none']);
  expect(ranAt('deploy') - began).toBeGreaterThanOrEqual(1500);
});

example('deploy-gate.yml', 'deploys nothing where an operation fails', async (file, context) => {
  const { service, run, script, answering, story } = await setStage(context);
  const failing = service.plane.startOperation({ lengthMs: 300, outcome: 'failed' });

  const { succeeded, log } = await run(file, {
    files: { 'change-something.sh': answering([failing]), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(log.resultsOf('change')).toEqual(['failure']);
  expect(log.resultsOf('deploy')).toEqual([]);
  expect(story()).toEqual(['get-operation, key 1']);
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
