import fc from 'fast-check';
import { expect, type TestContext, test } from 'vitest';
import { type PostState, serializePostState } from '../../src/keys/post-state.js';
import { status } from '../kit/fault.js';
import { type Inputs, type Mode, modes, requiredInputs } from '../kit/inputs.js';
import { setStage, staged } from '../kit/stage.js';
import { defectsOf } from '../kit/text-defects.js';
import type { StepOptions } from '../runner/step.js';

/** The parts of a state as main saved it: the seal, then the object that it covers. */
function readSaved(saved: string) {
  const at = saved.indexOf('{');
  const object: Readonly<Record<string, unknown>> = JSON.parse(saved.slice(at));
  return { seal: saved.slice(0, at), object };
}

/** The state with other parts, as somebody without the parent key would write it. `undefined` removes a part. */
function forged(saved: string, parts: Readonly<Record<string, unknown>>): string {
  const { seal, object } = readSaved(saved);
  return seal + JSON.stringify({ ...object, ...parts });
}

// Another step of the job can read the states that steps saved, and can set STATE_… through GITHUB_ENV. The runner gives that
// to post if the step itself saved no state of that name.

const thief = 'https://thief.test/v2';
const run = { GITHUB_RUN_ID: '9876543210', GITHUB_RUN_ATTEMPT: '1' };

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

staged.for<[what: string, mode: string, inputs: Inputs]>([
  ...modes.map((mode): [string, string, Inputs] => [mode, mode, {}]),
  ['a step with an unknown mode', 'no-such-mode', {}],
  ['create-key with invalid inputs', 'create-key', { timeout: 'soon', 'base-url': 'nowhere' }],
  ['list-keys with invalid inputs', 'list-keys', { timeout: 'soon', 'base-url': 'nowhere' }],
  ['create-key without an api-key', 'create-key', { 'api-key': '' }],
])('post ignores a forged state after %s', async ([, mode, inputs], { stage }) => {
  const { service, projectId, runMode, runPost } = stage;
  const { state } = await runMode('create-key');
  const required = requiredInputs[mode as Mode];
  const project = 'project-id' in { ...required } ? { 'project-id': projectId } : {};
  const main = await runMode(mode, { ...required, ...project, ...inputs });
  const sent = service.requests.length;
  main.job.env['STATE_key'] = forged(state['key'] ?? '', { baseUrl: thief });
  const post = await runPost(main);

  const hasKey = mode === 'create-key' && Object.keys(inputs).length === 0;
  expect(main.state['key'] === 'nothing-to-revoke').toBe(!hasKey);
  expect(service.requests.length > sent).toBe(hasKey);
  expect(stage.elsewhere).toEqual([]);
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
  if (!hasKey) expect(post).toMatchObject({ output: '', summary: '' });
});

test.for<[what: string, forge: (stage: Forgery) => string, env?: StepOptions['env']]>([
  ['is from another run', ({ saved }) => saved, { GITHUB_RUN_ID: '9876543211' }],
  ['is from another attempt', ({ saved }) => saved, { GITHUB_RUN_ATTEMPT: '2' }],
  ['is signed with another key', ({ object }) => serializePostState(object, 'parent-key-of-another-step', run)],
  ['has the URL of an attacker', ({ saved }) => forged(saved, { baseUrl: thief })],
  ['has the id of another key', ({ saved, object }) => forged(saved, { minted: { ...object.minted, id: '1' } })],
])('post sends only the minted key, never the parent key, if the saved state %s', async ([, forge, env], context) => {
  const stage = await setForgery(context);
  const { minted, service } = stage;
  stage.reject();
  const post = await stage.post(forge(stage), env);
  expect(defectsOf(post)).toEqual([]);
  expect(new Set(stage.keysSent())).toEqual(new Set([`Bearer ${minted}`]));
  expect(post.masks).toContain(minted);
  expect(post.masks).not.toContain(service.apiKey);
  expect(post.annotations.map(({ kind }) => kind)).toEqual(['error']);
});

test.for(['minted', 'parent'] as const)(
  'post shows no part of the %s key that an error response repeats',
  async (whose, context) => {
    const { saved, minted, service, post } = await setForgery(context);
    const key = whose === 'minted' ? minted : service.apiKey;
    const message = `${'x'.repeat(301 - key.length)}${key}`;
    service.faults.add({ fault: status(403, { body: JSON.stringify({ message }) }) });
    const result = await post(saved);
    expect(result.annotations).toHaveLength(1);
    expect(result.log + result.summary).not.toContain(key.slice(0, 8));
  },
);

test('post does not send the parent key if any byte of the saved state was changed', async (context) => {
  const stage = await setForgery(context);
  const { saved, object, service } = stage;
  stage.reject();
  const intent = serializePostState({ ...object, minted: undefined, lostCreates: 1 }, service.apiKey, run);
  const by = fc.string({ unit: 'binary-ascii', maxLength: 2 });
  const changed = fc
    .tuple(fc.constantFrom(saved, intent), fc.nat({ max: saved.length - 1 }), by)
    .map(([state, at, by]) => state.slice(0, at) + by + state.slice(at + 1));
  const property = fc.asyncProperty(changed, async (state) => {
    fc.pre(![saved, intent].includes(state) && !state.includes('\u0000'));
    const post = await stage.post(state);
    expect(stage.keysSent()).not.toContain(`Bearer ${service.apiKey}`);
    expect(post.masks).not.toContain(service.apiKey);
    expect(post.output + post.summary).not.toContain(service.apiKey);
    expect(post.ms).toBeLessThanOrEqual(20_000);
  });
  await fc.assert(property, { numRuns: 60 });
});

test.for<[what: string, change: (stage: Forgery) => string]>([
  ['is not JSON', () => 'nonsense'],
  ['is truncated', ({ saved }) => saved.slice(0, -20)],
  ['has an invalid URL', ({ saved }) => forged(saved, { baseUrl: 'control.test' })],
])('post sends no request, and names the run in a warning, if the saved state %s', async ([, change], context) => {
  const stage = await setForgery(context);
  const post = await stage.post(change(stage));
  expect(defectsOf(post)).toEqual([]);
  // Without a readable state, post does not know `on-revoke-failure`, so it only warns.
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [{ kind: 'warning' }] });
  expect(post.annotations[0]?.message).toMatch(/state.*9876543210.*revoke/s);
  for (const secret of [stage.minted, stage.service.apiKey])
    expect(post.output + post.summary).not.toContain(secret.slice(0, 12));
  expect(stage.keysSent()).toEqual([]);
});
