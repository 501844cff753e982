import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { hang, html, lost, onCreate, onDelete, onList, retryAfter, status, truncated } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { setKeyStage } from '../kit/key-stage.js';
import { readSaved } from '../kit/saved-state.js';
import { maskedForms, secretsShown } from '../kit/secrets-shown.js';
import { errorOf, type Stage, type StageOptions, setStage, staged } from '../kit/stage.js';
import { between } from '../kit/times.js';
import type { StepResult } from '../runner/step.js';

/** The requests, in order: `create list revoke`. */
const sent = ({ service }: Pick<Stage, 'service'>) =>
  service.requests.map(({ endpoint }) => endpoint.split('-')[0]).join(' ');

function expectNoKey(result: StepResult): void {
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error', key: '', 'key-id': '' } });
}

/** Post neither sends nor prints anything. */
async function expectIdlePost({ service, runPost }: Stage, main: StepResult): Promise<void> {
  const count = service.requests.length;
  expect(main.state).toEqual({ key: 'nothing-to-revoke' });
  expect(await runPost(main)).toMatchObject({ conclusion: 'success', exitCode: 0, output: '', summary: '' });
  expect(service.requests).toHaveLength(count);
}

async function runCreate(context: TestContext, faults: readonly FaultRule[], inputs: Inputs = {}) {
  const stage = await setStage(context, { faults });
  return { stage, main: await stage.runMode('create-key', inputs) };
}

test('create-key outputs the key after one request, and shows its id and name in the summary', async (context) => {
  const { stage, main } = await runCreate(context, []);
  const { service } = stage;
  const name = main.outputs['key-name'] ?? '';
  const key = service.plane.key('2')?.key;
  expect(main.conclusion).toBe('success');
  expect(main.outputs).toEqual({ status: 'ok', key, 'key-id': '2', 'key-name': name, 'duration-ms': '0' });
  expect(service.plane.aliveKeys(name).map(({ id }) => id)).toEqual(['2']);
  expect([main.annotations, main.env]).toEqual([[], {}]);
  expect(main.summary.trim()).toBe(`### ✅ create-key: Created key 2 (${name}), valid until the end of this job`);
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${service.apiKey}`, ...json };
  const body = JSON.stringify({ key_name: name });
  expect(service.requests).toMatchObject([{ method: 'POST', path: '/v2/api_keys', headers, body }]);
});

test('create-key masks the key, its encodings and the seals of its saved states, but not the key id', async (context) => {
  const secret = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(3)}_end=`;
  const body = JSON.stringify({ id: 77_123_456, key: secret });
  const { stage, main } = await runCreate(context, [onCreate(status(200, { body }))], { 'export-env': 'DB_API_KEY' });
  const seal = expect.stringMatching(/^[0-9a-f]{64}$/);
  const last = readSaved(main.state['key'] ?? '').seal;
  expect(main.masks).toEqual([stage.service.apiKey, seal, secret, ...maskedForms(secret), last]);
  expect(main.outputs).toMatchObject({ key: secret, 'key-id': '77123456' });
  expect(main.env).toEqual({ DB_API_KEY: secret });
  expect(main.log).toContain('77123456');
  const known = { minted: [secret], others: [stage.service.apiKey], variable: 'DB_API_KEY' };
  expect(secretsShown([main], known)).toEqual([]);
});

test('with revoke-in-post: false, create-key leaves the key alive, and post does nothing', async (context) => {
  const { stage, main } = await runCreate(context, [], { 'revoke-in-post': 'false' });
  expect(main.conclusion).toBe('success');
  expect(main.outputs['key-name']).toMatch(/^shop-kept9876543210-1-/);
  await expectIdlePost(stage, main);
  expect(stage.service.plane.isAlive('2')).toBe(true);
});

test('create-key can export the key to any variable that does not control later steps', async (context) => {
  const stage = await setStage(context, { oneJob: true });
  for (const name of 'DB_API_KEY PGPASSWORD KEY _key db_key2 MY_PATH XGITHUB_TOKEN TF_VAR_db_key'.split(' ')) {
    const main = await stage.runMode('create-key', { 'export-env': name });
    expect(main.conclusion).toBe('success');
    expect(main.env).toEqual({ [name]: main.outputs['key'] });
  }
});

type Listed = (name: string, nth: number) => object[];
const revokes = { status: 200, body: '{"revoked":true}' };
const absent = { status: 404, body: '{}' };

