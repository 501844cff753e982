import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { act, setStage } from './stage.js';

// The worker gives the post of an action within actions the inputs of another one (actions/runner#3514).
test.concurrent('a key that an action within an action makes is revoked when the job ends', async (context) => {
  const { service, run } = await setStage(context);
  const files = Object.fromEntries(
    ['inner/action.yml', 'outer/action.yml'].map((name) => [name, readFileSync(`test/e2e/workflows/${name}`, 'utf8')]),
  );

  const job = await run({
    files,
    steps: [
      {
        id: 'outer',
        uses: './outer',
        with: { 'parent-key': '${{ secrets.CTL_API_KEY }}', url: service.baseUrl },
      },
      act('keys', 'list-keys', { 'api-key': '${{ steps.outer.outputs.key }}' }),
    ],
  });

  expect(job.conclusion).toBe('succeeded');
  expect(job.steps['keys']).toMatchObject({ conclusion: 'succeeded', errors: [] });
  expect(job.log).toContain('Key 2 is revoked');
  expect(Object.values(job.steps).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  expect(service.plane.isAlive('2')).toBe(false);
});

test.concurrent.for([
  ['warn', 'succeeded', { errors: [], warnings: [expect.stringContaining('2')] }],
  ['fail', 'failed', { errors: [expect.stringContaining('2')], warnings: [] }],
] as const)(
  'with on-revoke-failure: %s, a key that cannot be revoked is named and the job %s',
  async ([onFailure, conclusion, messages], context) => {
    const { service, run } = await setStage(context);
    service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } });

    const job = await run({ steps: [act('mint', 'create-key', { 'on-revoke-failure': onFailure })] });

    expect(job.conclusion).toBe(conclusion);
    expect(job.steps['Post mint']).toMatchObject({ conclusion, ...messages });
    expect(service.plane.isAlive('2')).toBe(true);
  },
);
