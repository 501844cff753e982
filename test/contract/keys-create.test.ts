import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule } from '../../control-plane/index.js';
import { hang, inWords, lost, onCreate, page, retryAfter, status } from '../kit/fault.js';
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

test('create-key masks the new key, but not its id', async (context) => {
  const secret = `ctl_${'Zq7/Wm+4"Lk&9%Xs<2\\Vb'.repeat(3)}_end=`;
  const body = JSON.stringify({ id: 77_123_456, key: secret });
  const { stage, main } = await runCreate(context, [onCreate(status(200, { body }))]);
  expect(main.masks).toEqual([stage.service.apiKey, secret]);
  expect(main.outputs).toMatchObject({ key: secret, 'key-id': '77123456' });
  expect(main.log).toContain('77123456');
  expect(secretsShown([main], { minted: [secret], others: [stage.service.apiKey] })).toEqual([]);
});

test('post does nothing after create-key with revoke-in-post: false, and the key stays alive', async (context) => {
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
  ['the response is a 422', [onCreate(status(422))], {}, /says/],
  ['every response is a 401', [onCreate(status(401), always)], {}, /401/],
  ['every response is a 429', [onCreate(status(429), always)], { timeout: '1m' }, /429/],
  ['every response is an HTML page with status 429', [onCreate(page(429), always)], { timeout: '1m' }, /429/],
  ['the response is an HTML page with status 407', [onCreate(page(407))], {}, /407/],
  ['the host is unknown', [], unknownHost, /Unknown host/],
])('create-key says that no key was made, and post does nothing, if %s', async ([, faults, inputs, says], context) => {
  const { stage, main } = await runCreate(context, faults, inputs);
  expectNoKey(main);
  expect(errorOf(main)).toMatch(says);
  expect(errorOf(main)).toMatch(/No key was created/);
  await expectIdlePost(stage, main);
});

const secret = 'a-secret-that-nobody-may-see';
const withBody = (body: string): Fault => status(200, { body, done: 'now' });

/** Each response, or its loss, leaves open whether a key was created. */
const ambiguous: readonly (readonly [what: string, fault: Fault])[] = [
  ['a cut connection', lost],
  ['a timeout in the middle of a response', { kind: 'hang-mid-body' }],
  ['an endless body', { kind: 'endless-body' }],
  ['an HTML page with status 403', page(403, { done: 'now' })],
  ...[408, 409].map((code) => [`a ${code}`, status(code, { done: 'now' })] as const),
  ['a response with the parent key', withBody(JSON.stringify({ id: 5, key: parentKey }))],
  ['a response without a key', withBody('{"id":5}')],
  ['a response without an id', withBody(`{"key":"${secret}"}`)],
  ['a response whose key is a number', withBody('{"id":5,"key":12345678901}')],
  ['a response whose key is not ASCII', withBody(`{"id":5,"key":"${secret}ü"}`)],
];
test.for(ambiguous)(
  'create-key sends its request again after %s, and post revokes both keys',
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
test.for<[conclusion: 'success' | 'failure', what: string, faults: FaultRule[], creates: number]>([
  ['success', 'two 500s', failing(2), 3],
  ['failure', 'three 500s', failing(3), 3],
  ['success', 'two cut connections and four 429s', mixed, 7],
])('create-key ends in %s after %s', async ([conclusion, , inMain, creates], context) => {
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
test.for(inWords(lost, hang))(
  'no key stays alive if create-key is killed at any moment and its first request gets %s',
  async ([, fault], context) => {
    for (let ms = 0; ms <= 1_200; ms += ms < 130 ? 15 : 120) {
      const job = await runJob(context, {
        inMain: [onCreate(fault)],
        trip: () => 20,
        duringMain: async (main, { after }) => after(ms, () => main.kill()),
      });
      expect(job.left, `${ms} ms`).toEqual(noLeftovers);
      expect(job.post.conclusion).toBe('success');
    }
  },
);

const filler = (word: string) => JSON.stringify({ message: `Sorry, ${word} was refused.`, code: 'E1' });
test.for<[does: string, word: string, isShown: boolean]>([
  ['quotes a word of 15 letters', 'abcdefghijklmno', true],
  ['omits a word of 16 letters', 'abcdefghijklmnop', false],
  ['quotes a word of 7 letters and digits', 'abcdef1', true],
  ['omits a word of 8 letters and digits', 'abcdefg1', false],
])('the error of create-key after a 422 %s from the response', async ([, word, isShown], context) => {
  const { main } = await runCreate(context, [onCreate(status(422, { body: filler(word) }))]);
  expect(errorOf(main)).toContain('Sorry, ');
  expect(main.log.includes(word)).toBe(isShown);
});

test('the error of create-key after a 500 quotes no word from the response', async (context) => {
  const { main } = await runCreate(context, [onCreate(status(500, { body: filler('short') }), always)]);
  expect(main.log + main.summary).not.toMatch(/Sorry|short/);
});

test('post revokes the key in spite of revoke-in-post: false if the outputs could not be written', async (context) => {
  const stage = await setKeyStage(context);
  const nowhere = { env: { GITHUB_OUTPUT: join(stage.folder, 'nowhere', 'x') } };
  const main = await stage.startCreate({ 'revoke-in-post': 'false' }, nowhere).done;
  const post = await stage.runPost(main, { env: { GITHUB_OUTPUT: undefined } });
  errorOf(main);
  expect([main.conclusion, main.outputs['key'], post.annotations]).toEqual(['failure', undefined, []]);
  expect(stage.made()).toHaveLength(1);
  expect(stage.leftovers(main, post)).toEqual(noLeftovers);
});

staged('create-key fails without a request if it cannot write its state', async ({ stage }) => {
  const main = await stage.runMode('create-key', {}, { env: { GITHUB_STATE: join(stage.folder, 'nowhere', 'x') } });
  expect(main.conclusion).toBe('failure');
  expect(errorOf(main)).toMatch(/nowhere/);
  expect(stage.service.requests).toEqual([]);
});
