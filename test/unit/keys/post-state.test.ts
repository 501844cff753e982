import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeKeyName } from '../../../src/keys/key-name.js';
import { isSealed, type PostState, parsePostState, serializePostState } from '../../../src/keys/post-state.js';

const parentKey = 'parent-key-0123456789abcdef';
const run = '77/1';
const state: PostState = {
  baseUrl: 'https://control.test/v2',
  name: makeKeyName('shop', { run: { id: '77', attempt: 1, fingerprint: 'abcdefghij' }, isKept: false }, () => 0.5),
  mayHaveStrayKey: true,
  minted: { id: '7', secret: 'minted-0123456789abcdef' },
  since: Date.UTC(2024, 0, 1),
  revoke: true,
  onFailure: 'fail',
  summary: true,
};
const saved = serializePostState(state, parentKey, run);
const object = saved.slice(saved.indexOf('{'));

test('a seal is valid for its key, run and attempt, and for no other', () => {
  expect(isSealed(saved, parentKey, run)).toBe(true);
  for (const key of [`${parentKey}x`, parentKey.slice(0, -1), parentKey.toUpperCase(), ''])
    expect(isSealed(saved, key, run), key).toBe(false);
  for (const other of ['78/1', '77/2', '7/71', '/', '', '77'])
    expect(isSealed(saved, parentKey, other), other).toBe(false);
});

test('a change to any byte, an insertion and a deletion break the seal', () => {
  const changes = [
    (at: number, by: string) => saved.slice(0, at) + by + saved.slice(at + 1),
    (at: number, by: string) => saved.slice(0, at) + by + saved.slice(at),
    (at: number) => saved.slice(0, at) + saved.slice(at + 1),
  ];
  for (let at = 0; at < saved.length; at++)
    for (const change of changes)
      for (const by of ['0', ' ', '\n', '{', '"', '\u00e9']) {
        const other = change(at, by);
        if (other !== saved) expect(isSealed(other, parentKey, run), other).toBe(false);
      }
});

test('any other text is an invalid seal, whatever its length', () => {
  const seals = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.stringMatching(/^[0-9a-f]{64}$/));
  fc.assert(
    fc.property(seals, (seal) => {
      expect(isSealed(seal + object, parentKey, run)).toBe(false);
    }),
  );
  for (const none of ['', '{', '{}', 'nothing-to-revoke']) expect(isSealed(none, parentKey, run)).toBe(false);
});

test('a state is read as it was written, whatever its seal', () => {
  for (const written of [saved, `0${object}`, object]) expect(parsePostState(written, () => true)).toEqual(state);
  const intent = { ...state, minted: undefined };
  expect(parsePostState(serializePostState(intent, parentKey, run), () => true)).toEqual(intent);
});
