import { type TestContext, test } from 'vitest';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { sabotage } from './sabotage.js';
import { forged, readSaved } from './saved-state.js';
import { setStage } from './stage.js';

// Another step of the job can read the states that steps saved, which lie beside GITHUB_ENV, and can set STATE_… through
// GITHUB_ENV. The runner gives that to post where the step itself saved none of that name.

const operationId = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

/** Each mode with inputs that are enough for a request. */
const modes: Readonly<Record<string, StepOptions['inputs']>> = {
  'wait-operation': { 'operation-id': operationId, timeout: '0' },
  'list-operations': {},
  'list-projects': {},
  'create-key': {},
  'list-keys': {},
  'revoke-key': { 'key-id': '424242' },
  'sweep-keys': {},
};

/** The action with its service, and a thief that waits for keys at an address of its own. */
async function setScene(context: TestContext) {
  const stage = await setStage(context);
  const thief = await setStage(context, { apiKey: 'the-key-of-the-thief' });
  const { service, projectId, runMode, runPost } = stage;
  // The model of all states: that of another step of the job, with the same parent key.
  const { state } = await runMode('create-key');
  const saved = state['key'] ?? '';
  return {
    service,
    thief: thief.service,
    saved,
    forged: (parts: object = {}) => forged(saved, { baseUrl: thief.service.baseUrl, ...parts }),
    run: (mode: string, inputs?: StepOptions['inputs'], options?: StepOptions) =>
      runMode(mode, { 'project-id': projectId, ...modes[mode], ...inputs }, options),
    /** Post, where another step has set this state for it. */
    runPost: (main: StepResult, state: string) => {
      main.job.env['STATE_key'] = state;
      return runPost(main, { nodeArgs: [], debug: true });
    },
  };
}

const ends: Readonly<Record<string, { readonly inputs?: StepOptions['inputs']; readonly isRefused?: true }>> = {
  'as it goes': {},
  'where the service rejects it': { isRefused: true },
  'with invalid inputs': { inputs: { timeout: 'soon', 'base-url': 'nowhere' } },
  'without a key': { inputs: { 'api-key': '' } },
};

for (const mode of [...Object.keys(modes), 'no-such-mode'])
  test.concurrent(`${mode} saves a state, however it ends, so that post takes none that another step forges`, async (context) => {
    const { expect } = context;
    const { service, thief, forged, run, runPost } = await setScene(context);

    for (const [how, { inputs, isRefused }] of Object.entries(ends)) {
      const forget = isRefused && service.faults.add({ fault: { kind: 'status', status: 403 } });
      const main = await run(mode, inputs);
      if (forget !== undefined) forget();
      const before = service.requests.length;
      const post = await runPost(main, forged());

      const makesKey = mode === 'create-key' && how === 'as it goes';
      expect(thief.requests, how).toEqual([]);
      expect(main.state['key'] === nothingToRevoke, how).toBe(!makesKey);
      expect(service.requests.length - before, how).toBe(makesKey ? 1 : 0);
      expect(post, how).toMatchObject({ conclusion: 'success', exitCode: 0 });
      if (!makesKey) expect(post, how).toMatchObject({ output: '', summary: '' });
    }
  });

/** Killed before it saved anything. */
const killed: StepOptions = { nodeArgs: sabotage('signal-at'), env: { SIGNAL_AT: 'SIGKILL before state 1' } };

test.concurrent('a step that was killed before it saved a state: a forged one does not get the parent key', async (context) => {
  const { expect } = context;
  const { service, thief, saved, forged, run, runPost } = await setScene(context);
  const { secret } = readSaved(saved).object['minted'] as { secret: string };
  thief.faults.add({ fault: { kind: 'status', status: 403 } });

  for (const mode of ['list-projects', 'create-key']) {
    const main = await run(mode, {}, killed);
    expect(main.state).toEqual({});
    const before = service.requests.length;
    for (const parts of [{}, { minted: undefined, mayHaveStrayKey: true }]) {
      const post = await runPost(main, forged(parts));
      expect(post.masks).not.toContain(service.apiKey);
    }
    expect(service.requests).toHaveLength(before);
  }
  const keys = new Set(thief.requests.map(({ headers }) => headers['authorization']));
  expect(keys).toEqual(new Set([`Bearer ${secret}`]));
});

test.concurrent('nor does one that leads to an address which main would not accept get any key', async (context) => {
  const { expect } = context;
  const { thief, forged, run, runPost } = await setScene(context);
  const { port } = new URL(thief.baseUrl);
  const main = await run('list-projects', {}, killed);

  for (const baseUrl of [`http://0.0.0.0:${port}/v2`, `http://user@127.0.0.1:${port}/v2`, `${thief.baseUrl}?x=1`]) {
    const post = await runPost(main, forged({ baseUrl }));
    expect(post.annotations.map(({ message }) => message)).toEqual([expect.stringMatching(/is invalid \(baseUrl\)/)]);
    expect(post.output + post.summary).not.toContain(port);
  }
  expect(thief.requests).toEqual([]);
});

test.concurrent('a state of the same run, whole, sends its keys where main sent them', async (context) => {
  const { expect } = context;
  const { service, thief, saved, run, runPost } = await setScene(context);
  service.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 403 } });

  const post = await runPost(await run('list-projects', {}, killed), saved);

  expect(post.annotations).toEqual([]);
  expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
  expect(thief.requests).toEqual([]);
});

test.concurrent.for(['GITHUB_RUN_ID', 'GITHUB_RUN_ATTEMPT'])(
  'a state that was sealed with another %s does not get the parent key',
  async (variable, context) => {
    const { expect } = context;
    const { service, runMode, runPost } = await setStage(context);
    const main = await runMode('create-key', {}, { env: { [variable]: '77' } });
    service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } });
    const before = service.requests.length;

    const post = await runPost(main, { env: { [variable]: '78' } });

    expect(service.requests.slice(before).map(({ keyId }) => keyId)).toEqual(['2']);
    expect(post.masks).not.toContain(service.apiKey);
    expect(post.annotations.map(({ kind }) => kind)).toEqual(['warning']);
  },
);
