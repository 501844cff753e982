import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeKeyName } from '../../src/keys/key-name.js';
import { type PostState, serializePostState } from '../../src/keys/post-state.js';
import { nothingToRevoke } from '../../src/keys/post-state-name.js';
import type { Inputs } from '../runner/environment.js';
import { harm } from './harm.js';
import { apiKey, post, projectId, type Service, step } from './in-process.js';
import { attacks, json, record, text } from './texts.js';

const minted = { id: '7', secret: 'minted-0123456789abcdef' };
const left = {
  baseUrl: 'https://control.test/v2',
  name: makeKeyName('shop', { run: { id: '1', attempt: 1, fingerprint: '0' }, isKept: false }, () => 0.5),
  mayHaveStrayKey: false,
  minted,
  since: Date.UTC(2024, 0, 1),
  revoke: true,
  onFailure: 'fail',
  summary: true,
} as const;
const rightFields = Object.fromEntries(Object.entries(left).map(([name, value]) => [name, JSON.stringify(value)]));
/** As main seals it in the runner of the tests. */
const sealed = (state: PostState) => serializePostState(state, apiKey, '9876543210/1');
const seal = sealed(left).slice(0, 64);

interface Sent {
  readonly to: string;
  readonly key: string;
}

/** A service that refuses the minted key, so that the parent key is wanted. */
function refusing(sent: Sent[]): Service {
  return ({ url, headers }) => {
    sent.push({ to: url.origin, key: headers['authorization'] ?? '' });
    return sent.length < 20 ? { status: 403, body: '{}' } : { status: 429, headers: { 'retry-after': '60' } };
  };
}

const isParent = ({ key }: Sent) => key.includes(apiKey);

