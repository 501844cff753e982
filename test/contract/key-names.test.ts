import { describe, expect, type TestContext, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Inputs, rejectInputs } from '../kit/inputs.js';
import { errorOf, setStage } from '../kit/stage.js';

type Env = Readonly<Record<string, string | undefined>>;

const shape = /^(?<label>.+)-run(?<run>\d+)-(?<attempt>\d+)-(?<fingerprint>[a-z0-9]{10})-(?<unique>[a-z0-9]{4,12})$/;

/** The parts of the name of a new key. The service and the output show the same name. */
async function nameParts(context: TestContext, env: Env, inputs?: Inputs) {
  const { service, runMode } = await setStage(context);
  const main = await runMode('create-key', inputs, { env });
  const name = main.outputs['key-name'] ?? '';
  expect(service.plane.key('2')?.name, main.log).toBe(name);
  expect(name.length).toBeLessThanOrEqual(64);
  const parts: Readonly<Record<string, string>> = shape.exec(name)?.groups ?? {};
  return { ...parts, length: name.length, repository: parseKeyName(name)?.run.fingerprint };
}

test('a name tells label, run and attempt, and ends in 12 characters of its own', async (context) => {
  const parts = await nameParts(context, { GITHUB_RUN_ATTEMPT: '3' });
  expect(parts).toMatchObject({ label: 'shop', run: '9876543210', attempt: '3' });
  expect(parts).toMatchObject({ unique: expect.stringMatching(/^[a-z0-9]{12}$/) });
});

test('a runner that counts no attempts has attempt 1', async (context) => {
  expect(await nameParts(context, { GITHUB_RUN_ATTEMPT: undefined })).toMatchObject({ attempt: '1' });
});

test('the longest parts make a name of 64 characters', async (context) => {
  const env = { GITHUB_RUN_ID: '18446744073709551615', GITHUB_RUN_ATTEMPT: '999' };
  const parts = await nameParts(context, env, { 'key-label': 'l'.repeat(20) });
  expect(parts).toMatchObject({ label: 'l'.repeat(20), run: '18446744073709551615', attempt: '999', length: 64 });
  expect(parts).toMatchObject({ unique: expect.stringMatching(/^[a-z0-9]{4}$/) });
});

describe('the label', () => {
  test.for([
    ['acme/shop', 'shop'],
    ['acme/Shop', 'shop'],
    ['ACME-Corp/My_Shop.Web', 'my-shop-web'],
    ['acme/.github', '-github'],
    ['acme/-', '-'],
    ['acme/_', '-'],
    ['acme/...a', '---a'],
    ['acme/0', '0'],
    ['acme/run1-1', 'run1-1'],
    ['acme/a-name-of-twenty-one-', 'a-name-of-twenty-one'],
    [`${'o'.repeat(39)}/${'R'.repeat(100)}`, 'r'.repeat(20)],
    [`${'o'.repeat(39)}/${'._'.repeat(50)}`, '-'.repeat(20)],
  ] as const)('of the repository %s is %s', async ([repository, label], context) => {
    const parts = await nameParts(context, { GITHUB_REPOSITORY: repository });
    expect(parts).toMatchObject({ label, run: '9876543210', attempt: '1' });
  });

  test.for(['a', '-', '0', 'a-label-of-20-signs-', 'run5-1', 'shop-run1-1-abcdefgh'])(
    'can be “%s”',
    async (label, context) => {
      expect(await nameParts(context, {}, { 'key-label': label })).toMatchObject({ label, run: '9876543210' });
    },
  );

  test.for(['Shop', 'my_shop', 'my shop', 'shöp', 'l'.repeat(21), 'a/b', 'a$b', '🔑'])(
    'cannot be “%s”',
    async (label, context) => {
      await expectRejected(context, { 'key-label': label }, {}, [
        /^Bad input: key-label: “.*” is not a valid label; expected 1 to 20 characters from a-z, 0-9 and -\./,
      ]);
    },
  );
});

