import { expect, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Inputs, rejectInputs } from '../kit/inputs.js';
import { errorOf, type Stage, setStage } from '../kit/stage.js';

type Env = Readonly<Record<string, string | undefined>>;

const shape = /^(?<label>.+)-run(?<run>\d+)-(?<attempt>\d+)-(?<fingerprint>[a-z0-9]{10})-(?<unique>[a-z0-9]{4,12})$/;

/** The parts of the name of a new key. The service and the output show the same name. */
async function nameParts({ service, runMode }: Stage, env: Env, inputs?: Inputs) {
  const main = await runMode('create-key', inputs, { env });
  const name = main.outputs['key-name'] ?? '';
  expect(service.plane.key(main.outputs['key-id'] ?? '')?.name, main.log).toBe(name);
  expect(name.length).toBeLessThanOrEqual(64);
  const parts: Readonly<Record<string, string>> = shape.exec(name)?.groups ?? {};
  return { ...parts, length: name.length, repository: parseKeyName(name)?.run.fingerprint };
}

const longest = { label: 'l'.repeat(20), run: '18446744073709551615', attempt: '999' };
test.for<[what: string, env: Env, inputs: Inputs, parts: Readonly<Record<string, unknown>>]>([
  [
    'tells label, run and attempt, and ends in 12 characters of its own',
    { GITHUB_RUN_ATTEMPT: '3' },
    {},
    { label: 'shop', run: '9876543210', attempt: '3', unique: expect.stringMatching(/^[a-z0-9]{12}$/) },
  ],
  ['has attempt 1 on a runner that counts none', { GITHUB_RUN_ATTEMPT: undefined }, {}, { attempt: '1' }],
  [
    'has 64 characters with the longest parts',
    { GITHUB_RUN_ID: longest.run, GITHUB_RUN_ATTEMPT: longest.attempt },
    { 'key-label': longest.label },
    { ...longest, length: 64, unique: expect.stringMatching(/^[a-z0-9]{4}$/) },
  ],
])('a name %s', async ([, env, inputs, parts], context) => {
  expect(await nameParts(await setStage(context), env, inputs)).toMatchObject(parts);
});

test('the default label is the name of the repository, in lower case and as far as it is a label', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const [repository, label] of [
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
  ]) {
    const parts = await nameParts(stage, { GITHUB_REPOSITORY: repository });
    expect(parts, repository).toMatchObject({ label, run: '9876543210', attempt: '1' });
  }
});

test('key-label can be any label, also one that looks like other parts of a name', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const label of ['a', '-', '0', 'a-label-of-20-signs-', 'run5-1', 'shop-run1-1-abcdefgh'])
    expect(await nameParts(stage, {}, { 'key-label': label })).toMatchObject({ label, run: '9876543210' });
});

test.for<[what: string, env: Env, server: string, repository: string]>([
  ['after a rename', { GITHUB_REPOSITORY: 'acme-inc/store' }, 'https://github.com', '123456789'],
  ['if no server is named', { GITHUB_SERVER_URL: undefined }, 'https://github.com', '123456789'],
  ['on GitHub Enterprise', { GITHUB_SERVER_URL: 'https://GHE.example/' }, 'https://ghe.example', '123456789'],
  ['on another port', { GITHUB_SERVER_URL: 'https://ghe.example:8443' }, 'https://ghe.example:8443', '123456789'],
  ['without an id', { GITHUB_REPOSITORY_ID: undefined }, 'https://github.com', 'acme/shop'],
  ['with an empty id', { GITHUB_REPOSITORY_ID: '' }, 'https://github.com', 'acme/shop'],
])('a name %s tells the server and the repository', async ([, env, server, repository], context) => {
  const given = { GITHUB_REPOSITORY: 'acme/shop', GITHUB_REPOSITORY_ID: '123456789', ...env };
  const parts = await nameParts(await setStage(context), given);
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
])(
  'a runner with %s is an error, no request is sent, and post has nothing to do',
  async ([, env, message], context) => {
    const stage = await setStage(context);
    const main = await rejectInputs(stage, 'create-key', { 'export-env': 'DB_API_KEY' }, { env });
    expect(errorOf(main)).toMatch(message);
    expect(errorOf(main)).toMatch(
      /^Bad input: [^\n]*expected the value that the GitHub Actions runner sets\.\nNo request was sent\.$/,
    );
    expect(main.state).toEqual({ key: 'nothing-to-revoke' });
    const valid = Object.fromEntries(Object.keys(env).map((name) => [name, 'x/y']));
    const post = await stage.runPost(main, { env: valid });
    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
    expect(stage.service.requests).toEqual([]);
  },
);

test('one error names all invalid inputs and variables of the runner', async (context) => {
  const inputs = { 'key-label': 'My Shop', 'export-env': 'PATH' };
  const env = { GITHUB_RUN_ID: 'x', GITHUB_REPOSITORY: undefined };
  const error = errorOf(await rejectInputs(await setStage(context), 'create-key', inputs, { env }));
  const names = ['- GITHUB_RUN_ID', '- GITHUB_REPOSITORY', '- key-label', '- export-env'];
  const starts = error.split('\n').map((line) => line.split(':')[0]);
  expect(starts).toEqual(['4 bad inputs', ...names, 'No request was sent.']);
});
