import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { hang, lost, onCreate, page, retryAfter, status } from '../kit/fault.js';
import { type Inputs, rejectInputs } from '../kit/inputs.js';
import { noLeftovers, parentKey, runJob, setKeyStage } from '../kit/key-stage.js';
import { secretsShown } from '../kit/secrets-shown.js';
import { errorOf, type Stage, setStage, staged } from '../kit/stage.js';
import type { StepResult } from '../runner/step.js';

const always = {};

function expectNoKey(result: StepResult): void {
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error', key: '', 'key-id': '' } });
}

/** Post neither sends nor prints anything. */
async function expectIdlePost({ service, runPost }: Stage, main: StepResult): Promise<void> {
  const count = service.requests.length;
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
  expect(main.outputs).toMatchObject({ status: 'ok', key, 'key-id': '2', 'key-name': name });
  expect(service.plane.aliveKeys(name).map(({ id }) => id)).toEqual(['2']);
  expect(main.annotations).toEqual([]);
  expect(main.summary).toMatch(new RegExp(`^### ✅ create-key: .*\\b2 \\(${name}\\)`));
  const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ key_name: name });
  expect(service.requests).toMatchObject([{ method: 'POST', path: '/v2/api_keys', headers, body }]);
});

test('create-key masks the key, but not the key id', async (context) => {
  const secret = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(3)}_end=`;
  const body = JSON.stringify({ id: 77_123_456, key: secret });
  const { stage, main } = await runCreate(context, [onCreate(status(200, { body }))]);
  expect(main.masks).toEqual([stage.service.apiKey, secret]);
  expect(main.outputs).toMatchObject({ key: secret, 'key-id': '77123456' });
  expect(main.log).toContain('77123456');
  expect(secretsShown([main], { minted: [secret], others: [stage.service.apiKey] })).toEqual([]);
});

test('with revoke-in-post: false, create-key leaves the key alive, and post does nothing', async (context) => {
  const { stage, main } = await runCreate(context, [], { 'revoke-in-post': 'false' });
  expect(main.conclusion).toBe('success');
  expect(main.outputs['key-name']).toMatch(/-kept9876543210-1-/);
  expect(main.state['key']).not.toContain(main.outputs['key']);
  await expectIdlePost(stage, main);
  expect(stage.service.plane.isAlive('2')).toBe(true);
});

staged.for(['http', '0'])('create-key sends no request if NODE_DEBUG is “%s”', async (value, { stage }) => {
  const result = await rejectInputs(stage, 'create-key', {}, { env: { NODE_DEBUG: value } });
  expect(errorOf(result)).toMatch(/NODE_DEBUG.*print/);
  await expectIdlePost(stage, result);
  expect((await stage.runMode('create-key', {}, { env: { NODE_DEBUG: '' } })).conclusion).toBe('success');
  expect((await stage.runMode('list-keys', {}, { env: { NODE_DEBUG: value } })).conclusion).toBe('success');
});

const unknownHost = { 'base-url': 'https://unknown.test/v2' };
test.for<[what: string, faults: readonly FaultRule[], inputs: Inputs, message: RegExp]>([
  ['the response is 422', [onCreate(status(422))], {}, /says/],
  ['every response is 401', [onCreate(status(401), always)], {}, /401/],
  ['every response is 429', [onCreate(status(429), always)], { timeout: '1m' }, /429/],
  ['every response is an HTML page with 429', [onCreate(page(429), always)], { timeout: '1m' }, /429/],
  ['the response is an HTML page with 407', [onCreate(page(407))], {}, /407/],
  ['the host is unknown', [], unknownHost, /Unknown host/],
])('if %s, create-key says that no key was made, and post does nothing', async ([, faults, inputs, says], context) => {
  const { stage, main } = await runCreate(context, faults, inputs);
  expectNoKey(main);
  expect(errorOf(main)).toMatch(says);
  expect(errorOf(main)).toMatch(/No key was created/);
  await expectIdlePost(stage, main);
});

const secret = 'a-secret-that-nobody-may-see';
const withBody = (body: string): Fault => status(200, { body, done: 'now' });
const unusableBodies = ['{"id":5}', `{"key":"${secret}"}`, '{"id":5,"key":12345678901}', `{"id":5,"key":"${secret}ü"}`];

/** Each response, or its loss, leaves open whether a key was created. */
const ambiguous: readonly (readonly [what: string, fault: Fault])[] = [
  ['a closed connection', lost],
  ['a timeout in the middle of a response', { kind: 'hang-mid-body' }],
  ['an endless body', { kind: 'endless-body' }],
  ['an HTML page with 403', page(403, { done: 'now' })],
  ...[408, 409].map((code) => [`a ${code}`, status(code, { done: 'now' })] as const),
  ...unusableBodies.map((body) => [`the body ${body}`, withBody(body)] as const),
];
test.for(ambiguous)(
  'after %s, create-key repeats the create, and post revokes what it made',
  async ([, fault], context) => {
    const job = await runJob(context, { inMain: [onCreate(fault)] });
    expect(job.main).toMatchObject({ conclusion: 'success', annotations: [] });
    const main = job.service.requests.filter(({ headers }) => headers['authorization'] === `Bearer ${parentKey}`);
    expect(main.slice(0, 2).map(({ method, body }) => [method, body])).toEqual(
      Array(2).fill(['POST', JSON.stringify({ key_name: job.main.outputs['key-name'] })]),
    );
    expect(job.made()).toHaveLength(2);
    expect(job.left).toEqual(noLeftovers);
    expect(job.post.annotations).toEqual([]);
    expect(secretsShown([job.main, job.post], { minted: [], others: [secret] })).toEqual([]);
  },
);

const failing = (count: number) => [onCreate(status(500, { done: 'now' }), { count })];
const mixed = [onCreate(lost), onCreate(retryAfter(429, 2), { count: 4, from: 2 }), onCreate(lost, { nth: 6 })];
test.for<[what: string, conclusion: 'success' | 'failure', faults: FaultRule[], creates: number]>([
  ['two ambiguous creates', 'success', failing(2), 3],
  ['three ambiguous creates', 'failure', failing(3), 3],
  ['two ambiguous creates and four that were refused', 'success', mixed, 7],
])('after %s, create-key ends in %s', async ([, conclusion, inMain, creates], context) => {
  const job = await runJob(context, { inMain });
  expect(job.main.conclusion).toBe(conclusion);
  expect(job.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(creates);
  if (conclusion === 'failure') {
    expectNoKey(job.main);
    expect(errorOf(job.main)).toContain(job.main.outputs['key-name']);
  }
  expect([job.left, job.post.annotations]).toEqual([noLeftovers, []]);
});

// The service creates its key at the second request. Main is killed at each moment, so also between any two writes.
test.for([lost, hang])('a kill of main at any moment leaves no key alive (%j)', async (fault, context) => {
  for (let ms = 0; ms <= 1_200; ms += ms < 130 ? 15 : 120) {
    const job = await runJob(context, {
      inMain: [onCreate(fault)],
      trip: () => 20,
      duringMain: async (main, { after }) => after(ms, () => main.kill()),
    });
    expect(job.left, `${ms} ms`).toEqual(noLeftovers);
    expect(job.post.conclusion).toBe('success');
  }
});

const filler = (word: string) => JSON.stringify({ message: `Sorry, ${word} was refused.`, code: 'E1' });
test.for<[word: string, isShown: boolean]>([
  ['abcdefghijklmno', true],
  ['abcdefghijklmnop', false],
  ['abcdef1', true],
  ['abcdefg1', false],
])(
  'after a 4xx, the word %s in the answer is shown in the error of create-key: %s',
  async ([word, isShown], context) => {
    const { main } = await runCreate(context, [onCreate(status(422, { body: filler(word) }))]);
    expect(errorOf(main)).toContain('Sorry, ');
    expect(main.log.includes(word)).toBe(isShown);
  },
);

test('after a 500, no word of the answer is shown in the error of create-key', async (context) => {
  const { main } = await runCreate(context, [onCreate(status(500, { body: filler('short') }), always)]);
  expect(main.log + main.summary).not.toMatch(/Sorry|short/);
});

test('if the outputs cannot be written, post revokes the key in spite of revoke-in-post: false', async (context) => {
  const stage = await setKeyStage(context);
  const nowhere = { env: { GITHUB_OUTPUT: join(stage.folder, 'nowhere', 'x') } };
  const main = await stage.startCreate({ 'revoke-in-post': 'false' }, nowhere).done;
  const post = await stage.runPost(main, { env: { GITHUB_OUTPUT: undefined } });
  errorOf(main);
  expect([main.conclusion, main.outputs['key'], post.annotations]).toEqual(['failure', undefined, []]);
  expect(stage.made()).toHaveLength(1);
  expect(stage.leftovers(main, post)).toEqual(noLeftovers);
});

staged('if the state cannot be written, create-key fails without a request', async ({ stage }) => {
  const main = await stage.runMode('create-key', {}, { env: { GITHUB_STATE: join(stage.folder, 'nowhere', 'x') } });
  expect(main.conclusion).toBe('failure');
  expect(errorOf(main)).toMatch(/nowhere/);
  expect(stage.service.requests).toEqual([]);
});
