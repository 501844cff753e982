import { expect, type TestContext, test } from 'vitest';
import { startGitHub } from '../../control-plane/github/index.js';
import type { Endpoint } from '../../control-plane/index.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { github, token } from './message.js';
import { act, observed, setStage } from './stage.js';

const operation = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';

/** Each mode, with what it needs and its first request. A create that hangs is cancelled in long.test.ts. */
const modes: readonly (readonly [mode: string, endpoint: Endpoint, inputs: Readonly<Record<string, string>>])[] = [
  ['wait-operation', 'get-operation', { 'project-id': 'p', 'operation-id': operation }],
  ['list-operations', 'list-operations', { 'project-id': 'p' }],
  ['list-projects', 'list-projects', {}],
  ['create-key', 'create-key', {}],
  ['list-keys', 'list-keys', {}],
  ['revoke-key', 'list-keys', { 'key-id': '7' }],
  ['sweep-keys', 'list-keys', {}],
];

/** A job that is cancelled as soon as the step has come so far. */
async function cancelled(
  context: TestContext,
  mode: string,
  inputs: Readonly<Record<string, string>>,
  prepare: (stage: Awaited<ReturnType<typeof setStage>>) => Promise<unknown>,
  apiUrl = '',
) {
  const stage = await setStage(context);
  const reached = prepare(stage);
  const { done, reach, cancel } = await stage.start({
    apiUrl,
    outputs: { status: '${{ steps.step.outputs.status }}' },
    steps: [act('step', mode, inputs, { env: observed('say-signals') })],
  });
  await reach(reached);
  cancel();
  const job = await done;
  expect(job.conclusion).toBe('canceled');
  expect(job.outputs).toEqual({ status: 'cancelled' });
  expect(job.steps['step']).toMatchObject({
    conclusion: 'canceled',
    errors: ['The operation was canceled.'],
    summary: expect.stringMatching(new RegExp(`^### 🚫 ${mode}: Cancelled`)),
  });
  expect(job.steps['step']?.log.match(/It got SIG\w+/g)).toEqual(['It got SIGINT']);
  expect(job.steps['Post step']).toMatchObject({
    conclusion: 'succeeded',
    log: expect.stringMatching(/^Post job cleanup\.\n$/),
  });
  return stage;
}

test.concurrent.for(modes.filter(([mode]) => mode !== 'create-key'))(
  'a cancel ends %s at the first signal while a request hangs',
  async ([mode, endpoint, inputs], context) => {
    await cancelled(context, mode, inputs, ({ service }) => {
      service.faults.add({ fault: { kind: 'hang-before-headers' } });
      return service.arrived({ endpoint });
    });
  },
);

test.concurrent.for(modes)(
  'a cancel ends %s at the first signal between two attempts',
  async ([mode, endpoint, inputs], context) => {
    // A create after 503 may have made a key; after 429 it has not. No attempt after a 503 begins later than 60 s.
    const status = mode === 'create-key' ? 429 : 503;
    const { service } = await cancelled(context, mode, inputs, (stage) => {
      stage.service.faults.add({ fault: { kind: 'status', status, retryAfter: { seconds: 50 } } });
      return stage.service.ended({ endpoint });
    });

    expect(service.requests.map((request) => request.endpoint)).toEqual([endpoint]);
  },
);

test.concurrent('a cancel ends sweep-keys at the first signal while GitHub does not respond', async (context) => {
  const { repository, repository_id: repositoryId, server_url: server } = github;
  const api = await startGitHub({ token, repository, repositoryId });
  context.onTestFinished(() => api.close());
  api.faults.add({ fault: { kind: 'hang-before-headers' } });

  await cancelled(
    context,
    'sweep-keys',
    {},
    ({ service }) => {
      const run = { id: '111', attempt: 1, fingerprint: repositoryFingerprint(server, repositoryId) };
      service.plane.addKey(makeKeyName('shop', { run, isKept: false }, Math.random));
      return api.arrived();
    },
    api.url,
  );
});