/** The first creates end in a 500. `listed` returns the keys that the nth list shows, for the name of the new key. */
async function runAfterFailedCreates(context: TestContext, failures: number, listed: Listed, deleted = revokes) {
  let name = '';
  let [creates, lists] = [0, 0];
  const respond: StageOptions['respond'] = (_, __, { method, body }) => {
    if (method === 'GET') return JSON.stringify(listed(name, ++lists));
    if (method === 'DELETE') return deleted;
    name = JSON.parse(body ?? '').key_name;
    return ++creates > failures ? '{"id":8,"key":"a-new-secret"}' : { status: 500, body: '' };
  };
  const { runMode, paths } = await setStage(context, { respond });
  return { main: await runMode('create-key'), paths: paths() };
}

test.for([
  [100, 'success'],
  [101, 'failure'],
] as const)('if a list shows %i keys of its name, create-key ends in %s', async ([count, conclusion], context) => {
  const listed = (name: string) => Array.from({ length: count }, (_, index) => ({ id: index + 10, name }));
  const { main, paths } = await runAfterFailedCreates(context, 1, listed);
  expect(main.conclusion).toBe(conclusion);
  expect(main.state['key']?.length).toBeLessThan(32_000);
  if (conclusion === 'failure') expect(errorOf(main)).toMatch(/101 keys are named shop-run.*may have been created/s);
  expect(paths).toHaveLength(conclusion === 'failure' ? 2 : 103);
});

test.for([
  ['no second time, because a replica that lags shows it', 1],
  ['once more, if it is a new key with the same id', 2],
] as const)('if a list shows a revoked key, create-key revokes it %s', async ([, deletes], context) => {
  const second = (nth: number) => (deletes === 1 ? 0 : nth);
  const listed = (name: string, nth: number) => [{ id: 7, name, created_at: `2024-01-01T00:00:0${second(nth)}Z` }];
  const { main, paths } = await runAfterFailedCreates(context, 2, listed);
  expect(main.conclusion).toBe('success');
  expect(paths.filter((path) => path.endsWith('/7'))).toHaveLength(deletes);
});

test('create-key sends no further DELETE for an id once a list shows it under another name', async (context) => {
  const key = (name: string, day: number) => ({ id: 7, name, created_at: `2024-01-0${day}T00:00:00Z` });
  // The key is absent after its DELETE. Then its id belongs to another key, and then a replica that lags shows the first one.
  const listed = (name: string, nth: number) =>
    [[key(name, 1)], [], [key('of another tool', 2)], [key(name, 1)]][nth - 1] ?? [];
  const { main, paths } = await runAfterFailedCreates(context, 3, listed, absent);
  expect(main.conclusion).toBe('success');
  expect(paths.filter((path) => path.endsWith('/7'))).toHaveLength(1);
});

const nameless: Listed = (name, nth) => [[{ id: 7, name }], [], [{ id: 7 }]][nth - 1] ?? [];
const again: Listed = (name, nth) => (nth % 2 === 1 ? [{ id: 7, name }] : []);
test.for<[what: string, listed: Listed, saved: string]>([
  ['without its name does not confirm that create-key revoked it', nameless, '"unconfirmedKeyIds":["7"]'],
  ['again does not stand for that of a later create', again, '"openCreates":1,"foundKeyIds":["7"]'],
])('a list that shows a key %s', async ([, listed, saved], context) => {
  const { main } = await runAfterFailedCreates(context, 2, listed, absent);
  expect(main.conclusion).toBe('success');
  expect(main.state['key']).toContain(saved);
});

test.for([423, 429])('create-key retries a %i after its Retry-After, without a search', async (code, context) => {
  const { stage, main } = await runCreate(context, [onCreate(retryAfter(code, 20))]);
  expect(main.conclusion).toBe('success');
  expect(sent(stage)).toBe('create create');
  // A random time is added, so that clients do not return together.
  expect(stage.times()).toEqual([0, between(20_000, 26_000)]);
  expect(stage.service.plane.aliveKeys(main.outputs['key-name'])).toHaveLength(1);
});

test.for<[what: string, faults: readonly FaultRule[], inputs: Inputs, message: RegExp]>([
  ['the response is 400', [onCreate(status(400))], {}, /The service says 400\./],
  ['the response is 422', [onCreate(status(422))], {}, /The service says 422\./],
  ['every response is 401', [onCreate(status(401), {})], {}, /The service says 401\./],
  ['every response is 425', [onCreate(status(425), {})], { timeout: '1m' }, /425/],
  ['every response is 429', [onCreate(status(429), {})], { timeout: '1m' }, /429/],
  ['a 423 asks to wait beyond the deadline', [onCreate(retryAfter(423, 90))], { timeout: '1m' }, /423/],
  ['the host is unknown', [], { 'base-url': 'https://unknown.test/v2' }, /Unknown host.*base-url/],
])('if %s, create-key reports that no key was created', async ([, faults, inputs, message], context) => {
  const { stage, main } = await runCreate(context, faults, inputs);
  expectNoKey(main);
  if (faults.length === 0) expect(stage.elsewhere).toHaveLength(5);
  expect(errorOf(main)).toMatch(message);
  expect(errorOf(main)).toMatch(/No key was created/);
  await expectIdlePost(stage, main);
});

