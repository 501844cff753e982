import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../control-plane/random.js';
import { makeKeyName, parseKeyName, repositoryFingerprint } from '../../../src/keys/key-name.js';

const character = fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyz-');
const misleading =
  'run1 a-run1-1 -run99-9- run1-1-abcdefghij-a - 0 kept a-kept1-1 -kept99-9- --------------------'.split(' ');
const labels = fc.oneof(fc.string({ unit: character, minLength: 1, maxLength: 20 }), fc.constantFrom(...misleading));
const runs = fc.record({
  fingerprint: fc.nat().map((id) => repositoryFingerprint('https://github.com', String(id))),
  id: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map(String),
  attempt: fc.integer({ min: 1, max: 999 }),
});
const origins = fc.record({ run: runs, isKept: fc.boolean() });
const names = fc.tuple(labels, origins, fc.nat()).map(([label, origin, seed]) => {
  return { label, origin, name: makeKeyName(label, origin, seededRandom(seed)) };
});

function alphabet(n = 10.5): () => number {
  return () => n++ / 36;
}

// Keys with these names live on in accounts: a later version must still read them. Never change a line; add lines.
const published: readonly [name: string, server: string, repository: string][] = [
  ['shop-run19512345678-1-z0c6cwr9im-abcdefghijkl', 'https://github.com', '123456789'],
  ['shop-kept19512345678-1-y0sppva20c-abcdefghijkl', 'https://github.com', '123456789'],
  ['shop-run19512345678-2-t6lumugfzt-abcdefghijkl', 'https://github.com', '123456789'],
  ['shop-run19512345678-1-50nzvsmusi-abcdefghijkl', 'https://github.com', '987654321'],
  ['shop-run19512345678-1-hktzvdq29j-abcdefghijkl', 'https://github.com', 'Acme/Shop'],
  ['shop-kept19512345678-1-trv6tv0kos-abcdefghijkl', 'https://GHE.example/', '123456789'],
  ['a-kept5-1-run7-12-wl5s5pk36t-abcdefghijkl', 'https://github.com', '123456789'],
  ['run-kept7-12-2ljp0y5zno-abcdefghijkl', 'https://github.com', '123456789'],
  ['llllllllllllllllllll-run18446744073709551615-999-iewfgts1iu-abcd', 'https://github.com', '123456789'],
  ['llllllllllllllllllll-kept18446744073709551615-999-fmx54zx1eb-abc', 'https://github.com', '123456789'],
];

test.each(published)('the key name %s is made and parsed as in earlier versions', (name, server, repository) => {
  const [, label = '', word, id = '', attempt] = /^(.+)-(run|kept)(\d+)-(\d+)-\w+-\w+$/.exec(name) ?? [];
  const run = { id, attempt: Number(attempt), fingerprint: repositoryFingerprint(server, repository) };
  const origin = { run, isKept: word === 'kept' };
  expect(parseKeyName(name)).toEqual(origin);
  expect(makeKeyName(label, origin, alphabet())).toBe(name);
});

test('a key name starts with its label and tells its run and whether the key is kept', () => {
  const property = fc.property(names, ({ label, origin, name }) => {
    expect(parseKeyName(name)).toEqual(origin);
    expect(name.startsWith(`${label}-`)).toBe(true);
    expect(name).toMatch(/^[a-z0-9-]+$/);
    const random = name.split('-').at(-1) ?? '';
    expect(random).toHaveLength(Math.min(12, 64 - (name.length - random.length)));
    expect(random.length).toBeGreaterThanOrEqual(3);
  });
  fc.assert(property, { numRuns: 1_000 });
});

test.each([
  ['a label of 24 characters', 'l'.repeat(24), '9876543210', 1],
  ['an attempt of 4 digits', 'shop', '9876543210', 1_000],
  ['a run id of 21 digits', 'shop', '9'.repeat(21), 1],
])('no key name is made with %s, because no sweep would find the key', (_, label, id, attempt) => {
  const run = { id, attempt, fingerprint: repositoryFingerprint('https://github.com', '1') };
  expect(() => makeKeyName(label, { run, isKept: false }, alphabet())).toThrow('too long');
});

test('a key name with one character less, more or changed, or with run and kept swapped, does not parse to the same run', () => {
  const text = fc.oneof(fc.string({ maxLength: 1 }), fc.constantFrom('\n', '\r\n', '\u2028', '\0'));
  const property = fc.property(names, fc.nat(), fc.nat(1), text, ({ origin: { run }, name }, anywhere, cut, inside) => {
    const at = anywhere % (name.length + 1);
    const changed = name.slice(0, at) + inside + name.slice(at + cut);
    fc.pre(changed !== name);
    const swapped = name.replace(/-(run|kept)(?=\d)/, (word) => (word === '-run' ? '-kept' : '-run'));
    for (const edit of [changed, swapped]) expect(parseKeyName(edit)?.run).not.toEqual(run);
  });
  fc.assert(property, { numRuns: 5_000 });
});

test.each([
  ...['', 'console', 'shop-run9876543210-1-abcdefghij', 'shop-run9876543210-1-abcdefghij-'],
  ...['-run9876543210-1-abcdefghij-iiiiiiiiiiii', 'run9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run0-1-abcdefghij-iiiiiiiiiiii', 'shop-run09876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run9876543210-0-abcdefghij-iiiiiiiiiiii', 'shop-run9876543210-01-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run9876543210-1000-abcdefghij-iiiiiiiiiiii', `shop-run${'9'.repeat(21)}-1-abcdefghij-iiiiiiiiiiii`],
  ...['shop-run9876543210-1-abcdefghi-iiiiiiiiiiii', 'shop-run9876543210-1-abcdefghijk-iiiiiiiiiiii'],
  ...['shop-run9876543210-1-abcdefghij-iiiiiiiiiii', 'shop-run9876543210-1-abcdefghij-iiiiiiiiiiiii'],
  ...['SHOP-run9876543210-1-abcdefghij-iiiiiiiiiiii', 'shop-RUN9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run9876543210-1-ABCDEFGHIJ-iiiiiiiiiiii', 'shop-run9876543210-1-abcdefghij-IIIIIIIIIIII'],
  ...['shop-keep9876543210-1-abcdefghij-iiiiiiiiiiii', 'shop-keptrun9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop_run9876543210-1-abcdefghij-iiiiiiiiiiii', 'shöp-run9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...[`${'l'.repeat(21)}-run9876543210-1-abcdefghij-iiiiiiiiiiii`, 'shop-run９876543210-1-abcdefghij-iiiiiiiiiiii'],
])('“%s” is not a key name of this action', (text) => {
  expect(parseKeyName(text)).toBeUndefined();
});
