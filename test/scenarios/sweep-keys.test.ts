import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, type TestContext, test } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import type { ServedControlPlaneOptions } from '../control-plane/index.js';
import { type Fault, type GitHubOptions, type RunningGitHub, startGitHub } from '../github/index.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { startMuteServer } from './mute-server.js';
import { startProxy, wantsLogin } from './proxy-server.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { errorOf, type Stage, setStage, warningsOf, withoutMasks } from './stage.js';

const ownRun = '9876543210';
const repositoryId = '123456789';
const token = 'the-token-of-this-job';
const ours = repositoryFingerprint('https://github.com', repositoryId);
const day = 86_400_000;
const swiftly = { nodeArgs: quickDice };

interface KeyOptions {
  readonly attempt?: number;
  readonly label?: string;
  readonly fingerprint?: string;
  readonly ageDays?: number;
  readonly isKept?: boolean;
}

interface SweepStage extends Stage {
  readonly github: RunningGitHub;
  /** Adds one as create-key would have made it in that run; its id. */
  addKey(runId: string, options?: KeyOptions): string;
  addNamed(name: string, ageDays?: number): string;
  alive(): string[];
  startSweep(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): StepHandle;
  sweep(inputs?: StepOptions['inputs'], options?: Omit<StepOptions, 'inputs'>): Promise<StepResult>;
}

/** A service and a GitHub that shows this very run. The key in use is 1, those that are added count up from 2. */
async function setSweepStage(
  context: TestContext,
  options: { readonly github?: Partial<GitHubOptions>; readonly service?: ServedControlPlaneOptions } = {},
): Promise<SweepStage> {
  const stage = await setStage(context, options.service);
  const github = await startGitHub({ token, repository: 'acme/shop', repositoryId, ...options.github });
  context.onTestFinished(() => github.close());
  github.addRun({ id: ownRun });
  const { plane } = stage.service;
  const addNamed: SweepStage['addNamed'] = (name, ageDays = 0) => plane.addKeyOfAge(name, ageDays * day).id;
  const startSweep: SweepStage['startSweep'] = (inputs, { env, ...more } = {}) =>
    stage.startMode('sweep-keys', inputs, { limitMs: 30_000, ...more, env: { GITHUB_API_URL: github.url, ...env } });
  return {
    ...stage,
    github,
    addNamed,
    // Old enough for a run that is not found to count.
    addKey: (id, { attempt = 1, label = 'shop', fingerprint = ours, ageDays = 1, isKept = false } = {}) =>
      addNamed(makeKeyName(label, { run: { id, attempt, fingerprint }, isKept }, Math.random), ageDays),
    alive: () => plane.aliveKeys().map(({ id }) => id),
    startSweep,
    sweep: (inputs, more) => startSweep(inputs, more).done,
  };
}

