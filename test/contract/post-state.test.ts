import fc from 'fast-check';
import { describe, expect, type TestContext, test } from 'vitest';
import type { FaultRule } from '../../control-plane/index.js';
import { type PostState, serializePostState } from '../../src/keys/post-state.js';
import { onDelete, status } from '../kit/fault.js';
import { json, record, text } from '../kit/hostile-values.js';
import { type Inputs, type Mode, modes, requiredInputs } from '../kit/inputs.js';
import { forged, readSaved } from '../kit/saved-state.js';
import { setStage, staged } from '../kit/stage.js';
import { textDefects } from '../kit/text-defects.js';
import type { StepOptions } from '../runner/step.js';

// Another step of the job can read the states that steps saved, and can set STATE_… through GITHUB_ENV. The runner gives that
// to post if the step itself saved no state of that name.

const thief = 'https://thief.test/v2';
const run = '9876543210/1';

/** A key of main, and post with any state. */
async function setForgery(context: TestContext) {
  const stage = await setStage(context);
  const { service } = stage;
  const main = await stage.runMode('create-key', { 'on-revoke-failure': 'fail' });
  const saved = main.state['key'] ?? '';
  const minted = service.plane.key('2')?.key ?? '';
  const object = readSaved(saved).object as unknown as PostState;
  const sentByMain = service.requests.length;
  return {
    ...stage,
    saved,
    object,
    minted,
    post: (state: string, env?: StepOptions['env']) =>
      stage.runPost({ ...main, state: { key: state } }, { debug: true, env }),
    reject: () => service.faults.add({ fault: status(403) }),
    /** Of all requests of post, to whichever host. */
    keysSent: () =>
      [...service.requests.slice(sentByMain), ...stage.elsewhere].map(({ headers }) => headers['authorization']),
  };
}

type Forgery = Awaited<ReturnType<typeof setForgery>>;

describe.for<[how: string, inputs: Inputs, faults: readonly FaultRule[]]>([
  ['with usual inputs', {}, []],
  ['that the service rejects', {}, [{ fault: status(403) }]],
  ['with invalid inputs', { timeout: 'soon', 'base-url': 'nowhere' }, []],
  ['without an api-key', { 'api-key': '' }, []],
])('after a main step %s,', ([how, inputs, faults]) => {
  staged.for([...modes, 'no-such-mode', ''])('post ignores a forged state (mode: “%s”)', async (mode, { stage }) => {
    const { service, projectId, runMode, runPost } = stage;
    const { state } = await runMode('create-key');
    for (const rule of faults) service.faults.add(rule);
    const required = requiredInputs[mode as Mode];
    const project = 'project-id' in { ...required } ? { 'project-id': projectId } : {};
    const main = await runMode(mode, { ...required, ...project, ...inputs });
    service.faults.clear();
    const sent = service.requests.length;
    main.job.env['STATE_key'] = forged(state['key'] ?? '', { baseUrl: thief });
    const post = await runPost(main);

    const hasKey = mode === 'create-key' && how === 'with usual inputs';
    expect(main.state['key'] === 'nothing-to-revoke').toBe(!hasKey);
    expect(service.requests.length - sent).toBe(hasKey ? 1 : 0);
    expect(stage.elsewhere).toEqual([]);
    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
    if (!hasKey) expect(post).toMatchObject({ output: '', summary: '' });
  });
});

