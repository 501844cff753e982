import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeKeyName } from '../../../src/keys/key-name.js';
import {
  isSealed,
  type PostState,
  parsePostState,
  serializePostState,
  UnreadablePostState,
} from '../../../src/keys/post-state.js';

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
const parse = (text: string) => parsePostState(text, () => true);

describe('the seal of a state', () => {
  it('is valid for the key, run and attempt that it was made with, and for no other', () => {
    expect(isSealed(saved, parentKey, run)).toBe(true);
    for (const key of [`${parentKey}x`, parentKey.slice(0, -1), parentKey.toUpperCase(), ''])
      expect(isSealed(saved, key, run), key).toBe(false);
    for (const other of ['78/1', '77/2', '7/71', '/', '', '77'])
      expect(isSealed(saved, parentKey, other), other).toBe(false);
  });

  it('is broken by a change to any byte, an insertion and a deletion anywhere', () => {
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

  it('covers each part of the state', () => {
    const others: PostState = {
      baseUrl: 'https://thief.test/v2',
      name: `x${state.name}`,
      mayHaveStrayKey: false,
      minted: undefined,
      since: 0,
      revoke: false,
      onFailure: 'warn',
      summary: false,
    };
    const seal = saved.slice(0, saved.indexOf('{'));
    for (const [part, value] of Object.entries(others))
      expect(isSealed(seal + JSON.stringify({ ...state, [part]: value }), parentKey, run), part).toBe(false);
  });

  it('is simply not valid where it is anything else, of whatever length', () => {
    const text = saved.slice(saved.indexOf('{'));
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.stringMatching(/^[0-9a-f]{64}$/)),
        (seal) => {
          expect(isSealed(seal + text, parentKey, run)).toBe(false);
        },
      ),
    );
    for (const none of ['', '{', '{}', 'nothing-to-revoke']) expect(isSealed(none, parentKey, run)).toBe(false);
  });

  it('does not show the parent key', () => {
    expect(saved).not.toContain(parentKey.slice(0, 8));
  });
});

describe('a saved state', () => {
  it('is read as it was written, with a valid seal, with another one, and with none', () => {
    const text = saved.slice(saved.indexOf('{'));
    for (const written of [saved, `0${text}`, text]) expect(parse(written)).toEqual(state);
    const intent = { ...state, minted: undefined };
    expect(parse(serializePostState(intent, parentKey, run))).toEqual(intent);
  });

  it.each<[what: string, parts: Readonly<Record<string, unknown>>, bad: string]>([
    ['an id that leads elsewhere', { minted: { id: '7/../projects', secret: 'a-secret-key' } }, 'minted'],
    ['an id that is a number', { minted: { id: 7, secret: 'a-secret-key' } }, 'minted'],
    ['an endless id', { minted: { id: '7'.repeat(101), secret: 'a-secret-key' } }, 'minted'],
    ['a secret so short that its mask would hide ordinary text', { minted: { id: '7', secret: 'secret7' } }, 'minted'],
    ['a secret that is more than a header', { minted: { id: '7', secret: 'secret\r\nx: y' } }, 'minted'],
    ['a secret with half a pair', { minted: { id: '7', secret: 'secret-\uD800' } }, 'minted'],
    ['a key of null', { minted: null }, 'minted'],
    ['a name that this action did not make', { name: 'console' }, 'name'],
    ['a name with more behind it', { name: `${state.name}\n` }, 'name'],
    ['a moment that is no number', { since: '0' }, 'since'],
    ['a moment beyond all dates', { since: 1e300 }, 'since'],
    ['a truth that is a text', { mayHaveStrayKey: 'true' }, 'mayHaveStrayKey'],
    ['a word that does not exist', { onFailure: 'ignore' }, 'onFailure'],
    ['an address that is a list', { baseUrl: ['https://control.test/v2'] }, 'baseUrl'],
    ['no part at all', Object.fromEntries(Object.keys(state).map((part) => [part, undefined])), 'baseUrl, name'],
  ])('with %s cannot be read', (_, parts, bad) => {
    const read = () => parse(JSON.stringify({ ...state, ...parts }));
    expect(read).toThrow(UnreadablePostState);
    expect(read).toThrow(`(${bad}`);
  });

  it('whose URL is not one for base-url cannot be read', () => {
    const asked: string[] = [];
    const read = () => parsePostState(saved, (text) => asked.push(text) < 0);
    expect(read).toThrow('(baseUrl)');
    expect(asked).toEqual([state.baseUrl]);
  });

  it('is never quoted in the error', () => {
    const secret = 'minted-secret-0123456789';
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(JSON.stringify({ ...state, name: secret, minted: secret })),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const known =
          /^the state that the main step saved is invalid \([a-zA-Z, ]+\)\. Another step of this job may have overwritten it$/;
        try {
          parse(text);
        } catch (error) {
          expect((error as Error).message).toMatch(known);
          expect((error as Error).message).not.toContain(secret);
        }
      }),
    );
  });
});

describe('a state that main never saves, because there is nothing to revoke', () => {
  it.each([
    ['without a key', { mayHaveStrayKey: false, minted: undefined }],
    ['with a key that is kept', { mayHaveStrayKey: false, revoke: false }],
  ])('is unreadable %s', (_, parts) => {
    const forged = serializePostState({ ...state, ...parts }, parentKey, run);
    expect(() => parsePostState(forged, () => true)).toThrow(UnreadablePostState);
  });
});