/** The whole end of a sweep: outputs, file and conclusion agree. */
function expectSwept(
  result: StepResult,
  status: string,
  ids: { readonly revoked?: readonly string[]; readonly kept?: readonly string[] },
): void {
  const { revoked = [], kept = [] } = ids;
  expect(result.outputs).toEqual({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  expect(fileOf(result)).toMatchObject({
    mode: 'sweep-keys',
    status,
    revoked_key_ids: revoked,
    kept_key_ids: kept,
  });
  expect(result.conclusion).toBe(status === 'ok' ? 'success' : 'failure');
}

function fileOf(result: StepResult): { readonly keys: readonly Readonly<Record<string, unknown>>[] } {
  return JSON.parse(result.readFile(result.outputs['result-file'] ?? ''));
}

function deletes({ service }: Stage): string[] {
  return service.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path);
}

function runsAsked({ github }: SweepStage): string[] {
  return github.requests.map(({ path }) => path.replace(/.*\/runs\//, ''));
}

// Whose run is over

test.concurrent('keys whose run is completed, gone or at a later attempt are revoked, the others kept', async (context) => {
  const stage = await setSweepStage(context);
  const { github, addKey, addNamed, sweep } = stage;
  github.addRun({ id: '11', status: 'completed', conclusion: 'success' });
  github.addRun({ id: '12', status: 'completed', conclusion: 'cancelled' });
  github.addRun({ id: '14', attempt: 2 });
  github.addRun({ id: '15' });
  const revoked = [addKey('11'), addKey('12'), addKey('13'), addKey('14')];
  const kept = [addKey('14', { attempt: 2 }), addKey('15'), addKey(ownRun)];
  addNamed('made by hand');
  addKey('13', { fingerprint: repositoryFingerprint('https://github.com', '5') });

  const result = await sweep();

  expectSwept(result, 'ok', { revoked, kept });
  expect(stage.alive()).toEqual(['1', ...kept, '9', '10']);
  expect(warningsOf(result)).toEqual([]);
  expect(
    fileOf(result).keys.map((key) => [key['id'], key['run_id'], key['run_attempt'], key['run_is_over'], key['why']]),
  ).toEqual([
    ['2', '11', 1, true, 'its run is completed'],
    ['3', '12', 1, true, 'its run is completed'],
    ['4', '13', 1, true, 'its run was not found'],
    ['5', '14', 1, true, 'its run was started again (now attempt 2)'],
    ['6', '14', 2, false, 'its run is not completed'],
    ['7', '15', 1, false, 'its run is not completed'],
    ['8', ownRun, 1, false, 'its run is the current one'],
  ]);
  for (const { why } of fileOf(result).keys) expect(result.summary).toContain(`<td>${why}</td>`);
  for (const id of [...revoked, ...kept]) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
  expect(result.summary).toMatch(/^### ✅ sweep-keys: 4 revoked, 3 kept\n/);
  expect(result.summary).toContain('keys of other repositories (1), keys that this action did not create (2)');
  expect(result.masks).toEqual([stage.service.apiKey, token]);
});

for (const status of ['queued', 'in_progress', 'waiting', 'pending', 'requested', 'of_tomorrow']) {
  test.concurrent(`a run that is ${status} goes on`, async (context) => {
    const { github, addKey, sweep } = await setSweepStage(context);
    github.addRun({ id: '11', status });
    const kept = [addKey('11', { ageDays: 300 })];
    const result = await sweep();
    expectSwept(result, 'ok', { kept });
    expect(warningsOf(result)).toEqual([]);
  });
}

test.concurrent('keys of this very run at an earlier attempt are revoked, and GitHub need not be asked', async (context) => {
  const stage = await setSweepStage(context);
  const revoked = [1, 2].map((attempt) => stage.addKey(ownRun, { attempt }));
  const kept = [stage.addKey(ownRun, { attempt: 3, ageDays: 300 }), stage.addKey(ownRun, { attempt: 4 })];

  const result = await stage.sweep({}, { env: { GITHUB_RUN_ATTEMPT: '3' } });

  expectSwept(result, 'ok', { revoked, kept });
  expect(stage.github.requests).toEqual([]);
});

test.concurrent('run_attempt may be missing in what GitHub says', async (context) => {
  const { github, addKey, sweep } = await setSweepStage(context);
  const says = (id: string, body: string) =>
    github.faults.add({ path: `/runs/${id}`, fault: { kind: 'status', status: 200, body } });
  says('11', '{"id":11,"status":"completed"}');
  says('12', '{"id":12,"status":"in_progress","run_attempt":null}');
  const revoked = [addKey('11')];
  const kept = [addKey('12', { attempt: 2 })];
  const result = await sweep();
  expectSwept(result, 'ok', { revoked, kept });
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('ids of runs beyond 2^53 keep their digits', async (context) => {
  const stage = await setSweepStage(context, { service: { firstKeyId: '9007199254740993' } });
  const { github, addKey } = stage;
  const [over, running] = ['90071992547409931', '90071992547409933'] as const;
  github.addRun({ id: over, status: 'completed' });
  github.addRun({ id: running });
  const revoked = [addKey(over)];
  const kept = [addKey(running)];

  const result = await stage.sweep();

  expect(warningsOf(result)).toEqual([]);
  expectSwept(result, 'ok', { revoked, kept });
  expect(runsAsked(stage)).toEqual([ownRun, over, running]);
});

test.concurrent('no key of this repository: nothing is asked of GitHub', async (context) => {
  const stage = await setSweepStage(context);
  stage.addNamed('made by hand', 300);
  stage.addKey('11', { fingerprint: repositoryFingerprint('https://github.com', '5'), ageDays: 300 });
  const result = await stage.sweep();
  expectSwept(result, 'ok', {});
  expect(stage.github.requests).toEqual([]);
  expect(deletes(stage)).toEqual([]);
  expect(result.summary).toContain('Found no key that this action created for this repository.');
});

// Whose keys

test.concurrent('keys of other repositories and other servers are not touched, nor asked about', async (context) => {
  const stage = await setSweepStage(context);
  const others = [
    repositoryFingerprint('https://github.com', '12345678'),
    repositoryFingerprint('https://github.com', '1234567890'),
    repositoryFingerprint('https://github.com', 'acme/shop'),
    repositoryFingerprint('https://ghe.example', repositoryId),
    repositoryFingerprint('http://github.com', repositoryId),
    [...ours].reverse().join(''),
    ours.slice(1).padEnd(10, '0'),
  ];
  for (const fingerprint of others) stage.addKey('11', { fingerprint, ageDays: 300 });
  const revoked = [stage.addKey('11')];

  const result = await stage.sweep({ 'older-than': '1s' });

  expectSwept(result, 'ok', { revoked });
  expect(stage.alive()).toHaveLength(1 + others.length);
  expect(result.summary).toContain(`keys of other repositories (${others.length})`);
  expect(runsAsked(stage)).toEqual([ownRun, '11', '11', ownRun]);
});

const alphabet = 'abcxyz0189-_ARUN.:/*?%\n\t \u00e9\u0131\u2010\u{1f511}';
const letter = fc.constantFrom(...alphabet);

/** What a slip, a tool or an attacker makes of a name. */
const mutation: fc.Arbitrary<(name: string) => string> = fc.oneof(
  fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 5 })).map(
    ([at, length]) =>
      (name: string) =>
        name.slice(0, at) + name.slice(at + length),
  ),
  fc.tuple(fc.nat(64), letter).map(
    ([at, one]) =>
      (name: string) =>
        name.slice(0, at) + one + name.slice(at),
  ),
  fc.tuple(fc.nat(63), letter).map(
    ([at, one]) =>
      (name: string) =>
        name.slice(0, at) + one + name.slice(at + 1),
  ),
  fc.nat(63).map((at) => (name: string) => name.slice(0, at) + name.slice(at).toUpperCase()),
  letter.map((one) => (name: string) => one + name),
  letter.map((one) => (name: string) => name + one),
  fc.constantFrom('copy of ', 'x'.repeat(20), 'old-', '\n').map((begin) => (name: string) => begin + name),
  fc.constantFrom(' (2)', '-old', '\n', '\r', '\u0000', '-x').map((end) => (name: string) => name + end),
  fc
    .constantFrom(ours, repositoryFingerprint('https://github.com', '5'))
    .map((text) => (name: string) => name.replace(/-[a-z0-9]{10}-([a-z0-9]+)$/, `-${text}-$1`)),
  fc.constant((name: string) => name.replace('-run', '-Run')),
  fc.constant((name: string) => name.replaceAll('-', '_')),
  fc.constant((name: string) => name.replace(/-run(\d+)-(\d+)-/, '-run$2-$1-')),
  fc.constant((name: string) => name.replace(/-run(\d+)/, '-run0$1')),
  fc.constant((name: string) => name.split('').reverse().join('')),
);

test.concurrent('names that are nearly ours are not touched, though their run were over and they were old', async (context) => {
  const stage = await setSweepStage(context);
  const made = Array.from({ length: 400 }, (_, n) =>
    makeKeyName(
      'shop',
      { run: { id: String(11 + (n % 3)), attempt: 1, fingerprint: ours }, isKept: false },
      Math.random,
    ),
  );
  const changes = fc.sample(mutation, { numRuns: made.length, seed: 20260131 });
  const near = made.map((name, n) => changes[n]?.(name) ?? '').filter((name) => !made.includes(name));
  const untouchable = near.map((name) => stage.addNamed(name, 300));
  const revoked = made.slice(0, 20).map((name) => stage.addNamed(name, 300));

  const result = await stage.sweep({ 'older-than': '1s' });

  expect(untouchable.length).toBeGreaterThan(300);
  expectSwept(result, 'ok', { revoked });
  expect(stage.alive()).toEqual(['1', ...untouchable]);
  expect(deletes(stage)).toHaveLength(revoked.length);
});

test.concurrent('a repository that got another name keeps its keys, as its id stays', async (context) => {
  const { github, addKey, sweep } = await setSweepStage(context, { github: { repository: 'acme/store' } });
  github.addRun({ id: '12' });
  const revoked = [addKey('11', { label: 'shop' })];
  const kept = [addKey('12', { label: 'store' })];
  const result = await sweep({}, { env: { GITHUB_REPOSITORY: 'acme/store' } });
  expectSwept(result, 'ok', { revoked, kept });
});

test.concurrent('a run that began with the old name, where GitHub sends elsewhere, revokes no key of a run that goes on', async (context) => {
  const stage = await setSweepStage(context, { github: { repository: 'acme/store' } });
  stage.github.faults.add({ path: '/repos/acme/shop/', fault: { kind: 'redirect' } });
  stage.github.addRun({ id: '12' });
  const old = stage.addKey('11', { ageDays: 300 });
  const young = stage.addKey('12');
  const result = await stage.sweep({}, swiftly);
  expectSwept(result, 'ok', { revoked: [old], kept: [young] });
});

test.concurrent('where the runner gives no id of the repository, its name stands in, in any case of letters', async (context) => {
  const stage = await setSweepStage(context);
  const revoked = [stage.addKey('11', { fingerprint: repositoryFingerprint('https://github.com', 'acme/shop') })];
  stage.addKey('11');
  const result = await stage.sweep({}, { env: { GITHUB_REPOSITORY: 'Acme/Shop', GITHUB_REPOSITORY_ID: undefined } });
  expectSwept(result, 'ok', { revoked });
});

test.concurrent('GitHub Enterprise: its API has a path of its own, and its keys are not those of github.com', async (context) => {
  const stage = await setSweepStage(context, { github: { basePath: '/api/v3' } });
  const fingerprint = repositoryFingerprint('https://ghe.example', repositoryId);
  stage.github.addRun({ id: '12' });
  const revoked = [stage.addKey('11', { fingerprint })];
  const kept = [stage.addKey('12', { fingerprint })];
  stage.addKey('11');

  const result = await stage.sweep({}, { env: { GITHUB_SERVER_URL: 'https://GHE.example/' } });

  expectSwept(result, 'ok', { revoked, kept });
  expect(stage.github.requests.map(({ path }) => path)).toEqual(
    [ownRun, '11', '12', '11', ownRun].map((id) => `/api/v3/repos/acme/shop/actions/runs/${id}`),
  );
});

test.concurrent('a key that create-key made to be kept is not swept: the summary and kept-key-ids name it', async (context) => {
  const stage = await setSweepStage(context);
  const created = await stage.runMode('create-key', { 'revoke-in-post': 'false' }, { env: { GITHUB_RUN_ID: '11' } });
  const keptId = created.outputs['key-id'] ?? '';
  const revoked = [stage.addKey('11', { ageDays: 300 })];
  Object.assign(stage.service.plane.key(keptId) ?? {}, { createdAt: Date.now() - 300 * day });

  const dry = await stage.sweep({ 'older-than': '1s', 'dry-run': 'true' });
  const wet = await stage.sweep({ 'older-than': '1s' });

  for (const result of [dry, wet]) {
    expectSwept(result, 'ok', { revoked, kept: [keptId] });
    expect(result.summary).toContain(`<td>📌 kept on purpose</td><td><code>${keptId}</code></td>`);
    expect(fileOf(result).keys).toMatchObject([
      { id: keptId, kept_on_purpose: true, run_is_over: null, why: 'revoke-in-post: false' },
      { kept_on_purpose: false, run_is_over: true },
    ]);
  }
  expect(created.outputs['key-name']).toMatch(/^shop-kept11-1-/);
  expect(stage.alive()).toEqual(['1', keptId]);
});

test.concurrent('one 404 by mistake of GitHub revokes no key of a run that goes on', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.addRun({ id: '11' });
  stage.github.faults.add({ path: '/runs/11', nth: 1, fault: { kind: 'status', status: 404 } });
  const kept = [stage.addKey('11', { ageDays: 300 })];
  const result = await stage.sweep();
  expectSwept(result, 'ok', { kept });
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('a list of keys that announces more is swept as far as it goes, with a warning', async (context) => {
  const stage = await setSweepStage(context, { service: { notShown: { keysPageSize: 2 } } });
  const revoked = [stage.addKey('11')];
  const unseen = stage.addKey('11');
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked });
  expect(warningsOf(result)).toMatchObject([expect.stringContaining('The list of keys is incomplete')]);
  expect(stage.alive()).toEqual(['1', unseen]);
});

for (const [name, value] of [
  ['GITHUB_RUN_ID', undefined],
  ['GITHUB_RUN_ID', '0'],
  ['GITHUB_RUN_ATTEMPT', 'first'],
  ['GITHUB_REPOSITORY', undefined],
  ['GITHUB_REPOSITORY', 'acme'],
] as const) {
  test.concurrent(`${name} that is ${value ?? 'missing'} is told, and nothing is sent`, async (context) => {
    const stage = await setSweepStage(context);
    stage.addKey('11');
    const result = await stage.sweep({}, { env: { [name]: value } });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(`${name}: `);
    expect(stage.service.requests).toEqual([]);
    expect(stage.github.requests).toEqual([]);
  });
}

// What is asked of GitHub

test.concurrent('one question a run, however many keys it has, and two more if it is not found', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.addRun({ id: '12' });
  const revoked = Array.from({ length: 12 }, () => stage.addKey('11'));
  const kept = Array.from({ length: 12 }, (_, n) => stage.addKey(n % 2 === 0 ? '12' : ownRun));

  const result = await stage.sweep();

  expectSwept(result, 'ok', { revoked, kept });
  expect(runsAsked(stage)).toEqual([ownRun, '11', '12', '11', ownRun]);
  expect(stage.service.requests).toHaveLength(1 + revoked.length);
  for (const { method, path, headers } of stage.github.requests) {
    expect(`${method} ${path}`).toMatch(/^GET \/repos\/acme\/shop\/actions\/runs\/\d+$/);
    expect(headers['authorization']).toBe(`token ${token}`);
    expect(JSON.stringify(headers)).not.toContain(stage.service.apiKey);
  }
});

test.concurrent('GitHub is asked a few at a time, and first of all for this very run', async (context) => {
  const stage = await setSweepStage(context);
  const { github } = stage;
  github.faults.add({ fault: { kind: 'delay', ms: 30 } });
  const revoked = Array.from({ length: 40 }, (_, n) => stage.addKey(String(100 + n)));
  const underWay: number[] = [];
  const counting = Array.from({ length: 82 }, async (_, n) => {
    await github.arrived({ n: n + 1 });
    underWay.push(github.requests.filter(({ status }) => status === undefined).length);
  });

  const result = await stage.sweep();
  await Promise.all(counting);

  expectSwept(result, 'ok', { revoked });
  expect([runsAsked(stage)[0], runsAsked(stage).at(-1)]).toEqual([ownRun, ownRun]);
  expect(new Set(runsAsked(stage)).size).toBe(41);
  expect(github.requests).toHaveLength(82);
  expect(underWay.slice(0, 2)).toEqual([1, 1]);
  expect(Math.max(...underWay)).toBeGreaterThan(2);
  expect(Math.max(...underWay)).toBeLessThanOrEqual(6);
});

test.concurrent('a token of another name is used in place of that of the job', async (context) => {
  const stage = await setSweepStage(context, { github: { token: 'ghp_ofsomebody' } });
  const revoked = [stage.addKey('11')];
  const result = await stage.sweep({ 'github-token': 'ghp_ofsomebody' });
  expectSwept(result, 'ok', { revoked });
  expect(result.masks).toEqual([stage.service.apiKey, 'ghp_ofsomebody']);
});

// By age

interface Unseen {
  /** Of every question, when not told otherwise; or of all but that for this very run. */
  readonly fault: Fault;
  readonly told: RegExp;
  /** How often GitHub is asked for this very run. */
  readonly tries: number;
  /** In place of GitHub, which never hears of anything. */
  readonly inputs?: StepOptions['inputs'];
}

const unseen: Readonly<Record<string, Unseen>> = {
  'no permission': {
    fault: { kind: 'no-permission' },
    told: /status 403: Resource not accessible by integration/,
    tries: 1,
  },
  '401': { fault: { kind: 'status', status: 401 }, told: /status 401/, tries: 1 },
  '404': { fault: { kind: 'status', status: 404 }, told: /does not show the current run/, tries: 1 },
  'a rate limit with 403 that ends too late': {
    fault: { kind: 'rate-limit' },
    told: /rate limit.*asks to wait (1h|59m 5\ds)/,
    tries: 1,
  },
  'a rate limit with 429 that ends too late': {
    fault: { kind: 'rate-limit', status: 429 },
    told: /rate limit.*asks to wait (1h|59m 5\ds)/,
    tries: 1,
  },
  'a secondary rate limit with 403 that ends too late': {
    fault: { kind: 'secondary-rate-limit', retryAfterSeconds: 3600 },
    told: /secondary rate limit.*asks to wait 1h/,
    tries: 1,
  },
  'a secondary rate limit with 429 that ends too late': {
    fault: { kind: 'secondary-rate-limit', status: 429, retryAfterSeconds: 3600 },
    told: /secondary rate limit.*asks to wait 1h/,
    tries: 1,
  },
  'a page': { fault: { kind: 'html' }, told: /other than the requested run/, tries: 5 },
  'a page with 403': { fault: { kind: 'html', status: 403 }, told: /status 403 and a body that is not JSON/, tries: 5 },
  'a page with 404': { fault: { kind: 'html', status: 404 }, told: /status 404 and a body that is not JSON/, tries: 5 },
  'a 404 without a body': {
    fault: { kind: 'status', status: 404, body: '' },
    told: /status 404/,
    tries: 5,
  },
  'JSON that is none': { fault: { kind: 'bad-json' }, told: /other than the requested run/, tries: 5 },
  'an empty body': { fault: { kind: 'empty-body' }, told: /other than the requested run/, tries: 5 },
  'another run': {
    fault: { kind: 'status', status: 200, body: '{"id":77,"status":"completed","run_attempt":9}' },
    told: /other than the requested run/,
    tries: 5,
  },
  'a run without a status': {
    fault: { kind: 'status', status: 200, body: `{"id":${ownRun},"run_attempt":9}` },
    told: /other than the requested run/,
    tries: 5,
  },
  null: { fault: { kind: 'status', status: 200, body: 'null' }, told: /other than the requested run/, tries: 5 },
  'a closed connection': { fault: { kind: 'cut-before-headers' }, told: /could not be reached/, tries: 5 },
  'a body cut short': { fault: { kind: 'cut-mid-body' }, told: /GitHub/, tries: 5 },
  'nothing at all': {
    fault: { kind: 'hang-before-headers' },
    told: /did not respond within request-timeout/,
    tries: 5,
    inputs: { 'request-timeout': '1s' },
  },
  'a redirect to a page that is not there': {
    fault: { kind: 'redirect', location: '/login' },
    told: /GitHub/,
    tries: 5,
  },
  'a redirect without end': { fault: { kind: 'redirect', location: '?again' }, told: /GitHub/, tries: 105 },
  '500': { fault: { kind: 'status', status: 500 }, told: /status 500: Internal Server Error/, tries: 5 },
  '503': { fault: { kind: 'status', status: 503 }, told: /status 503: Service Unavailable/, tries: 5 },
};

/** All that is so where no run can be seen: the old ones go, the young ones stay, and one warning says why. */
function expectByAge(result: StepResult, revoked: readonly string[], kept: readonly string[], told: RegExp): void {
  expectSwept(result, 'ok', { revoked, kept });
  const warnings = warningsOf(result);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(told);
  expect(warnings[0]).toContain('actions: read');
  expect(warnings[0]).toContain('older-than');
  expect(result.summary).toMatch(/^### ⚠️/);
  expect(result.summary).toContain('actions: read');
  const output = result.output.replace(`::add-mask::${token}\n`, '');
  expect(output + result.summary).not.toContain(token);
}

/** Three runs that are over, each with a key older than 35 days and one a little younger. */
function addOldAndYoung({ addKey, github }: SweepStage): { readonly old: string[]; readonly young: string[] } {
  github.addRun({ id: '11', status: 'completed' });
  github.addRun({ id: '12', attempt: 2 });
  const old = ['11', '12', '13'].map((id) => addKey(id, { ageDays: 35.01 }));
  const young = ['11', '12', '13'].map((id) => addKey(id, { ageDays: 34.99 }));
  return { old, young };
}

for (const [what, { fault, told, tries, inputs }] of Object.entries(unseen)) {
  test.concurrent(`${what}, for this very run: only old keys are revoked`, async (context) => {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    stage.github.faults.add({ path: `/runs/${ownRun}`, fault });

    const result = await stage.sweep({ ...inputs }, swiftly);

    expectByAge(result, old, young, told);
    // Who cannot see this very run learns nothing from any other.
    const asked = runsAsked(stage).flatMap((path) => /^\d+/.exec(path) ?? []);
    expect(new Set(asked)).toEqual(new Set([ownRun]));
    expect(asked.length).toBeLessThanOrEqual(tries);
    for (const { why } of fileOf(result).keys) expect(why).toMatch(/is unknown.*older than 35d/);
  });
}

for (const what of ['no permission', 'another run', 'nothing at all']) {
  const { fault, told, inputs } = unseen[what] as Unseen;
  test.concurrent(`${what}, for every other run: only old keys are revoked`, async (context) => {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    for (const id of ['11', '12', '13']) stage.github.faults.add({ path: `/runs/${id}`, fault });
    const result = await stage.sweep({ ...inputs }, swiftly);
    expectByAge(result, old, young, told);
  });
}

test.concurrent('one run that cannot be seen: the others are judged by what GitHub says', async (context) => {
  const stage = await setSweepStage(context);
  const { addKey, github } = stage;
  github.addRun({ id: '11' });
  github.faults.add({ path: '/runs/12', fault: { kind: 'status', status: 502 } });
  const kept = [addKey('11', { ageDays: 300 }), addKey('12', { ageDays: 34 })];
  const revoked = [addKey('12', { ageDays: 36 }), addKey('13')];
  const result = await stage.sweep({}, swiftly);
  expectByAge(result, revoked, kept, /status 502/);
});

test.concurrent('a page with 404 does not say that a run is gone', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.faults.add({ path: '/runs/11', fault: { kind: 'html', status: 404 } });
  const kept = [stage.addKey('11')];
  const result = await stage.sweep({}, swiftly);
  expectByAge(result, [], kept, /status 404 and a body that is not JSON/);
});

test.concurrent('where GitHub is down for some, the rest is not asked to no end', async (context) => {
  const stage = await setSweepStage(context);
  for (let n = 100; n < 160; n++) stage.addKey(String(n));
  stage.github.faults.add({ path: '/runs/1', fault: { kind: 'status', status: 503 } });
  const result = await stage.sweep({}, swiftly);
  expect(result.conclusion).toBe('success');
  expect(warningsOf(result)).toHaveLength(1);
  // Of six that are asked for side by side each may be tried five times, and a few more before three have failed.
  expect(stage.github.requests.length).toBeLessThanOrEqual(60);
});

test.concurrent('where GitHub forbids one, no other is asked for again and again', async (context) => {
  const stage = await setSweepStage(context);
  const kept = Array.from({ length: 60 }, (_, n) => stage.addKey(String(100 + n)));
  stage.github.faults.add({ path: '/runs/1', fault: { kind: 'no-permission' } });
  const result = await stage.sweep();
  expectByAge(result, [], kept, /Resource not accessible/);
  expect(stage.github.requests.length).toBeLessThanOrEqual(12);
});

for (const [what, fault] of Object.entries({
  'a rate limit with 403': { kind: 'rate-limit', resetInSeconds: 1 },
  'a secondary rate limit with 429': { kind: 'secondary-rate-limit', status: 429, retryAfterSeconds: 1 },
  '503 with Retry-After': { kind: 'status', status: 503, headers: { 'retry-after': '1' } },
  'a closed connection': { kind: 'cut-before-headers' },
} satisfies Record<string, Fault>)) {
  test.concurrent(`${what} that is soon over is waited for`, async (context) => {
    const stage = await setSweepStage(context);
    stage.github.addRun({ id: '12' });
    stage.github.faults.add({ path: `/runs/${ownRun}`, nth: 1, fault });
    stage.github.faults.add({ path: '/runs/11', nth: 1, fault });
    const revoked = [stage.addKey('11')];
    const kept = [stage.addKey('12', { ageDays: 300 })];

    const result = await stage.sweep({}, swiftly);

    expectSwept(result, 'ok', { revoked, kept });
    expect(warningsOf(result)).toEqual([]);
    expect(runsAsked(stage).filter((id) => id !== '12')).toEqual([ownRun, ownRun, '11', '11', '11', ownRun]);
  });
}

test.concurrent('a bad token: only old keys are revoked', async (context) => {
  const stage = await setSweepStage(context, { github: { token: 'another' } });
  const { old, young } = addOldAndYoung(stage);
  expectByAge(await stage.sweep(), old, young, /status 401: Bad credentials/);
});

test.concurrent('a token of another repository, which GitHub hides this one from: only old keys are revoked', async (context) => {
  const stage = await setSweepStage(context, { github: { repository: 'acme/docs', repositoryId: 5 } });
  const { old, young } = addOldAndYoung(stage);
  expectByAge(await stage.sweep(), old, young, /does not show the current run/);
});

test.concurrent('an empty token: GitHub is not asked, and only old keys are revoked', async (context) => {
  const stage = await setSweepStage(context);
  const { old, young } = addOldAndYoung(stage);
  const result = await stage.sweep({ 'github-token': '' });
  expectByAge(result, old, young, /github-token is empty/);
  expect(stage.github.requests).toEqual([]);
  expect(result.masks).toEqual([stage.service.apiKey]);
});

/** Another server, that says the same to everything. */
async function startBystander(
  { onTestFinished }: TestContext,
  status: number,
  body: string,
): Promise<{ readonly url: string; readonly seen: readonly IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

for (const [what, status, body] of [
  ['says 404 in the words of GitHub', 404, '{"message":"Not Found","status":"404"}'],
  ['says 404 in other words', 404, '{"error":"no such path"}'],
  ['says 404 and nothing else', 404, ''],
  ['says 200 to everything', 200, '{}'],
  ['says of everything that it is completed', 200, '{"status":"completed","run_attempt":99}'],
] as const) {
  test.concurrent(`a wrong address that ${what} proves nothing`, async (context) => {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    const { url } = await startBystander(context, status, body);
    const result = await stage.sweep({}, { ...swiftly, env: { GITHUB_API_URL: url } });
    expectByAge(result, old, young, /GitHub/);
    expect(stage.github.requests).toEqual([]);
  });
}

for (const url of ['http://127.0.0.1:1', 'http://github.invalid.test.']) {
  test.concurrent(`${url}, where nobody is, proves nothing`, async (context) => {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    const result = await stage.sweep({}, { ...swiftly, env: { GITHUB_API_URL: url } });
    expectByAge(result, old, young, /could not be reached/);
  });
}

test.concurrent('an address that is none is told by its name, and is no defect', async (context) => {
  const stage = await setSweepStage(context);
  stage.addKey('11');
  const result = await stage.sweep({}, { ...swiftly, env: { GITHUB_API_URL: 'api.github.test' } });
  expect(result.log).toContain('GITHUB_API_URL');
  expect(result.log).not.toMatch(/report it as a defect/);
  expect(deletes(stage)).toEqual([]);
});

test.concurrent('the base path is part of the address: without it nothing is proved', async (context) => {
  const stage = await setSweepStage(context, { github: { basePath: '/api/v3' } });
  const { old, young } = addOldAndYoung(stage);
  const result = await stage.sweep({}, { env: { GITHUB_API_URL: new URL(stage.github.url).origin } });
  expectByAge(result, old, young, /does not show the current run/);
});

for (const [what, status, body] of [
  ['404 in the words of GitHub', 404, '{"message":"Not Found","status":"404"}'],
  ['that the run is completed', 200, '{"id":11,"status":"completed","run_attempt":1}'],
] as const) {
  test.concurrent(`another server that GitHub sends to gets no token, and its ${what} proves nothing`, async (context) => {
    const stage = await setSweepStage(context);
    const bystander = await startBystander(context, status, body);
    const location = `${bystander.url}/repositories/${repositoryId}/actions/runs/11`;
    stage.github.faults.add({ path: '/runs/11', fault: { kind: 'redirect', location } });
    const kept = [stage.addKey('11')];

    const result = await stage.sweep({}, swiftly);

    for (const { headers } of bystander.seen) expect(JSON.stringify(headers)).not.toContain(token);
    expectByAge(result, [], kept, /GitHub/);
  });
}

for (const [olderThan, revokes] of [
  ['9d', true],
  ['240h', true],
  ['11d', false],
  ['366d', false],
] as const) {
  test.concurrent(`a key of 10 days and an hour is ${revokes ? 'older' : 'not older'} than ${olderThan}`, async (context) => {
    const stage = await setSweepStage(context);
    stage.github.faults.add({ fault: { kind: 'no-permission' } });
    const id = stage.addKey('11', { ageDays: 10 + 1 / 24 });
    const result = await stage.sweep({ 'older-than': olderThan });
    expectByAge(result, revokes ? [id] : [], revokes ? [] : [id], /403/);
  });
}

test.concurrent('older-than has no say where GitHub tells', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.addRun({ id: '11', status: 'completed' });
  stage.github.addRun({ id: '12' });
  const revoked = [stage.addKey('11', { ageDays: 0 })];
  const kept = [stage.addKey('12', { ageDays: 300 }), stage.addKey('13', { ageDays: 0.5 / 24 })];
  expectSwept(await stage.sweep({ 'older-than': '1s' }), 'ok', { revoked, kept });
});

test.concurrent('bad inputs are told, and nothing is sent', async (context) => {
  const stage = await setSweepStage(context);
  stage.addKey('11');
  const result = await stage.sweep({ 'older-than': '367d', 'dry-run': 'maybe', timeout: '0' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/^3 bad inputs:/);
  for (const name of ['older-than: “367d”', 'dry-run: “maybe”', 'timeout: “0”'])
    expect(errorOf(result)).toContain(name);
  expect(errorOf(await stage.sweep({ 'older-than': '0' }))).toMatch(/older-than: “0” .*above 0/);
  expect(stage.service.requests).toEqual([]);
  expect(stage.github.requests).toEqual([]);
});

// Dry run

for (const fault of [undefined, { kind: 'no-permission' }] as const) {
  test.concurrent(`a dry run ${fault ? 'by age ' : ''}shows the same table, and revokes nothing`, async (context) => {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    if (fault) stage.github.faults.add({ fault });
    const before = stage.alive();

    const dry = await stage.sweep({ 'dry-run': 'true' });
    const sent = deletes(stage);
    const alive = stage.alive();
    const wet = await stage.sweep();

    const [revoked, kept] = fault ? [old, young] : [[...old, ...young], []];
    expectSwept(dry, 'ok', { revoked, kept });
    expectSwept(wet, 'ok', { revoked, kept });
    expect([sent, alive]).toEqual([[], before]);
    expect(dry.summary).toContain('would be revoked');
    expect(fileOf(dry)).toMatchObject({ dry_run: true });
    expect(fileOf(wet)).toMatchObject({ dry_run: false });
    const rows = (result: StepResult) =>
      (result.summary.match(/<tr>.*<\/tr>/g) ?? []).map((row) => row.replace(/^<tr><td>.*?<\/td>/, ''));
    const withoutUse = (row: string) => row.replace(/<td>[^<]*<\/td>(<td>[^<]*<\/td>)$/, '$1');
    expect(rows(dry).map(withoutUse)).toEqual(rows(wet).map(withoutUse));
    expect(rows(dry)).toHaveLength(1 + old.length + young.length);
    expect(dry.log).not.toMatch(/is revoked/);
  });
}

// Revoking

test.concurrent('one revocation that fails does not stop the rest; the step then fails', async (context) => {
  const stage = await setSweepStage(context, {
    service: {
      faults: [
        { path: '/api_keys/3', fault: { kind: 'status', status: 403 } },
        { path: '/api_keys/5', fault: { kind: 'status', status: 503 } },
      ],
    },
  });
  const ids = Array.from({ length: 6 }, (_, n) => stage.addKey(String(11 + n)));
  const running = stage.addKey(ownRun);

  const result = await stage.sweep({}, swiftly);

  expectSwept(result, 'error', { revoked: ['2', '4', '6', '7'], kept: ['3', '5', running] });
  expect(ids).toHaveLength(6);
  expect(stage.alive()).toEqual(['1', '3', '5', running]);
  expect(errorOf(result)).toMatch(/2 of 6 keys/);
  expect(errorOf(result)).toMatch(/\b3\b.*status 403.*request id req-\d+/);
  expect(errorOf(result)).toMatch(/\b5\b.*status 503.*request id req-\d+/);
  expect(result.summary).toMatch(/^### ❌/);
  expect(result.summary).toContain('not revoked');
});

test.concurrent('a key that another sweep revoked meanwhile is gone, and in no list', async (context) => {
  const stage = await setSweepStage(context, {
    service: { faults: [{ path: '/api_keys/3', fault: { kind: 'status', status: 404, done: 'now' } }] },
  });
  const [first = '', second = '', third = ''] = ['11', '12', '13'].map((id) => stage.addKey(id));
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked: [first, third] });
  expect(second).toBe('3');
  expect(result.summary).toContain('already gone');
});

test.concurrent('many keys are revoked a few at a time, and the summary shows fifty', async (context) => {
  const stage = await setSweepStage(context, {
    service: { faults: [{ endpoint: 'revoke-key', fault: { kind: 'delay', ms: 20 } }] },
  });
  const revoked = Array.from({ length: 130 }, (_, n) => stage.addKey(String(11 + (n % 5))));
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked });
  const { requests } = stage.service;
  const underWay = requests.map(
    ({ at }) => requests.filter((other) => other.at <= at && (other.endedAt ?? Number.POSITIVE_INFINITY) > at).length,
  );
  expect(Math.max(...underWay)).toBeLessThanOrEqual(6);
  expect(Math.max(...underWay)).toBeGreaterThan(2);
  expect(result.summary.match(/<tr>/g)).toHaveLength(51);
  expect(result.summary).toMatch(/80 more/);
});