test.for<[what: string, forge: (stage: Forgery) => string, env?: StepOptions['env']]>([
  ['is from another run', ({ saved }) => saved, { GITHUB_RUN_ID: '9876543211' }],
  ['is from another attempt', ({ saved }) => saved, { GITHUB_RUN_ATTEMPT: '2' }],
  ['is sealed with another key', ({ object }) => serializePostState(object, 'parent-key-of-another-step', run)],
  ['has the URL of a thief', ({ saved }) => forged(saved, { baseUrl: thief })],
  ['has no seal', ({ object }) => JSON.stringify(object)],
  ['has half a seal', ({ saved }) => saved.slice(32)],
  ['has a seal of 100,000 characters', ({ saved }) => '0'.repeat(100_000) + saved],
])('post authenticates only with the minted key if the state %s', async ([, forge, env], context) => {
  const stage = await setForgery(context);
  const { minted, service } = stage;
  stage.reject();
  const post = await stage.post(forge(stage), env);
  expect(textDefects(post)).toEqual([]);
  expect(new Set(stage.keysSent())).toEqual(new Set([`Bearer ${minted}`]));
  expect(post.masks).toContain(minted);
  expect(post.masks).not.toContain(service.apiKey);
  const isElsewhere = stage.elsewhere.length > 0;
  expect(post.annotations.map(({ kind }) => kind)).toEqual(isElsewhere ? ['warning', 'error'] : ['error']);
});

test('if the clock was set back after main, post counts the key as new, with a lifetime of 0', async (context) => {
  const { service, object, post } = await setForgery(context);
  service.plane.revokeKey('2');
  const result = await post(serializePostState({ ...object, since: object.since + 3_600_000 }, service.apiKey, run));
  expect(result.annotations).toEqual([]);
  expect(result.summary).toContain(', 0ms after it was created');
  expect(result.ms).toBeGreaterThanOrEqual(10_000);
});

test('post does not revoke a kept key even if a lost key had the same id before', async (context) => {
  const { service, object, post, keysSent } = await setForgery(context);
  const known = { foundKeyIds: ['2'], unconfirmedKeyIds: ['2'], openCreates: 1, revoke: false };
  const result = await post(serializePostState({ ...object, ...known }, service.apiKey, run));
  expect(result).toMatchObject({ conclusion: 'success', exitCode: 0 });
  expect(keysSent().length).toBeGreaterThan(0);
  expect(service.plane.isAlive('2')).toBe(true);
});

test.for([
  ['uses the parent key', 'nothing else'],
  ...['https_proxy', 'HTTP_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'RES_OPTIONS'].map((name) => [
    'does not use the parent key',
    name,
  ]),
])('post %s if another step has copied the state unchanged and set %s', async ([verdict, name = ''], context) => {
  const stage = await setForgery(context);
  const { saved, service, runMode, runPost } = stage;
  service.faults.add(onDelete(status(403)));
  const other = await runMode('list-projects');
  const post = await runPost({ ...other, state: { key: saved } }, { env: { [name]: 'http://thief.test' } });
  const isUsed = verdict === 'uses the parent key';
  const message = expect.stringMatching(/The service says 403.*key-id: 2\b/s);
  expect(post.annotations).toEqual(isUsed ? [] : [expect.objectContaining({ kind: 'error', message })]);
  expect(service.plane.isAlive('2')).toBe(!isUsed);
  expect(stage.keysSent().slice(1).includes(`Bearer ${service.apiKey}`)).toBe(isUsed);
  expect(stage.elsewhere).toEqual([]);
});

test.for(['minted', 'parent'] as const)('no answer in post shows a part of the %s key', async (whose, context) => {
  const { saved, minted, service, post } = await setForgery(context);
  const key = whose === 'minted' ? minted : service.apiKey;
  const message = `${'x'.repeat(301 - key.length)}${key}`;
  service.faults.add({ fault: status(403, { body: JSON.stringify({ message }) }) });
  const result = await post(saved);
  expect(result.annotations).toHaveLength(1);
  expect(result.log + result.summary).not.toContain(key.slice(0, 8));
});