const secret = 'a-secret-that-nobody-may-see';
const withBody = (body: string): Fault => status(200, { body, done: 'now' });
const asText = (key: unknown) => JSON.stringify({ id: 5, key });
const unusableKeys = ['', '1234567', null, 12_345_678_901, [secret]];
const unusableTexts = [`${secret} x`, `${secret}\n::error::${secret}`, `***${secret}`];
const unusableBodies = [
  ...['{"id":5}', ...[null, 5.5, '../5'].map((id) => JSON.stringify({ id, key: secret }))],
  ...[
    ...[...unusableKeys, ...unusableTexts].map(asText),
    `{"api_key":${asText(secret)}}`,
    `[${asText(secret)}]`,
    `id=5&key=${secret}`,
  ],
  ...['null', '5', '{}', `{"id":5,"key":"${secret}"`],
];

/** Each response, or its loss, leaves open whether a key was created. */
const ambiguous: readonly (readonly [what: string, fault: Fault])[] = [
  ['a closed connection', lost],
  ['a connection that closed before the key was created', { ...lost, done: 'never' }],
  ['a truncated body', truncated],
  ['a timeout without a response', hang],
  ['a timeout in the middle of a response', { kind: 'hang-mid-body' }],
  ['an empty body', { kind: 'empty-body' }],
  ['a login page', { ...html, done: 'now' }],
  ['a login page with 403', { ...html, status: 403, done: 'now' }],
  ['a 500 without effect', status(500)],
  ...[408, 500, 524].map((code) => [`a ${code}`, status(code, { done: 'now' })] as const),
  ...unusableBodies.map((body) => [`the body ${body}`, withBody(body)] as const),
];

test.for(ambiguous)('after %s, create-key revokes any key that was made, and retries', async ([, fault], context) => {
  const stage = await setKeyStage(context);
  stage.service.faults.add(onCreate(fault));
  const main = await stage.startCreate().done;
  expect(main).toMatchObject({ conclusion: 'success', annotations: [] });
  const { key, 'key-id': id, 'key-name': name } = main.outputs;
  const alive = stage.made().filter((one) => stage.service.plane.isAlive(one.id));
  expect(alive.map((one) => [one.id, one.key, one.name])).toEqual([[id, key, name]]);
  expect(sent(stage)).toMatch(/^create list (revoke )?create$/);
  expect(stage.leftovers(main, main)).toMatchObject({ othersRevoked: [], secretsShown: [] });
  expect(secretsShown([main], { minted: [], others: [secret] })).toEqual([]);
  for (const { body } of stage.service.requests.filter(({ method }) => method === 'POST'))
    expect(JSON.parse(body)).toEqual({ key_name: name });
});

test('create-key waits for the Retry-After of a 503 before it searches for keys', async (context) => {
  const { stage } = await runCreate(context, [onCreate(retryAfter(503, 20))]);
  expect(sent(stage)).toBe('create list create');
  expect(stage.times()).toEqual([0, 20_000, expect.toSatisfy((ms: number) => ms < 22_000)]);
});

test.for<[what: string, fault: Fault]>([
  ['a 500', status(500, { done: 'now' })],
  ['the body null', withBody('null')],
  ['an HTML page with 429', { ...html, status: 429, done: 'now' }],
  ['an HTML page with 423', { ...html, status: 423, done: 'now' }],
])('if every response is %s, create-key gives up after 5 attempts and leaves no key', async ([, fault], context) => {
  const stage = await setKeyStage(context);
  stage.service.faults.add(onCreate(fault, {}));
  const main = await stage.startCreate().done;
  expectNoKey(main);
  expect(sent(stage)).toBe(Array(5).fill('create list revoke').join(' '));
  expect(errorOf(main)).toContain(main.outputs['key-name']);
  expect(main.state['key']).toMatch(/"openCreates":0,"foundKeyIds":\[("\d+",?){5}\]/);
  expect(stage.leftovers(main, main)).toMatchObject({ alive: [], othersRevoked: [], secretsShown: [] });
});

