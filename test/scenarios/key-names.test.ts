import { expect, test } from 'vitest';
import { parseKeyName } from '../../src/keys/key-name.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { errorOf, type Stage, setStage } from './stage.js';

/** As a reader, and a sweep, would take it apart. */
const shape = /^(?<label>.+)-run(?<run>\d+)-(?<attempt>\d+)-[a-z0-9]{10}-(?<chance>[a-z0-9]{4,12})$/;

interface Parts {
  readonly label: string;
  readonly run: string;
  readonly attempt: string;
  readonly fingerprint: string;
  readonly chance: string;
}

function partsOf(result: StepResult): Parts {
  const name = result.outputs['key-name'] ?? '';
  const groups = shape.exec(name)?.groups;
  if (groups === undefined) throw new Error(`no name: ${name}\n${result.log}`);
  const { label = '', run = '', attempt = '', chance = '' } = groups;
  const fingerprint = parseKeyName(name)?.run.fingerprint ?? 'none';
  return { label, run, attempt, fingerprint, chance };
}

async function nameIn(
  { runMode }: Pick<Stage, 'runMode'>,
  env: StepOptions['env'],
  inputs?: StepOptions['inputs'],
): Promise<Parts> {
  return partsOf(await runMode('create-key', inputs, { env }));
}

test.concurrent('the name tells label, run and attempt, and is the one that was sent', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key', {}, { env: { GITHUB_RUN_ATTEMPT: '3' } });

  expect(partsOf(result)).toMatchObject({ label: 'shop', run: '9876543210', attempt: '3' });
  expect(service.plane.key('2')?.name).toBe(result.outputs['key-name']);
});

const labels: readonly [repository: string, label: string][] = [
  ['acme/shop', 'shop'],
  ['acme/Shop', 'shop'],
  ['ACME-Corp/My_Shop.Web', 'my-shop-web'],
  ['acme/.github', '-github'],
  ['acme/-', '-'],
  ['acme/_', '-'],
  ['acme/...a', '---a'],
  ['acme/0', '0'],
  ['acme/run1-1', 'run1-1'],
  ['acme/shop-run1-1-abcdefgh', 'shop-run1-1-abcdefgh'],
  ['acme/a-name-of-twenty-one-', 'a-name-of-twenty-one'],
  [`${'o'.repeat(39)}/${'R'.repeat(100)}`, 'r'.repeat(20)],
  [`${'o'.repeat(39)}/${'._'.repeat(50)}`, '-'.repeat(20)],
];

test.concurrent.for(labels)('of the repository %s the label is %s', async ([repository, label], context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key', {}, { env: { GITHUB_REPOSITORY: repository } });

  expect(partsOf(result)).toMatchObject({ label, run: '9876543210', attempt: '1' });
  expect(service.plane.key('2')?.name.length).toBeLessThanOrEqual(64);
});

test.concurrent.for(['a', '-', '0', 'ci', 'a-label-of-20-signs-', 'run5-1'])(
  'the label can be “%s”',
  async (label, context) => {
    const stage = await setStage(context);

    expect(await nameIn(stage, {}, { 'key-label': label })).toMatchObject({ label, run: '9876543210' });
  },
);

test.concurrent('the longest of all parts make a name of 64 characters', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode(
    'create-key',
    { 'key-label': 'l'.repeat(20) },
    { env: { GITHUB_RUN_ID: '18446744073709551615', GITHUB_RUN_ATTEMPT: '999' } },
  );

  expect(partsOf(result)).toMatchObject({ run: '18446744073709551615', attempt: '999' });
  expect(result.outputs['key-name']).toHaveLength(64);
  expect(service.plane.key('2')?.name).toBe(result.outputs['key-name']);
});

test.concurrent('steps of one job, side by side, have names of their own', async (context) => {
  const stage = await setStage(context);

  const names = await Promise.all(Array.from({ length: 8 }, () => nameIn(stage, {})));

  expect(new Set(names.map(({ chance }) => chance)).size).toBe(8);
  expect(new Set(names.map(({ fingerprint }) => fingerprint)).size).toBe(1);
  for (const { chance } of names) expect(chance).toHaveLength(12);
});

type Env = Readonly<Record<string, string | undefined>>;

const own: Env = { GITHUB_REPOSITORY: 'acme/shop', GITHUB_REPOSITORY_ID: '123456789' };
const without: Env = { GITHUB_REPOSITORY: 'acme/shop', GITHUB_REPOSITORY_ID: undefined };
const enterprise = { GITHUB_SERVER_URL: 'https://ghe.example' };

const same: readonly [what: string, one: Env, other: Env][] = [
  ['after a rename', own, { ...own, GITHUB_REPOSITORY: 'acme-inc/store' }],
  ['in another run and attempt', own, { ...own, GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '2' }],
  ['without an id, in another case', without, { ...without, GITHUB_REPOSITORY: 'ACME/Shop' }],
  ['without an id, or with an empty one', without, { ...without, GITHUB_REPOSITORY_ID: '' }],
  [
    'on GitHub Enterprise with a slash',
    { ...own, ...enterprise },
    { ...own, GITHUB_SERVER_URL: 'https://ghe.example/' },
  ],
  ['on a server in capitals', { ...own, ...enterprise }, { ...own, GITHUB_SERVER_URL: 'https://GHE.Example' }],
  ['where no server is named', own, { ...own, GITHUB_SERVER_URL: undefined }],
];

