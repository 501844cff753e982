import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, type TestContext, test } from 'vitest';
import type { FaultRule } from '../../control-plane/index.js';
import { type PostState, serializePostState } from '../../src/keys/post-state.js';
import { onDelete, status } from '../kit/fault.js';
import { json, record, text } from '../kit/hostile-values.js';
import { type Inputs, type Mode, modes, requiredInputs } from '../kit/inputs.js';
import { forged, readSaved } from '../kit/saved-state.js';
import { setStage } from '../kit/stage.js';
import { textDefects } from '../kit/text-defects.js';

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
    /** What the seal covers. */
    text: JSON.stringify(object),
    minted,
    post: (state: string) => stage.runPost({ ...main, state: { key: state } }, { debug: true }),
    reject: () => service.faults.add({ fault: status(403) }),
    /** Of all requests of post, to whichever host. */
    keysSent: () =>
      [...service.requests.slice(sentByMain), ...stage.elsewhere].map(({ headers }) => headers['authorization']),
  };
}

type Forgery = Awaited<ReturnType<typeof setForgery>>;

const ends: Readonly<Record<string, Inputs | 403>> = {
  'as usual': {},
  'because the service rejects it': 403,
  'because of invalid inputs': { timeout: 'soon', 'base-url': 'nowhere' },
  'because the api-key is missing': { 'api-key': '' },
};

for (const [how, inputs] of Object.entries(ends))
  test.for([...modes, 'no-such-mode', ''])(
    `mode “%s” saves a state if it ends ${how}, so post ignores a forged one`,
    async (mode, context) => {
      const stage = await setStage(context);
      const { service, projectId, runMode, runPost } = stage;
      const { state } = await runMode('create-key');
      if (inputs === 403) service.faults.add({ fault: status(403) });
      const given = { ...requiredInputs[mode as Mode], 'project-id': projectId, ...(inputs === 403 ? {} : inputs) };
      const main = await runMode(mode, given);
      service.faults.clear();
      const sent = service.requests.length;
      main.job.env['STATE_key'] = forged(state['key'] ?? '', { baseUrl: thief });
      const post = await runPost(main);

      const hasKey = mode === 'create-key' && how === 'as usual';
      expect(main.state['key'] === 'nothing-to-revoke').toBe(!hasKey);
      expect(service.requests.length - sent).toBe(hasKey ? 1 : 0);
      expect(stage.elsewhere).toEqual([]);
      expect(post).toMatchObject({ conclusion: 'success', exitCode: 0 });
      if (!hasKey) expect(post).toMatchObject({ output: '', summary: '' });
    },
  );

describe('a state with an invalid seal lets post use the minted key alone', () => {
  const seal = ({ object, service }: Forgery, changed: { key?: string; run?: string }) =>
    serializePostState(object, changed.key ?? service.apiKey, changed.run ?? run);
  const hashOf = (text: string, key: string) => createHmac('sha256', key).update(text).digest('hex');
  test.for<[what: string, forge: (stage: Forgery) => string]>([
    ['of another run', (stage) => seal(stage, { run: '9876543209/1' })],
    ['of another attempt', (stage) => seal(stage, { run: '9876543210/2' })],
    ['sealed with another key', (stage) => seal(stage, { key: 'parent-key-of-another-step' })],
    ['sealed without the run', ({ text, service }) => hashOf(text, service.apiKey) + text],
    ['with the URL of a thief', ({ saved }) => forged(saved, { baseUrl: thief })],
    ['without a seal', ({ text }) => text],
    ['with half a seal', ({ saved }) => saved.slice(32)],
    ['with one character too many in its seal', ({ saved }) => `0${saved}`],
    ['with an endless seal', ({ saved }) => '0'.repeat(100_000) + saved],
  ])('%s', async ([, forge], context) => {
    const stage = await setForgery(context);
    const { minted, service } = stage;
    stage.reject();
    const post = await stage.post(forge(stage));
    expect(textDefects(post)).toEqual([]);
    expect(new Set(stage.keysSent())).toEqual(new Set([`Bearer ${minted}`]));
    expect(post.masks).toContain(minted);
    expect(post.masks).not.toContain(service.apiKey);
    expect(post.annotations.map(({ kind }) => kind)).toEqual(['error']);
  });

  test('a whole state of the same run, copied by another step, is used as main would', async (context) => {
    const { saved, service, runMode, runPost, elsewhere } = await setForgery(context);
    service.faults.add(onDelete(status(403)));
    const other = await runMode('list-projects');
    const post = await runPost({ ...other, state: { key: saved } });
    expect(post.annotations).toEqual([]);
    expect(service.plane.aliveKeys().map(({ name }) => name)).toEqual(['console']);
    expect(elsewhere).toEqual([]);
  });

  test('a seal of another length does not keep post from revoking', async (context) => {
    const { saved, post, service } = await setForgery(context);
    expect((await post(saved.slice(10))).annotations).toEqual([]);
    expect(service.plane.isAlive('2')).toBe(false);
  });
});

test('post does not send the parent key once any byte of the state is another', async (context) => {
  const stage = await setForgery(context);
  const { saved, object, service } = stage;
  stage.reject();
  const intent = serializePostState({ ...object, minted: undefined, mayHaveStrayKey: true }, service.apiKey, run);
  for (const state of [saved, intent]) {
    const change = fc.record({ at: fc.nat(state.length - 1), by: fc.string({ unit: 'binary-ascii', maxLength: 2 }) });
    const property = fc.asyncProperty(change, async ({ at, by }) => {
      const changed = state.slice(0, at) + by + state.slice(at + 1);
      fc.pre(changed !== state && !changed.includes('\u0000'));
      const post = await stage.post(changed);
      expect(textDefects(post)).toEqual([]);
      expect(stage.keysSent()).not.toContain(`Bearer ${service.apiKey}`);
      expect(post.masks).not.toContain(service.apiKey);
    });
    await fc.assert(property, { numRuns: 40 });
  }
});

