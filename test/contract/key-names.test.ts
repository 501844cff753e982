import { expect, test } from 'vitest';
import { parseKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { type Inputs, type Mode, rejectInputs } from '../kit/inputs.js';
import { errorOf, type Stage, setStage, staged } from '../kit/stage.js';

type Env = Readonly<Record<string, string | undefined>>;

const shape = /^(?<label>.+)-run(?<run>\d+)-(?<attempt>\d+)-(?<seal>[a-z0-9]{10})-(?<unique>[a-z0-9]{4,12})$/;

/** The parts of the name of a new key. The service and the output show the same name. */
async function nameParts({ service, runMode }: Stage, env: Env, inputs?: Inputs) {
  const main = await runMode('create-key', inputs, { env });
  const name = main.outputs['key-name'] ?? '';
  expect(service.plane.key(main.outputs['key-id'] ?? '')?.name, main.log).toBe(name);
  const parts: Readonly<Record<string, string>> = shape.exec(name)?.groups ?? {};
  return { ...parts, length: name.length, repository: parseKeyName(name)?.run.fingerprint };
}

/** The part of the name that tells the repository `acme/shop`, by its id if the runner names one. */
const at = (server: string, repository = '123456789') => ({ repository: repositoryFingerprint(server, repository) });
const ends = (length: number) => expect.stringMatching(new RegExp(`^[a-z0-9]{${length}}$`));
const usual = { label: 'shop', run: '9876543210', attempt: '3', unique: ends(12) };
const longest = { label: 'l'.repeat(20), run: '18446744073709551615', attempt: '999', unique: ends(4) };
const runOf = ({ run, attempt }: typeof usual): Env => ({ GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt });
test.for<[what: string, env: Env, inputs: Inputs, parts: Readonly<Record<string, unknown>>]>([
  ['has the label, the run and the attempt, and ends in 12 more characters', runOf(usual), {}, usual],
  ['has attempt 1 if the runner sets no GITHUB_RUN_ATTEMPT', { GITHUB_RUN_ATTEMPT: undefined }, {}, { attempt: '1' }],
  ['has at most 64 characters', runOf(longest), { 'key-label': longest.label }, { ...longest, length: 64 }],
  ['has the same fingerprint after a rename', { GITHUB_REPOSITORY: 'acme-inc/store' }, {}, at('https://github.com')],
  ['has the fingerprint of github.com by default', { GITHUB_SERVER_URL: undefined }, {}, at('https://github.com')],
  ['depends on the server', { GITHUB_SERVER_URL: 'https://GHE.example:8443//' }, {}, at('https://ghe.example:8443')],
  ['depends on owner/name if no id is set', { GITHUB_REPOSITORY_ID: '' }, {}, at('https://github.com', 'acme/shop')],
])('the name of a new key %s', async ([, env, inputs, parts], context) => {
  expect(await nameParts(await setStage(context), env, inputs)).toMatchObject(parts);
});

test('the label in a key name is key-label, or by default the repository name as a valid label', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const [repository, label] of [
    ['acme/Shop', 'shop'],
    ['ACME-Corp/My_Shop.Web', 'my-shop-web'],
    ['acme/.github', '-github'],
    ['acme/a-name-of-twenty-one-', 'a-name-of-twenty-one'],
    [`${'o'.repeat(39)}/${'._'.repeat(50)}`, '-'.repeat(20)],
  ])
    expect(await nameParts(stage, { GITHUB_REPOSITORY: repository }), repository).toMatchObject({ label });
  for (const label of ['a', '-', '0', 'a-label-of-20-signs-', 'run5-1', 'shop-run1-1-abcdefgh'])
    expect(await nameParts(stage, {}, { 'key-label': label })).toMatchObject({ label, run: '9876543210' });
});

staged.for<[what: string, env: Env, error: RegExp, mode?: Mode]>([
  ['no run id', { GITHUB_RUN_ID: undefined }, /GITHUB_RUN_ID/],
  ['no run id (sweep-keys)', { GITHUB_RUN_ID: undefined }, /GITHUB_RUN_ID/, 'sweep-keys'],
  ['the run id 0', { GITHUB_RUN_ID: '0' }, /^Bad input: GITHUB_RUN_ID: “0”/],
  ['bad values', { GITHUB_RUN_ID: '0', GITHUB_REPOSITORY: 'x' }, /^- GITHUB_RUN_ID: .*\n- GITHUB_REPOSITORY: “x”/m],
  ['a run id that is a word', { GITHUB_RUN_ID: 'local-run' }, /GITHUB_RUN_ID: “local-run”/],
  ['a run id of 21 digits', { GITHUB_RUN_ID: '9'.repeat(21) }, /GITHUB_RUN_ID: “9{21}”/],
  ['attempt 0', { GITHUB_RUN_ATTEMPT: '0' }, /GITHUB_RUN_ATTEMPT: “0”/],
  ['attempt 1000', { GITHUB_RUN_ATTEMPT: '1000' }, /GITHUB_RUN_ATTEMPT: “1000”/],
  ['no repository', { GITHUB_REPOSITORY: undefined }, /GITHUB_REPOSITORY/],
  ['a repository without an owner', { GITHUB_REPOSITORY: 'shop' }, /GITHUB_REPOSITORY: “shop”/],
  ['a repository with two slashes', { GITHUB_REPOSITORY: 'acme/shop/web' }, /GITHUB_REPOSITORY: “acme\/shop\/web”/],
  ['no state file', { GITHUB_STATE: undefined }, /GITHUB_STATE/],
  ['no output file', { GITHUB_OUTPUT: undefined }, /GITHUB_OUTPUT/],
  ['no environment file for export-env', { GITHUB_ENV: undefined }, /GITHUB_ENV/],
  ['an API URL without a scheme', { GITHUB_API_URL: 'api.test' }, /GITHUB_API_URL: “api.test”/, 'sweep-keys'],
  ['an API URL with ftp', { GITHUB_API_URL: 'ftp://api.test' }, /GITHUB_API_URL: “ftp:/, 'sweep-keys'],
])('the step fails without a request if the runner sets %s', async ([, env, error, mode = 'create-key'], { stage }) => {
  const main = await rejectInputs(stage, mode, mode === 'create-key' ? { 'export-env': 'DB_API_KEY' } : {}, { env });
  expect(errorOf(main)).toMatch(error);
  expect(errorOf(main)).toMatch(/expected the value that the GitHub Actions runner sets\.\nNo request/);
  expect(main.state).toEqual({ key: 'nothing-to-revoke' });
  const valid = Object.fromEntries(Object.keys(env).map((name) => [name, 'x/y']));
  const post = await stage.runPost(main, { env: valid });
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
  expect(stage.service.requests).toEqual([]);
  expect(stage.runs.lookups).toEqual([]);
});