test.for<[what: string, env: Env, server: string, repository: string]>([
  ['after a rename', { GITHUB_REPOSITORY: 'acme-inc/store' }, 'https://github.com', '123456789'],
  ['if no server is named', { GITHUB_SERVER_URL: undefined }, 'https://github.com', '123456789'],
  ['on GitHub Enterprise', { GITHUB_SERVER_URL: 'https://GHE.example/' }, 'https://ghe.example', '123456789'],
  ['on another port', { GITHUB_SERVER_URL: 'https://ghe.example:8443' }, 'https://ghe.example:8443', '123456789'],
  ['without an id', { GITHUB_REPOSITORY_ID: undefined }, 'https://github.com', 'acme/shop'],
  ['with an empty id', { GITHUB_REPOSITORY_ID: '' }, 'https://github.com', 'acme/shop'],
])('a name %s tells the server and the repository', async ([, env, server, repository], context) => {
  const parts = await nameParts(context, { GITHUB_REPOSITORY: 'acme/shop', GITHUB_REPOSITORY_ID: '123456789', ...env });
  expect(parts.repository).toBe(repositoryFingerprint(server, repository));
});

test.for<[what: string, env: Env, message: RegExp]>([
  ['no run', { GITHUB_RUN_ID: undefined }, /GITHUB_RUN_ID/],
  ['an empty run', { GITHUB_RUN_ID: '' }, /GITHUB_RUN_ID/],
  ['run 0', { GITHUB_RUN_ID: '0' }, /GITHUB_RUN_ID: “0”/],
  ['a run that is a word', { GITHUB_RUN_ID: 'local-run' }, /GITHUB_RUN_ID: “local-run”/],
  ['a run of 21 digits', { GITHUB_RUN_ID: '9'.repeat(21) }, /GITHUB_RUN_ID: “9{21}”/],
  ['attempt 0', { GITHUB_RUN_ATTEMPT: '0' }, /GITHUB_RUN_ATTEMPT: “0”/],
  ['attempt 1000', { GITHUB_RUN_ATTEMPT: '1000' }, /GITHUB_RUN_ATTEMPT: “1000”/],
  ['an attempt that is a word', { GITHUB_RUN_ATTEMPT: 'first' }, /GITHUB_RUN_ATTEMPT: “first”/],
  ['no repository', { GITHUB_REPOSITORY: undefined }, /GITHUB_REPOSITORY/],
  ['an empty repository', { GITHUB_REPOSITORY: '' }, /GITHUB_REPOSITORY/],
  ['a repository without an owner', { GITHUB_REPOSITORY: 'shop' }, /GITHUB_REPOSITORY: “shop”/],
  ['a repository below another', { GITHUB_REPOSITORY: 'acme/shop/web' }, /GITHUB_REPOSITORY: “acme\/shop\/web”/],
  ['no file for state', { GITHUB_STATE: undefined }, /GITHUB_STATE/],
  ['no file for outputs', { GITHUB_OUTPUT: undefined }, /GITHUB_OUTPUT/],
  ['no file for export-env', { GITHUB_ENV: undefined }, /GITHUB_ENV/],
])('a runner with %s is an error, and no request is sent', async ([, env, message], context) => {
  await expectRejected(context, { 'export-env': 'DB_API_KEY' }, env, [
    message,
    /^Bad input: [^\n]*expected the value that the GitHub Actions runner sets\.\nNo request was sent\.$/,
  ]);
});

test('one error names all invalid inputs and variables of the runner', async (context) => {
  const inputs = { 'key-label': 'My Shop', 'export-env': 'PATH' };
  await expectRejected(context, inputs, { GITHUB_RUN_ID: 'x', GITHUB_REPOSITORY: undefined }, [
    /^4 bad inputs:/,
    /^- key-label: “My Shop”/m,
    /^- export-env: “PATH”/m,
    /^- GITHUB_RUN_ID: “x”/m,
    /^- GITHUB_REPOSITORY: /m,
  ]);
});

/** No request is sent, and post has nothing to do. */
async function expectRejected(
  context: TestContext,
  inputs: Inputs,
  env: Env,
  messages: readonly RegExp[],
): Promise<void> {
  const stage = await setStage(context);
  const main = await rejectInputs(stage, 'create-key', inputs, { env });
  for (const message of messages) expect(errorOf(main)).toMatch(message);
  expect(main.state).toEqual({ key: 'nothing-to-revoke' });
  const valid = Object.fromEntries(Object.keys(env).map((name) => [name, 'x/y']));
  const post = await stage.runPost(main, { env: valid });
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
  expect(stage.service.requests).toEqual([]);
}