for (const [what, fault] of Object.entries({
  refused: { kind: 'status', status: 403 },
  'not found': { kind: 'status', status: 404 },
  'no array': { kind: 'status', status: 200, body: '{"api_keys":[]}' },
  'without ids': { kind: 'status', status: 200, body: '[{"name":"shop"}]' },
  'a page': { kind: 'html' },
} as const)) {
  test.concurrent(`a list of keys that is ${what} is an error, and nothing is revoked`, async (context) => {
    const stage = await setSweepStage(context, { service: { faults: [{ endpoint: 'list-keys', fault }] } });
    stage.addKey('11');
    const result = await stage.sweep({}, swiftly);
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain('GET /v2/api_keys');
    expect(stage.alive()).toHaveLength(2);
    expect(deletes(stage)).toEqual([]);
  });
}

// Secrets and addresses

const longToken = `ghs_${'Zq7Wm4Lk9Xs2Vb'.repeat(3)}`;
const far = 'x'.repeat(280);

const echoes: Readonly<Record<string, Fault>> = {
  'as a message': { kind: 'status', status: 403, body: JSON.stringify({ message: `no: ${longToken}` }) },
  'where a message is cut': { kind: 'status', status: 403, body: JSON.stringify({ message: `${far} ${longToken}` }) },
  'with a rate limit': {
    kind: 'status',
    status: 403,
    headers: { 'retry-after': '3600' },
    body: JSON.stringify({ message: `rate limit of token ${longToken}` }),
  },
  'as a page': { kind: 'html', status: 403, body: `<html><title>${longToken}</title></html>` },
  'in the place of a redirect': { kind: 'redirect', location: `http://127.0.0.1:1/${longToken}` },
  'as another status of the run': {
    kind: 'status',
    status: 200,
    body: JSON.stringify({ id: 11, status: longToken, run_attempt: longToken }),
  },
};

