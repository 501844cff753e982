import { expect, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Stage, setStage } from '../kit/stage.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The name of a new key, and what it tells. The service and the output show the same name. */
async function makeKey({ service, runMode }: Stage, env: Env, inputs = {}) {
  const { outputs, log } = await runMode('create-key', inputs, { env });
  const name = outputs['key-name'] ?? '';
  expect(service.plane.key(outputs['key-id'] ?? '')?.name, log).toBe(name);
  expect(name).toMatch(/^[a-z0-9-]{1,64}$/);
  return { name, ...parseKeyName(name) };
}

const by = (server: string, repository = '123456789') => repositoryFingerprint(server, repository);
const hub = 'https://github.com';
test.for<[what: string, env: Env, run: object]>([
  ['the run id and the attempt', { GITHUB_RUN_ID: '77', GITHUB_RUN_ATTEMPT: '3' }, { id: '77', attempt: 3 }],
  ['attempt 1 if none is set', { GITHUB_RUN_ATTEMPT: '' }, { attempt: 1 }],
  ['a fingerprint that survives a rename', { GITHUB_REPOSITORY: 'acme-inc/store' }, { fingerprint: by(hub) }],
  [
    'a fingerprint of the server',
    { GITHUB_SERVER_URL: 'https://GHE.example' },
    { fingerprint: by('https://ghe.example') },
  ],
  ['a fingerprint of owner/name if no id is set', { GITHUB_REPOSITORY_ID: '' }, { fingerprint: by(hub, 'acme/shop') }],
])('the name of a new key holds %s', async ([, env, run], context) => {
  expect(await makeKey(await setStage(context), env)).toMatchObject({ isKept: false, run });
});

test('the name of a new key begins with that of its repository, and marks a key made with revoke-in-post: false', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const [repository, start] of [
    ['acme/Shop', 'shop-'],
    ['ACME-Corp/My_Shop.Web', 'my-shop-web-'],
    ['acme/run5-1', 'run5-1-'],
    [`${'o'.repeat(39)}/shop${'._'.repeat(48)}`, 'shop-'],
  ] as const)
    for (const isKept of [true, false]) {
      const inputs = { 'revoke-in-post': String(!isKept) };
      const made = await makeKey(stage, { GITHUB_REPOSITORY: repository }, inputs);
      expect(made).toMatchObject({ isKept, run: { id: '9876543210', attempt: 1 } });
      expect(made.name.startsWith(start)).toBe(true);
    }
});

test('no two create-key steps of a run give their keys the same name', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  const names = new Set<string>();
  for (let n = 0; n < 20; n++) names.add((await makeKey(stage, {})).name);
  expect(names.size).toBe(20);
});

test('create-key sends no request if GITHUB_RUN_ID is empty', async (context) => {
  const stage = await setStage(context);
  const result = await stage.runMode('create-key', {}, { env: { GITHUB_RUN_ID: '' } });
  expect(result).toMatchObject({ exitCode: 1, outputs: { status: 'error' } });
  expect(stage.paths()).toEqual([]);
});