test('whatever stands where main saved its state, post tells it as text and sends no key that is not of it', async () => {
  const state = fc.oneof({ weight: 3, arbitrary: record(rightFields) }, json, text);
  const said = fc.oneof(fc.constant('{"revoked":true}'), fc.constant('[]'), json);
  const seals = fc.oneof(fc.constant(seal), fc.constant(''), text);
  await fc.assert(
    fc.asyncProperty(seals, state, fc.constantFrom(200, 401, 404, 500), said, async (before, written, status, body) => {
      fc.pre(before + written !== sealed(left));
      const sent: string[] = [];
      const service: Service = ({ headers }) => {
        sent.push(headers['authorization'] ?? '');
        return { status, body };
      };
      const told = await post(before + written, service);
      expect(harm(told)).toEqual([]);
      expect(sent.filter((key) => key.includes(apiKey))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('post sends the parent key for the state that main sealed, where the minted key is refused', async () => {
  const sent: Sent[] = [];
  await post(sealed(left), refusing(sent));
  expect(sent.some(isParent)).toBe(true);
  expect(new Set(sent.map(({ to }) => to))).toEqual(new Set(['https://control.test']));
});

test('post does not send the parent key once any byte of the state is another', async () => {
  for (const state of [sealed(left), sealed({ ...left, minted: undefined, mayHaveStrayKey: true })]) {
    const change = fc.record({ at: fc.nat(state.length - 1), by: fc.string({ unit: 'binary-ascii', maxLength: 2 }) });
    await fc.assert(
      fc.asyncProperty(change, async ({ at, by }) => {
        const changed = state.slice(0, at) + by + state.slice(at + 1);
        fc.pre(changed !== state && !changed.includes('\u0000'));
        const sent: Sent[] = [];
        const told = await post(changed, refusing(sent));
        expect(harm(told)).toEqual([]);
        expect(sent.filter(isParent)).toEqual([]);
        expect(told.masks).not.toContain(apiKey);
      }),
      { numRuns: 60 },
    );
  }
});

test.each([
  ['of another run', serializePostState(left, apiKey, '9876543209/1')],
  ['of another attempt', serializePostState(left, apiKey, '9876543210/2')],
  ['sealed with another key', serializePostState(left, 'parent-key-of-another-step', '9876543210/1')],
  ['with the address of a thief', sealed(left).replace('control.test', 'thief.test')],
  ['without a seal', JSON.stringify(left)],
  ['with half a seal', sealed(left).slice(32)],
  ['with an endless seal', `${'0'.repeat(100_000)}${JSON.stringify(left)}`],
])('a state %s lets post use the minted key alone, and the parent key is not even masked', async (_, state) => {
  const sent: Sent[] = [];
  const told = await post(state, refusing(sent));
  expect(harm(told)).toEqual([]);
  expect(sent.map(({ key }) => key)).toContain(`Bearer ${minted.secret}`);
  expect(sent.filter(isParent)).toEqual([]);
  expect(told.masks).toContain(minted.secret);
  expect(told.masks).not.toContain(apiKey);
});

test.each(Object.entries(attacks))('a state whose name is %s is not believed', async (_, name) => {
  const told = await post(JSON.stringify({ ...left, name: `${name}!` }), () => ({ body: '[]' }));
  expect(harm(told)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toMatch(/is invalid \(name\)/);
});

const refusedUrls = [
  'control.test',
  'http://control.test/v2',
  'http://127.0.0.1.thief.test/v2',
  'ftp://control.test/v2',
  'https://user@control.test/v2',
  'https://:password@control.test/v2',
  'https://control.test/v2?x=1',
  'https://control.test/v2#x',
  'file:///etc/passwd',
];

test.each([
  ['an id that leads elsewhere', { ...left, minted: { ...minted, id: '7/../projects' } }, 'minted'],
  ['a key that is more than a header', { ...left, minted: { ...minted, secret: 'minted-key\r\nx: y' } }, 'minted'],
  ['half a pair as key', { ...left, minted: { ...minted, secret: 'minted-key\uD800' } }, 'minted'],
  ['a key that would mask ordinary text', { ...left, minted: { ...minted, secret: 'a' } }, 'minted'],
  ...refusedUrls.map((baseUrl): [string, object, string] => [baseUrl, { ...left, baseUrl }, 'baseUrl']),
])('%s is not sent, nor anything to it', async (_, state, part) => {
  const told = await post(JSON.stringify(state), () => {
    throw new Error('nothing was to be sent');
  });
  expect(harm(told)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toMatch(new RegExp(`is invalid \\(${part}\\)`));
  expect(told.masks).toEqual([]);
});

test('a moment beyond all numbers is not counted from', async () => {
  const state = sealed(left).replace(/"since":\d+/, '"since":-1e400');
  const told = await post(state, () => ({ body: '{"revoked":true}' }));
  expect(told.annotations.at(-1)?.message).toMatch(/is invalid \(since\)/);
});

test('keys without number that bear the name do not fill log or summary', async () => {
  const keys = Array.from({ length: 5_000 }, (_, n) => ({ id: n + 10, name: left.name }));
  const lists = JSON.stringify(keys);
  for (const gone of [{ body: '{"revoked":true}' }, { status: 403, body: '{}' }]) {
    const told = await post(sealed({ ...left, mayHaveStrayKey: true }), ({ method }) =>
      method === 'DELETE' ? gone : { body: lists },
    );
    expect(harm(told)).toEqual([]);
  }
});

const modes: Readonly<Record<string, Inputs>> = {
  'wait-operation': { 'project-id': projectId, 'operation-id': 'all', timeout: '0' },
  'list-operations': { 'project-id': projectId },
  'list-projects': {},
  'create-key': {},
  'list-keys': {},
  'revoke-key': { 'key-id': '7' },
  'sweep-keys': {},
  'no-mode': {},
  '': {},
};

test('no step ends without a saved state: in every mode, with any inputs, whatever the service says', async () => {
  const input = fc.constantFrom('mode', 'api-key', 'base-url', 'timeout', 'summary', 'project-id', 'key-id', 'filter');
  const inputs = fc.dictionary(input, text, { maxKeys: 2 });
  const said = fc.record({
    status: fc.constantFrom(200, 401, 403, 500),
    body: fc.oneof(fc.constantFrom('[]', '{"operations":[]}', '{"projects":[]}'), json),
  });
  for (const [mode, needed] of Object.entries(modes))
    await fc.assert(
      fc.asyncProperty(inputs, said, async (given, answer) => {
        const told = await step({ mode, ...needed, ...given }, () => answer);
        expect(told.state['key']).toMatch(
          mode === 'create-key' ? /^nothing-to-revoke$|^[0-9a-f]{64}\{/ : /^nothing-to-revoke$/,
        );
      }),
      { numRuns: 15 },
    );
});

test('a create that the service rejects leaves a state that says so', async () => {
  const told = await step({ mode: 'create-key' }, () => ({ status: 403, body: '{}' }));
  expect(told.succeeded).toBe(false);
  expect(told.state['key']).toBe(nothingToRevoke);
});