test('any text in place of the state does no harm, and leads post to no key but its own', async (context) => {
  const stage = await setForgery(context);
  const { seal } = readSaved(stage.saved);
  stage.reject();
  const right = Object.fromEntries(Object.entries(stage.object).map(([name, value]) => [name, JSON.stringify(value)]));
  const state = fc.oneof({ weight: 3, arbitrary: record(right) }, json, text);
  const property = fc.asyncProperty(fc.oneof(fc.constantFrom(seal, ''), text), state, async (before, written) => {
    fc.pre(before + written !== stage.saved && !(before + written).includes('\u0000'));
    expect(textDefects(await stage.post(before + written))).toEqual([]);
    expect(stage.keysSent()).not.toContain(`Bearer ${stage.service.apiKey}`);
  });
  await fc.assert(property, { numRuns: 40 });
});

describe('a state that main cannot have saved is not used', () => {
  const whole = ['baseUrl', 'name', 'mayHaveStrayKey', 'since', 'revoke', 'onFailure', 'summary'];
  const urls = ['control.test', 'http://control.test/v2', 'https://user@control.test/v2', 'https://control.test/v2#x'];
  const key = (id: unknown, secret: unknown = 'minted-0123456789') => ({ minted: { id, secret } });
  type Row = [what: string, change: Readonly<Record<string, unknown>> | ((stage: Forgery) => string), named: string];
  // `inputs.test.ts` has more URLs, and `test/unit/keys/key-name.test.ts` more names.
  test.for<Row>([
    ...whole.map((part): Row => [`without ${part}`, { [part]: undefined }, part]),
    ...urls.map((baseUrl): Row => [`with the URL ${baseUrl}`, { baseUrl }, 'baseUrl']),
    ['with a URL that is a list', { baseUrl: ['https://control.test/v2'] }, 'baseUrl'],
    ['with a name of another tool', { name: 'console' }, 'name'],
    ['with a key of null', { minted: null }, 'minted'],
    ['with an id that leads elsewhere', key('7/../projects'), 'minted'],
    ['with an id that is a number', key(7), 'minted'],
    ['with an endless id', key('7'.repeat(101)), 'minted'],
    ['without an id', key(undefined), 'minted'],
    ['without a secret', key('7', null), 'minted'],
    ['with a secret of 7 characters', key('7', 'secret7'), 'minted'],
    ['with a secret that ends its header', key('7', 'minted-key\r\nx: y'), 'minted'],
    ['with a secret that is half a pair', key('7', 'minted-key\uD800'), 'minted'],
    ['with a time that is a text', { since: '0' }, 'since'],
    ['with a time beyond all dates', { since: 1e300 }, 'since'],
    ['with a time of minus infinity', ({ saved }) => saved.replace(/"since":\d+/, '"since":-1e400'), 'since'],
    ['with a text for a boolean', { mayHaveStrayKey: 'true' }, 'mayHaveStrayKey'],
    ['with an unknown word', { onFailure: 'ignore' }, 'onFailure'],
    ['with nothing to revoke', { minted: undefined }, 'mayHaveStrayKey, minted, revoke'],
    ['with a key that is kept', { revoke: false }, 'mayHaveStrayKey, minted, revoke'],
    ['a text', () => 'nonsense', ''],
    ['half of it', ({ saved }) => saved.slice(0, -20), ''],
    ['two of them', ({ saved }) => saved + saved, ''],
    ['null', () => 'null', ''],
    ['a number', () => '5', ''],
    ['an array', ({ saved }) => `[${saved}]`, ''],
    ['its secret', ({ minted }) => JSON.stringify(minted), ''],
  ])('%s', async ([, change, named], context) => {
    const stage = await setForgery(context);
    const post = await stage.post(typeof change === 'function' ? change(stage) : forged(stage.saved, change));
    expect(textDefects(post)).toEqual([]);
    // `on-revoke-failure` is one of the things that post cannot know then.
    expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, masks: [] });
    expect(post.annotations.map(({ kind }) => kind)).toEqual(['warning']);
    expect(post.annotations[0]?.message).toContain(`is invalid (${named}`);
    expect(post.annotations[0]?.message).toMatch(
      /Look in the console for a key whose name contains the id of this run.*sweep-keys/s,
    );
    for (const secret of [stage.minted, stage.service.apiKey])
      expect(post.output + post.summary).not.toContain(secret.slice(0, 12));
    expect(stage.keysSent()).toEqual([]);
  });
});

test.for<[end: string, rule: FaultRule]>([
  ['revoked', { nth: 1, fault: status(503) }],
  ['not revoked', { endpoint: 'revoke-key', fault: status(403) }],
])('sixty keys with the name of the step fill neither log nor summary: %s', async ([, rule], context) => {
  const stage = await setForgery(context);
  for (let n = 0; n < 60; n++) stage.service.plane.addKey(stage.object.name);
  stage.service.faults.add(rule);
  const state = serializePostState({ ...stage.object, mayHaveStrayKey: true }, stage.service.apiKey, run);
  expect(textDefects(await stage.post(state))).toEqual([]);
});