for (const [how, fault] of Object.entries(echoes)) {
  test.concurrent(`github-token, echoed ${how}, is in no stream, summary or file`, async (context) => {
    const stage = await setSweepStage(context, { github: { token: longToken } });
    stage.github.faults.add({ path: '/runs/11', fault });
    stage.addKey('11');

    const result = await stage.sweep({ 'github-token': longToken }, { debug: true, ...swiftly });

    const masks = `::add-mask::${longToken}\n`;
    expect(result.stdout).toContain(masks);
    const told = [
      result.stdout.replaceAll(masks, ''),
      result.stderr,
      result.summary,
      JSON.stringify([result.outputs, result.state, result.env]),
      result.readFile(result.outputs['result-file'] ?? ''),
    ].join('\n');
    const pieces = Array.from({ length: longToken.length - 12 }, (_, at) => longToken.slice(at, at + 12));
    expect(pieces.filter((piece) => told.includes(piece))).toEqual([]);
    expect(told).not.toContain(Buffer.from(longToken).toString('base64').slice(0, 40));
    expect(result.conclusion).toBe('success');
  });
}

test.concurrent('words of GitHub are text, and no command', async (context) => {
  const stage = await setSweepStage(context);
  const message = '::error::HACKED\n::set-output name=status::HACKED\n##[error]x</code><img src=x>\u001b[2J';
  stage.github.faults.add({ fault: { kind: 'status', status: 403, body: JSON.stringify({ message }) } });
  const kept = [stage.addKey('11')];
  const result = await stage.sweep({}, { debug: true });
  expectByAge(result, [], kept, /HACKED/);
  expect(result.annotations.map(({ kind }) => kind)).toEqual(['warning']);
  expect(result.output + result.summary).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  expect(result.summary).not.toContain('<img');
});