test('post does not send the parent key if any byte of the state is changed', async (context) => {
  const stage = await setForgery(context);
  const { saved, object, service } = stage;
  stage.reject();
  const intent = serializePostState({ ...object, minted: undefined, openCreates: 1 }, service.apiKey, run);
  const by = fc.string({ unit: 'binary-ascii', maxLength: 2 });
  const changed = fc
    .tuple(fc.constantFrom(saved, intent), fc.nat({ max: saved.length - 1 }), by)
    .map(([state, at, by]) => state.slice(0, at) + by + state.slice(at + 1));
  const right = Object.fromEntries(Object.entries(object).map(([name, value]) => [name, JSON.stringify(value)]));
  const written = fc.oneof({ weight: 3, arbitrary: record(right) }, json, text);
  const other = fc.tuple(fc.constantFrom(readSaved(saved).seal, ''), written).map((parts) => parts.join(''));
  const property = fc.asyncProperty(fc.oneof({ weight: 2, arbitrary: changed }, other), async (state) => {
    fc.pre(![saved, intent].includes(state) && !state.includes('\u0000'));
    const post = await stage.post(state);
    expect(textDefects(post)).toEqual([]);
    expect(stage.keysSent()).not.toContain(`Bearer ${service.apiKey}`);
    expect(post.masks).not.toContain(service.apiKey);
  });
  await fc.assert(property, { numRuns: 120 });
});

type Change = Readonly<Record<string, unknown>> | ((stage: Forgery) => string);
type Row = [invalid: string, changes: readonly Change[]];
const wrong = (part: string, ...values: unknown[]): Row => [part, values.map((value) => ({ [part]: value }))];
const key = (id: unknown, secret: unknown = 'minted-0123456789') => ({ id, secret });
const url = 'https://control.test/v2';
test.for<Row>([
  wrong('baseUrl', undefined, 'control.test', 'http://control.test/v2', 'https://u@control.test', `${url}#x`, [url]),
  wrong('name', undefined, 'console'),
  wrong('openCreates', undefined, '1', -1),
  wrong('foundKeyIds', undefined, '7', ['x'], [7]),
  wrong('unconfirmedKeyIds', undefined, '7', ['x'], [7]),
  wrong('minted', null, key('7/../projects'), key(7), key('7'.repeat(101)), key(undefined), key('7', null)),
  wrong('minted', key('7', 'secret7'), key('7', 'minted-key\r\nx: y'), key('7', 'minted-key\uD800')),
  wrong('since', undefined, '0'),
  wrong('revoke', undefined),
  wrong('onFailure', undefined, 'ignore'),
  wrong('summary', undefined),
  ['openCreates, minted, revoke', [{ minted: undefined }, { revoke: false }]],
  ['baseUrl, name', [() => 'nonsense', () => 'null', () => '5', ({ minted }) => JSON.stringify(minted)]],
  ['baseUrl, name', [({ saved }) => saved.slice(0, -20), ({ saved }) => saved + saved, ({ saved }) => `[${saved}]`]],
])('post warns and sends no request if its state is invalid (%s)', async ([invalid, changes], context) => {
  const stage = await setForgery(context);
  for (const change of changes) {
    const post = await stage.post(typeof change === 'function' ? change(stage) : forged(stage.saved, change));
    expect(textDefects(post)).toEqual([]);
    // Without a valid state, post does not know `on-revoke-failure`, so it only warns.
    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, masks: [], annotations: [{ kind: 'warning' }] });
    expect(post.annotations[0]?.message).toContain(`is invalid (${invalid}`);
    const advice = /Look in the console for a key whose name contains the id of this run.*sweep-keys/s;
    expect(post.annotations[0]?.message).toMatch(advice);
    for (const secret of [stage.minted, stage.service.apiKey])
      expect(post.output + post.summary).not.toContain(secret.slice(0, 12));
  }
  expect(stage.keysSent()).toEqual([]);
});

test.for<[end: string, rule: FaultRule, named: RegExp]>([
  ['keys that it revoked', { nth: 1, fault: status(503) }, /; and 56 more/],
  ['keys that it could not revoke', { endpoint: 'revoke-key', fault: status(403) }, /, and 41 more/],
])('post names only some of sixty %s', async ([, rule, named], context) => {
  const stage = await setForgery(context);
  for (let n = 0; n < 60; n++) stage.service.plane.addKey(stage.object.name);
  stage.service.faults.add(rule);
  const post = await stage.post(serializePostState({ ...stage.object, openCreates: 1 }, stage.service.apiKey, run));
  expect(textDefects(post)).toEqual([]);
  expect(post.log).toMatch(named);
});
