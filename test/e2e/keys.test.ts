import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { setStage, workflow } from './stage.js';

test.concurrent('post finds and revokes the key of a create whose answer was lost', async (context) => {
  const { service, run, script, story } = await setStage(context);
  service.faults.add({ endpoint: 'create-key', fault: { kind: 'cut-before-headers' } });
  // The step looks for the key until its time is up.
  service.faults.add({ endpoint: 'list-keys', nth: 1, fault: { kind: 'hang-before-headers' } });

  const { succeeded, log } = await run(workflow('unclear-create.yml'), { files: { 'migrate.sh': script('migrate') } });

  expect(succeeded).toBe(false);
  expect(log.stepsOf('migrate').slice(-2)).toEqual([
    'Main org/ctl-action@v1: failure',
    'Post org/ctl-action@v1: success',
  ]);
  expect(story()).toEqual(['create-key, key 1', 'list-keys, key 1', 'revoke-key, key 1', 'list-keys, key 1']);
  expect(service.requests.find(({ method }) => method === 'DELETE')?.path).toBe('/v2/api_keys/2');
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
  expect(log.annotationsOf('migrate', 'error')).toEqual([expect.stringContaining('may have been made all the same')]);
});

test.concurrent('the key of a job that fails is revoked, and shown nowhere', async (context) => {
  const { service, run, script, story } = await setStage(context);

  const { succeeded, log } = await run(workflow('key-and-failing-step.yml'), {
    files: { 'migrate.sh': script('migrate'), 'deploy.sh': script('deploy') },
  });

  expect(succeeded).toBe(false);
  expect(story()).toEqual(['create-key, key 1', 'migrate, key 2', 'revoke-key, key 2']);
  expect(log.stepsOf('migrate').slice(-2)).toEqual(['Main Fail: failure', 'Post org/ctl-action@v1: success']);
  expect(log.linesOf('migrate')).toContain('The key is <***>.');
  const minted = service.plane.key('2');
  expect(minted?.revokedAt).toBeDefined();
  for (const secret of [service.apiKey, minted?.key ?? '']) expect(log.text).not.toContain(secret);
});

test.concurrent('of two keys each is revoked with its own, the last one first', async (context) => {
  const { service, run, script, story } = await setStage(context);

  const { succeeded, log } = await run(workflow('two-keys.yml'), { files: { 'migrate.sh': script('migrate') } });

  expect(succeeded).toBe(true);
  expect(story()).toEqual([
    'create-key, key 1',
    'create-key, key 1',
    'migrate 2-3, key 3',
    'revoke-key, key 3',
    'revoke-key, key 2',
  ]);
  expect(service.requests.slice(-2).map(({ path }) => path)).toEqual(['/v2/api_keys/3', '/v2/api_keys/2']);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
  expect([2, 3].map((id) => service.plane.key(String(id))?.name)).toEqual([
    expect.stringMatching(/^first-run1-1-/),
    expect.stringMatching(/^second-run1-1-/),
  ]);
  expect(log.annotationsOf('migrate', 'warning')).toEqual([]);
});

for (const [onFailure, kind, succeeds] of [
  ['warn', 'warning', true],
  ['fail', 'error', false],
] as const) {
  test.concurrent(`a key that cannot be revoked is named, and on-revoke-failure: ${onFailure} has its way`, async (context) => {
    const { service, run, story } = await setStage(context);
    service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } });

    const { succeeded, log } = await run(workflow('must-be-revoked.yml'), { vars: { ON_REVOKE_FAILURE: onFailure } });

    expect(succeeded).toBe(succeeds);
    expect(story()).toEqual(['create-key, key 1', 'revoke-key, key 2', 'list-keys, key 1', 'revoke-key, key 1']);
    expect(log.annotationsOf('migrate', kind)).toEqual([expect.stringMatching(/\b2\b.*is not known to be revoked/)]);
  });
}

// On GitHub the post step of an action within an action gets the inputs of the outer one (actions/runner#3514); act gives it
// its own. That post needs none of them is shown by test/scenarios.
test.concurrent('a key that an action, or an action within one, makes outlives it, and not the job', async (context) => {
  const { service, run, script, story } = await setStage(context);

  const { succeeded } = await run(workflow('composites.yml'), {
    files: {
      ...Object.fromEntries(
        ['inner/action.yml', 'outer/action.yml'].map((file) => [file, readFileSync(workflow(file), 'utf8')]),
      ),
      'migrate.sh': script('migrate'),
    },
  });

  expect(succeeded).toBe(true);
  expect(story()).toEqual([
    ...['create-key, key 1', 'migrate one, key 2', 'revoke-key, key 2'],
    ...['create-key, key 1', 'migrate nested, key 3', 'revoke-key, key 3'],
  ]);
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1']);
});