const announcesMore = status(200, { headers: { link: '</v2/api_keys?page=2>; rel="next"' }, body: '[]' });
const never: Fault = { ...lost, done: 'never' };
const short = { timeout: '3s' };
const rejected = status(403, { done: 'now' });
const redirect: Fault = { kind: 'redirect', location: '/v2/elsewhere', done: 'now' };
const [revoked, searched] = ['create list revoke', 'create list list list list list'];
test.for<[what: string, rules: FaultRule[], message: RegExp, requests: string, inputs?: Inputs]>([
  ['the response is 409', [onCreate(status(409, { done: 'now' }))], /The service says 409\./, revoked],
  ['the response is a redirect', [onCreate(redirect)], /redirect to https:\/\/control\.test was not/, revoked],
  ['the response is endless', [onCreate({ kind: 'endless-body' })], /larger than/, revoked],
  ['the search fails', [onCreate(lost), onList(status(503))], /The service says 503/, searched],
  ['a key cannot be revoked', [onCreate(lost), onDelete(rejected)], /Could not revoke key \d+: .*403/, revoked],
  ['the list is not whole', [onCreate(lost), onList(announcesMore)], /not whole/, searched],
  ['a 503 asks to wait beyond the deadline', [onCreate(retryAfter(503, 3_600))], /wait 1h, but only 10m/, 'create'],
  ['the retry is rejected', [onCreate(never), onCreate(status(403), { nth: 2 })], /403/, 'create list create'],
  ['the deadline ends the create', [onCreate(hang)], /Timed out after 3s/, 'create', short],
  ['the deadline ends the search', [onCreate(lost), onList(hang)], /Timed out after 3s/, 'create list', short],
])('if %s, create-key gives up and saves the key name', async ([, rules, message, requests, inputs], context) => {
  const { stage, main } = await runCreate(context, rules, inputs);
  expectNoKey(main);
  expect(sent(stage)).toBe(requests);
  if (requests === revoked) expect(stage.service.plane.aliveKeys()).toHaveLength(1);
  expect(errorOf(main)).toMatch(message);
  expect(errorOf(main)).toContain(main.outputs['key-name']);
  expect(main.state['key']).toContain(main.outputs['key-name']);
});

test('the error of create-key names only the keys that it could not revoke', async (context) => {
  const stage = await setStage(context, { faults: [onCreate(lost), onDelete(rejected)] });
  void stage.service
    .arrived({ endpoint: 'create-key' })
    .then(({ body }) => stage.service.plane.addKey(JSON.parse(body).key_name));
  expect(errorOf(await stage.runMode('create-key'))).toMatch(/Could not revoke key \d+: .*403/);
  expect(sent(stage)).toBe('create list revoke revoke');
  expect(stage.service.plane.aliveKeys()).toHaveLength(1);
});

test('create-key does not revoke a key of another tool that now has the id of its own lost key', async (context) => {
  const stage = await setStage(context, { faults: [onCreate(lost), { endpoint: 'revoke-key', fault: status(404) }] });
  const { service, runMode } = stage;
  void service.ended({ endpoint: 'revoke-key' }).then(() => service.plane.reuseId('2', 'of another tool'));
  expect((await runMode('create-key')).conclusion).toBe('success');
  expect(sent(stage)).toBe('create list revoke list create');
  expect(service.plane.aliveKeys('of another tool')).toHaveLength(1);
});

for (const file of ['GITHUB_OUTPUT', 'GITHUB_ENV'])
  test(`if ${file} cannot be written, create-key fails, and post revokes the key despite revoke-in-post: false`, async (context) => {
    const stage = await setKeyStage(context);
    const nowhere = { env: { [file]: join(stage.folder, 'nowhere', 'x') } };
    const main = await stage.startCreate({ 'revoke-in-post': 'false' }, nowhere).done;
    const post = await stage.runPost(main, { env: { [file]: undefined } });
    expect(main.conclusion).toBe('failure');
    errorOf(main);
    const key = stage.made()[0]?.key ?? '';
    // Masks come before state, state before outputs, outputs before the environment.
    expect(main.masks).toContain(key);
    expect(main.state['key']).toContain(key);
    expect(main.outputs['key']).toBe(file === 'GITHUB_ENV' ? key : undefined);
    expect(post.annotations).toEqual([]);
    expect(stage.leftovers(main, post)).toMatchObject({ alive: [], secretsShown: [] });
  });

staged('if the state cannot be written, create-key fails without a request', async ({ stage }) => {
  const { service, folder, runMode } = stage;
  const main = await runMode('create-key', {}, { env: { GITHUB_STATE: join(folder, 'nowhere', 'x') } });
  expect(main.conclusion).toBe('failure');
  expect(errorOf(main)).toMatch(/nowhere/);
  expect(service.requests).toEqual([]);
});