test.concurrent('addresses of keys are in the file alone', async (context) => {
  const stage = await setSweepStage(context);
  const ids = [stage.addKey('11'), stage.addKey(ownRun)];
  for (const id of ids) {
    const key = stage.service.plane.key(id) ?? {};
    Object.assign(key, { lastUsedAt: Date.UTC(2026, 0, 31, 9, 30, 0), lastUsedFrom: '203.0.113.77' });
  }
  const result = await stage.sweep({}, { debug: true });
  expect(result.readFile(result.outputs['result-file'] ?? '')).toContain('203.0.113.77');
  expect(result.output + result.summary).not.toContain('203.0.113.77');
  expect(result.summary).toContain('2026-01-31 09:30:00Z');
});

for (const [mode, inputs] of [
  ['list-keys', {}],
  ['revoke-key', { 'key-id': '4711' }],
  ['create-key', {}],
] as const) {
  test.concurrent(`github-token is not listed as unused in ${mode}, whatever it is`, async (context) => {
    const { runMode } = await setStage(context);
    for (const value of [undefined, '', 'ghs_another']) {
      const result = await runMode(mode, { ...inputs, 'github-token': value });
      expect(result.conclusion).toBe('success');
      expect(warningsOf(result)).toEqual([]);
    }
  });
}

