import { expect, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Mode, rejectInputs } from '../kit/inputs.js';
import { errorOf, type Stage, setStage, staged } from '../kit/stage.js';

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
  ['the run and the attempt', { GITHUB_RUN_ID: '77', GITHUB_RUN_ATTEMPT: '3' }, { id: '77', attempt: 3 }],
  ['attempt 1 if the runner sets no GITHUB_RUN_ATTEMPT', { GITHUB_RUN_ATTEMPT: undefined }, { attempt: 1 }],
  ['a run id of 20 digits', { GITHUB_RUN_ID: '18446744073709551615' }, { id: '18446744073709551615' }],
  ['the same repository after a rename', { GITHUB_REPOSITORY: 'acme-inc/store' }, { fingerprint: by(hub) }],
  ['github.com if no server is set', { GITHUB_SERVER_URL: undefined }, { fingerprint: by(hub) }],
  ['another server', { GITHUB_SERVER_URL: 'https://GHE.example' }, { fingerprint: by('https://ghe.example') }],
  ['owner/name if no id is set', { GITHUB_REPOSITORY_ID: '' }, { fingerprint: by(hub, 'acme/shop') }],
])('the name of a new key tells %s', async ([, env, run], context) => {
  expect(await makeKey(await setStage(context), env)).toMatchObject({ isKept: false, run });
});

test('the name of a new key begins with the name of its repository, and tells whether the key is kept', async (context) => {
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

test('no two steps of a run give their keys the same name', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  const names = new Set<string>();
  for (let n = 0; n < 20; n++) names.add((await makeKey(stage, {})).name);
  expect(names.size).toBe(20);
});

staged.for<[what: string, env: Env, error: RegExp, mode?: Mode]>([
  ['no run id', { GITHUB_RUN_ID: undefined }, /GITHUB_RUN_ID/],
  ['bad values', { GITHUB_RUN_ID: '0', GITHUB_REPOSITORY: 'x' }, /GITHUB_RUN_ID: “0”.*\n.*GITHUB_REPOSITORY: “x”/],
  ['a run id of 21 digits', { GITHUB_RUN_ID: '9'.repeat(21) }, /GITHUB_RUN_ID: “9{21}”/],
  ['attempt 1000', { GITHUB_RUN_ATTEMPT: '1000' }, /GITHUB_RUN_ATTEMPT: “1000”/],
  ['no repository', { GITHUB_REPOSITORY: undefined }, /GITHUB_REPOSITORY/],
  ['no state file', { GITHUB_STATE: undefined }, /GITHUB_STATE/],
  ['no output file', { GITHUB_OUTPUT: undefined }, /GITHUB_OUTPUT/],
  ['an API URL without a scheme', { GITHUB_API_URL: 'api.test' }, /GITHUB_API_URL: “api.test”/, 'sweep-keys'],
])('the step fails without a request if the runner sets %s', async ([, env, error, mode = 'create-key'], { stage }) => {
  const main = await rejectInputs(stage, mode, {}, { env });
  expect(errorOf(main)).toMatch(error);
  const valid = Object.fromEntries(Object.keys(env).map((name) => [name, 'x/y']));
  const post = await stage.runPost(main, { env: valid });
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
  expect(stage.service.requests).toEqual([]);
  expect(stage.runs.lookups).toEqual([]);
});
