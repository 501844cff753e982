import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

const actions = Object.fromEntries(
  ['inner/action.yml', 'outer/action.yml'].map((name) => [name, readFileSync(`test/official/actions/${name}`, 'utf8')]),
);

// The worker gives the post of an action within actions the inputs of another one (actions/runner#3514).
test.concurrent.for([
  ['a composite action', './inner', ['parent-key', 'url']],
  ['a composite action within another', './outer', ['control-key', 'control-url']],
] as const)('a key of %s works in later steps, and post revokes it', async ([, uses, names], context) => {
  const { service, run } = await setStage(context);
  const { service: elsewhere } = await setStage(context);
  const [keyInput, urlInput] = names;
  const inputs = {
    'parent-key': 'a-key-of-something-else',
    url: elsewhere.baseUrl,
    [keyInput]: '${{ secrets.CTL_API_KEY }}',
    [urlInput]: service.baseUrl,
  };

  const job = await run({
    files: actions,
    steps: [
      { id: 'made', uses, with: inputs },
      act('keys', 'list-keys', { 'api-key': '${{ steps.made.outputs.key }}' }),
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['keys']).toMatchObject({ conclusion: 'succeeded', errors: [] });
  expect(job.log).toContain('Revoked 2 (');
  expect(Object.values(job.steps).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  expect(service.plane.isAlive('2')).toBe(false);
  expect(elsewhere.requests).toEqual([]);
});

test.concurrent.for([
  ['warn', 'succeeded', { errors: [], warnings: [expect.stringContaining('2')] }],
  ['fail', 'failed', { errors: [expect.stringContaining('2')], warnings: [] }],
] as const)(
  'with on-revoke-failure: %s, a job whose key cannot be revoked ends as %s',
  async ([onFailure, conclusion, messages], context) => {
    const { service, run } = await setStage(context);
    service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } });

    const job = await run({ steps: [act('mint', 'create-key', { 'on-revoke-failure': onFailure })] });

    expect(job.conclusion).toBe(conclusion);
    expect(job.steps['Post mint']).toMatchObject({ conclusion, ...messages });
    expect(service.plane.isAlive('2')).toBe(true);
  },
);

test.concurrent('the post steps of a job run in reverse order, and each uses and revokes its own key', async (context) => {
  const { service, run } = await setStage(context);
  const steps = ['first', 'second', 'third'];

  const job = await run({ steps: steps.map((id) => act(id, 'create-key')) });

  expect(job.conclusion).toBe('succeeded');
  for (const [index, id] of steps.entries()) {
    expect(job.steps[`Post ${id}`]).toMatchObject({ conclusion: 'succeeded', errors: [], warnings: [] });
    expect(job.steps[`Post ${id}`]?.log).toContain(`Revoked ${index + 2} (`);
    expect(job.steps[`Post ${id}`]?.summary).toContain(`Revoked ${index + 2} (`);
  }
  const revoked = service.requests.filter(({ endpoint }) => endpoint === 'revoke-key');
  // Each key gets DELETEs until one gets 401.
  const paths = revoked.map(({ path, keyId }) => [path, keyId]);
  expect(paths.filter(([path], n) => path !== paths[n - 1]?.[0])).toEqual(
    ['4', '3', '2'].map((id) => [`/v2/api_keys/${id}`, id]),
  );
  expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
});