test.concurrent('inputs of other modes are ignored with one warning', async (context) => {
  const stage = await setSweepStage(context);
  const revoked = [stage.addKey('11')];
  const result = await stage.sweep({ 'key-id': '1', 'key-name': 'console', filter: 'x', limit: '1' });
  expectSwept(result, 'ok', { revoked });
  expect(warningsOf(result)).toMatchObject([expect.stringMatching(/filter, limit, key-name, key-id\./)]);
});

// Proxies

/** The service is on loopback, which no proxy serves; GitHub is known to the proxy alone. */
function behind(port: number, login = ''): { readonly env: Readonly<Record<string, string>> } {
  return { env: { GITHUB_API_URL: 'http://github.test', http_proxy: `http://${login}127.0.0.1:${port}` } };
}

test.concurrent('GitHub is asked through the proxy that http_proxy names', async (context) => {
  const stage = await setSweepStage(context);
  const proxy = await startProxy(context, Number(new URL(stage.github.url).port));
  stage.github.addRun({ id: '12' });
  const revoked = [stage.addKey('11')];
  const kept = [stage.addKey('12')];

  const result = await stage.sweep({}, behind(proxy.port));

  expectSwept(result, 'ok', { revoked, kept });
  expect(warningsOf(result)).toEqual([]);
  expect(proxy.asked[0]?.url).toBe('github.test:80');
  expect(JSON.stringify(proxy.asked.map(({ headers }) => headers))).not.toContain(token);
  expect(runsAsked(stage)).toEqual([ownRun, '11', '12', '11', ownRun]);
});

