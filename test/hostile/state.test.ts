import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harm } from './harm.js';
import { apiKey, post, type Service } from './in-process.js';
import { attacks, json, record, text } from './texts.js';

const minted = { id: '7', secret: 'minted-0123456789abcdef' };
const left = {
  baseUrl: 'https://control.test/v2',
  name: 'shop-run1-1-abcdefghij-abcdefghijkl',
  unclear: false,
  minted,
  since: Date.UTC(2024, 0, 1),
  parent: 'salt:0123',
  revoke: true,
  onFailure: 'fail',
  summary: true,
};
const rightFields = Object.fromEntries(Object.entries(left).map(([name, value]) => [name, JSON.stringify(value)]));

test('whatever stands where main left its state, post tells it as text and sends no key that is not of it', async () => {
  const state = fc.oneof({ weight: 3, arbitrary: record(rightFields) }, json, text);
  const said = fc.oneof(fc.constant('{"revoked":true}'), fc.constant('[]'), json);
  await fc.assert(
    fc.asyncProperty(state, fc.constantFrom(200, 401, 404, 500), said, async (written, status, body) => {
      const sent: string[] = [];
      const service: Service = ({ headers }) => {
        sent.push(headers['authorization'] ?? '');
        return { status, body };
      };
      const told = await post(written, service);
      expect(harm(told)).toEqual([]);
      expect(sent.filter((key) => key.includes(apiKey))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test.each(Object.entries(attacks))('a state whose name is %s is not believed', async (_, name) => {
  const told = await post(JSON.stringify({ ...left, name: `${name}!` }), () => ({ body: '[]' }));
  expect(harm(told)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toMatch(/cannot be read \(name\)/);
});

test.each([
  ['an id that leads elsewhere', { ...left, minted: { ...minted, id: '../projects' } }, 'minted'],
  ['a key that is more than a header', { ...left, minted: { ...minted, secret: 'a\r\nx: y' } }, 'minted'],
  ['half a pair as key', { ...left, minted: { ...minted, secret: '\uD800' } }, 'minted'],
  ['an address that is none', { ...left, baseUrl: 'control.test' }, 'baseUrl'],
])('%s is not sent', async (_, state, part) => {
  const told = await post(JSON.stringify(state), () => {
    throw new Error('nothing was to be sent');
  });
  expect(harm(told)).toEqual([]);
  expect(told.annotations.at(-1)?.message).toMatch(new RegExp(`cannot be read \\(${part}\\)`));
});

test('a moment beyond all numbers is not counted from', async () => {
  const state = JSON.stringify(left).replace(/"since":\d+/, '"since":-1e400');
  const told = await post(state, () => ({ body: '{"revoked":true}' }));
  expect(told.annotations.at(-1)?.message).toMatch(/cannot be read \(since\)/);
});

test('keys without number that bear the name do not fill log or summary', async () => {
  const keys = Array.from({ length: 5_000 }, (_, n) => ({ id: n + 10, name: left.name }));
  const lists = JSON.stringify(keys);
  for (const gone of [{ body: '{"revoked":true}' }, { status: 403, body: '{}' }]) {
    const told = await post(JSON.stringify({ ...left, unclear: true }), ({ method }) =>
      method === 'DELETE' ? gone : { body: lists },
    );
    expect(harm(told)).toEqual([]);
  }
});