test.concurrent.for(same)('the fingerprint stays the same %s', async ([, one, other], context) => {
  const stage = await setStage(context);

  expect((await nameIn(stage, one)).fingerprint).toBe((await nameIn(stage, other)).fingerprint);
});

const different: readonly [what: string, one: Env, other: Env][] = [
  ['for another id', own, { ...own, GITHUB_REPOSITORY_ID: '123456780' }],
  ['on another server', own, { ...own, ...enterprise }],
  ['on another port', { ...own, ...enterprise }, { ...own, GITHUB_SERVER_URL: 'https://ghe.example:8443' }],
  ['for another repository without an id', without, { ...without, GITHUB_REPOSITORY: 'acme/shop2' }],
  ['for the same name of another owner', without, { ...without, GITHUB_REPOSITORY: 'acme2/shop' }],
];

test.concurrent.for(different)('the fingerprint differs %s', async ([, one, other], context) => {
  const stage = await setStage(context);

  expect((await nameIn(stage, one)).fingerprint).not.toBe((await nameIn(stage, other)).fingerprint);
});

test.concurrent('a runner that counts no attempts is at the first', async (context) => {
  const stage = await setStage(context);

  expect(await nameIn(stage, { GITHUB_RUN_ATTEMPT: undefined })).toMatchObject({ attempt: '1' });
});

const badLabels = ['Shop', 'my_shop', 'my shop', 'shöp', 'l'.repeat(21), 'a/b', 'a$b', '🔑'];

test.concurrent.for(badLabels)('“%s” is no label', async (label, context) => {
  const { service, runMode, runPost } = await setStage(context);

  const result = await runMode('create-key', { 'key-label': label });
  const post = await runPost(result);

  expect(errorOf(result)).toMatch(
    /^Bad input: key-label: “.*” is not a valid label; expected 1 to 20 characters from a-z, 0-9 and -\./,
  );
  expectNothingDone(service, result, post);
});

const badRunners: readonly [what: string, env: Env, said: RegExp][] = [
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
];

test.concurrent.for(badRunners)('a runner with %s gets one clear error', async ([, env, said], context) => {
  const { service, runMode, runPost } = await setStage(context);

  const result = await runMode('create-key', {}, { env });
  const post = await runPost(result, { env: Object.fromEntries(Object.keys(env).map((name) => [name, 'x/y'])) });

  expect(errorOf(result)).toMatch(said);
  expect(errorOf(result)).toMatch(
    /^Bad input: [^\n]*expected the value that the GitHub Actions runner sets\.\nNo request was sent\.$/,
  );
  expectNothingDone(service, result, post);
});

test.concurrent('all that is wrong is told in one error', async (context) => {
  const { service, runMode, runPost } = await setStage(context);

  const result = await runMode(
    'create-key',
    {
      'key-label': 'My Shop',
      'revoke-in-post': 'maybe',
      'on-revoke-failure': 'wran',
      'export-env': 'PATH',
      timeout: '0',
    },
    { env: { GITHUB_RUN_ID: 'x', GITHUB_REPOSITORY: undefined } },
  );
  const post = await runPost(result);

  const said = errorOf(result);
  expect(said).toMatch(/^7 bad inputs:/);
  expect(said).toMatch(/^- key-label: “My Shop”/m);
  expect(said).toMatch(/^- revoke-in-post: “maybe” .*true or false/m);
  expect(said).toMatch(/^- on-revoke-failure: “wran” .*expected warn, fail.*did you mean warn\?/m);
  expect(said).toMatch(/^- export-env: “PATH”/m);
  expect(said).toMatch(/^- timeout: “0”/m);
  expect(said).toMatch(/^- GITHUB_RUN_ID: “x”/m);
  expect(said).toMatch(/^- GITHUB_REPOSITORY: /m);
  expectNothingDone(service, result, post);
});

test.concurrent('a key that was put into key-label too is not shown', async (context) => {
  const apiKey = 'ctl-a-key-of-20-sign';
  const { service, runMode, runPost } = await setStage(context, { apiKey });

  const result = await runMode('create-key', { 'key-label': apiKey });
  const post = await runPost(result);

  expect(errorOf(result)).toMatch(/key-label: contains the API key/);
  expect(result.stdout.replace(/^::add-mask::.*$/gm, '') + result.summary).not.toContain(apiKey);
  expectNothingDone(service, result, post);
});

test.concurrent('inputs of other modes are ignored, with one warning', async (context) => {
  const { service, runMode } = await setStage(context);

  const result = await runMode('create-key', { 'key-name': 'x', 'key-id': '5', 'older-than': '1d', 'dry-run': 'true' });

  expect(result.conclusion).toBe('success');
  expect(result.annotations.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
    expect.stringMatching(/^warning: .*key-name, key-id, older-than, dry-run/),
  ]);
  expect(service.requests).toHaveLength(1);
});

function expectNothingDone(service: Stage['service'], main: StepResult, post: StepResult): void {
  expect(main).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(service.requests).toEqual([]);
  expect(main.state).toEqual({ key: 'nothing-to-revoke' });
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
}