test.concurrent('with its login', async (context) => {
  const stage = await setSweepStage(context);
  const manner = { kind: 'login', user: 'ci', password: 'hunter2@:/' } as const;
  const proxy = await startProxy(context, Number(new URL(stage.github.url).port), manner);
  const revoked = [stage.addKey('11')];
  const result = await stage.sweep({}, behind(proxy.port, `ci:${encodeURIComponent(manner.password)}@`));
  expectSwept(result, 'ok', { revoked });
  expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
});

test.concurrent('a proxy that wants a login, one that is silent and one that is not there: only old keys are revoked', async (context) => {
  const ports = await Promise.all([
    startProxy(context, 1, { kind: 'says', text: wantsLogin }).then(({ port }) => port),
    startProxy(context, 1, { kind: 'silent' }).then(({ port }) => port),
    1,
  ]);
  for (const port of ports) {
    const stage = await setSweepStage(context);
    const { old, young } = addOldAndYoung(stage);
    const result = await stage.sweep({ 'request-timeout': '1s' }, { ...swiftly, ...behind(port, 'ci:hunter2@') });
    expectByAge(result, old, young, /GitHub/);
    expect(result.output + result.summary).not.toContain('hunter2');
  }
});

test.concurrent('a proxy variable that cannot be read does not stop the sweep, and is not shown', async (context) => {
  const stage = await setSweepStage(context);
  const { old, young } = addOldAndYoung(stage);
  const env = { GITHUB_API_URL: 'http://github.test', http_proxy: 'http://ci:hunter2%zz@127.0.0.1:1' };
  const result = await stage.sweep({}, { ...swiftly, env });
  expect(withoutMasks(result.output) + result.summary).not.toContain('hunter2');
  expectByAge(result, old, young, /GitHub was not asked because http_proxy is not a valid URL/);
});

// Time: each alone, as loading what talks to GitHub takes long where much else is under way

test('GitHub that hangs leaves half of the time for the keys', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.faults.add({ fault: { kind: 'hang-before-headers' } });
  const { old, young } = addOldAndYoung(stage);
  const result = await stage.sweep({ timeout: '8s' });
  expectByAge(result, old, young, /did not respond within half of the timeout/);
  // Its own time: a busy machine takes some to start it.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(8_000);
});

test('GitHub that hangs for some runs, too: those that were seen are judged', async (context) => {
  const stage = await setSweepStage(context);
  stage.github.faults.add({ path: '/runs/12', fault: { kind: 'hang-before-headers' } });
  stage.github.addRun({ id: '11', status: 'completed' });
  const revoked = [stage.addKey('11'), stage.addKey('12', { ageDays: 36 })];
  const kept = [stage.addKey('12')];
  const result = await stage.sweep({ timeout: '8s' });
  expectByAge(result, revoked, kept, /did not respond within half of the timeout/);
  // Its own time: a busy machine takes some to start it.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(8_000);
});

test('a server that takes the connection and says nothing leaves time, too', async (context) => {
  const stage = await setSweepStage(context);
  const { port } = await startMuteServer(context);
  const { old, young } = addOldAndYoung(stage);
  const result = await stage.sweep({ timeout: '8s' }, { env: { GITHUB_API_URL: `http://127.0.0.1:${port}` } });
  expectByAge(result, old, young, /did not respond within half of the timeout/);
  // Its own time: a busy machine takes some to start it.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(8_000);
});

test('the deadline while keys are revoked: what was done until then is told', async (context) => {
  const stage = await setSweepStage(context, {
    service: {
      faults: [{ endpoint: 'revoke-key', from: 3, fault: { kind: 'hang-before-headers', done: 'never' } }],
    },
  });
  const ids = Array.from({ length: 8 }, () => stage.addKey('11'));
  const running = stage.addKey(ownRun);

  const result = await stage.sweep({ timeout: '8s' });

  const revoked = ids.filter((id) => !stage.alive().includes(id));
  expect(revoked).toHaveLength(2);
  const kept = [...ids, running].filter((id) => !revoked.includes(id));
  expectSwept(result, 'error', { revoked, kept });
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(8_000 + 2_000);
  expect(errorOf(result)).toMatch(/timeout/);
});

test('a process that has swept ends at once, though GitHub keeps its connection', async (context) => {
  const stage = await setSweepStage(context);
  stage.addKey('11');
  const result = await stage.sweep();
  expect(result.conclusion).toBe('success');
  const last = result.lines.at(-1)?.ms ?? Number.NaN;
  expect(result.ms - last).toBeLessThan(2_000);
});

test('a cancel while a revocation is awaited ends the step at once', async (context) => {
  const stage = await setSweepStage(context);
  const { service } = stage;
  service.faults.add({ endpoint: 'revoke-key', fault: { kind: 'hang-before-headers', done: 'never' } });
  const id = stage.addKey('11', { ageDays: 300 });

  const step = stage.startSweep();
  await reach(step, service.arrived({ endpoint: 'revoke-key' }));
  step.kill('SIGINT');
  const result = await step.done;

  expectSwept(result, 'cancelled', { kept: [id] });
  expect(result.annotations).toEqual([]);
  expect(result.exitCode).toBe(1);
  expect(result.summary).toMatch(/^### 🚫/);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
  expect(stage.alive()).toContain(id);
});
