import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type KeyOrigin,
  makeKeyName,
  parseKeyName,
  repositoryFingerprint,
  type WorkflowRun,
} from '../../../src/keys/key-name.js';
import { seededRandom } from '../../control-plane/random.js';

const characters = '0123456789abcdefghijklmnopqrstuvwxyz-';
/** Labels that look like other parts of a name. */
const misleading = [
  'run1',
  'a-run1-1',
  '-run99-9-',
  'run1-1-abcdefghij-a',
  '-',
  '0',
  'kept',
  'a-kept1-1',
  '-kept99-9-',
];
const labels = fc.oneof(
  fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength: 20 }),
  fc.constantFrom(...misleading, '-'.repeat(20)),
);
const runs: fc.Arbitrary<WorkflowRun> = fc.record({
  fingerprint: fc.nat().map((id) => repositoryFingerprint('https://github.com', String(id))),
  id: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map(String),
  attempt: fc.integer({ min: 1, max: 999 }),
});
const origins: fc.Arbitrary<KeyOrigin> = fc.record({ run: runs, isKept: fc.boolean() });

interface Made {
  readonly label: string;
  readonly origin: KeyOrigin;
  readonly name: string;
}

const names: fc.Arbitrary<Made> = fc
  .tuple(labels, origins, fc.nat())
  .map(([label, origin, seed]) => ({ label, origin, name: makeKeyName(label, origin, seededRandom(seed)) }));

/** Random numbers for the letters from `a` on. */
function alphabet(): () => number {
  let n = 0;
  return () => (10.5 + n++) / 36;
}

type Golden = [
  name: string,
  label: string,
  server: string,
  repository: string,
  id: string,
  attempt: number,
  isKept: boolean,
];

// Keys with these names live on in accounts: a later version must still read them. Never change a line; add lines.
const golden: Golden[] = [
  ['shop-run19512345678-1-z0c6cwr9im-abcdefghijkl', 'shop', 'https://github.com', '123456789', '19512345678', 1, false],
  ['shop-kept19512345678-1-y0sppva20c-abcdefghijkl', 'shop', 'https://github.com', '123456789', '19512345678', 1, true],
  ['shop-run19512345678-2-t6lumugfzt-abcdefghijkl', 'shop', 'https://github.com', '123456789', '19512345678', 2, false],
  ['shop-run19512345678-1-50nzvsmusi-abcdefghijkl', 'shop', 'https://github.com', '987654321', '19512345678', 1, false],
  ['shop-run19512345678-1-hktzvdq29j-abcdefghijkl', 'shop', 'https://github.com', 'Acme/Shop', '19512345678', 1, false],
  [
    'shop-kept19512345678-1-trv6tv0kos-abcdefghijkl',
    'shop',
    'https://GHE.example/',
    '123456789',
    '19512345678',
    1,
    true,
  ],
  ['a-kept5-1-run7-12-wl5s5pk36t-abcdefghijkl', 'a-kept5-1', 'https://github.com', '123456789', '7', 12, false],
  ['run-kept7-12-2ljp0y5zno-abcdefghijkl', 'run', 'https://github.com', '123456789', '7', 12, true],
  [
    'llllllllllllllllllll-run18446744073709551615-999-iewfgts1iu-abcd',
    'llllllllllllllllllll',
    'https://github.com',
    '123456789',
    '18446744073709551615',
    999,
    false,
  ],
  [
    'llllllllllllllllllll-kept18446744073709551615-999-fmx54zx1eb-abc',
    'llllllllllllllllllll',
    'https://github.com',
    '123456789',
    '18446744073709551615',
    999,
    true,
  ],
];

test.each(golden)(
  '%s is the name of a key, today and in later versions',
  (name, label, server, repository, id, attempt, isKept) => {
    const origin = { run: { id, attempt, fingerprint: repositoryFingerprint(server, repository) }, isKept };
    expect(parseKeyName(name)).toEqual(origin);
    expect(makeKeyName(label, origin, alphabet())).toBe(name);
  },
);

test('a name tells its run and whether the key is kept, starts with its label, and ends in up to 12 random characters', () => {
  fc.assert(
    fc.property(names, ({ label, origin, name }) => {
      expect(parseKeyName(name)).toEqual(origin);
      expect(name.startsWith(`${label}-`)).toBe(true);
      expect(name).toMatch(/^[a-z0-9-]+$/);
      const random = name.split('-').at(-1) ?? '';
      const maxLength = 64 - (name.length - random.length);
      expect(random).toHaveLength(Math.min(12, maxLength));
      expect(random.length).toBeGreaterThanOrEqual(3);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  [0, '0'],
  [0.5, 'i'],
  [0.999_999, 'z'],
])('the random number %d is the character “%s”', (random, character) => {
  const origin = { run: { fingerprint: 'abcdefghij', id: '9876543210', attempt: 1 }, isKept: false };
  expect(makeKeyName('shop', origin, () => random)).toMatch(new RegExp(`-${character}{12}$`));
});

// Ids of today's runs have 11 digits. Ids of 19 digits leave less to chance.
test.each(['98765432101', '9876543210123456789'])('10,000 names of run %s differ', (id) => {
  const random = seededRandom(42);
  const origin = { run: { fingerprint: 'abcdefghij', id, attempt: 1 }, isKept: false };
  const made = Array.from({ length: 10_000 }, () => makeKeyName('l'.repeat(20), origin, random));
  expect(new Set(made).size).toBe(10_000);
});

describe('the fingerprint', () => {
  test('has 10 characters, whatever the server and the repository', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (server, repository) => {
        expect(repositoryFingerprint(server, repository)).toMatch(/^[a-z0-9]{10}$/);
      }),
    );
  });

  test('differs between repositories and between servers', () => {
    const servers = ['https://github.com', 'https://ghe.example', 'https://ghe.example:8443', 'https://ghe2.example'];
    const ids = Array.from({ length: 2_500 }, (_, id) => String(id));
    const all = servers.flatMap((server) => ids.map((id) => repositoryFingerprint(server, id)));
    expect(new Set(all).size).toBe(10_000);
  });

  test('ignores slashes at the end and capitals, and separates server and repository', () => {
    const own = repositoryFingerprint('https://ghe.example', 'acme/shop');
    for (const server of ['https://ghe.example/', 'https://ghe.example//', 'HTTPS://GHE.example'])
      expect(repositoryFingerprint(server, 'Acme/Shop'), server).toBe(own);
    expect(repositoryFingerprint('https://ghe.example/acme', 'shop')).not.toBe(own);
  });
});

/** One character less, more, or in the other case; something before or after it; or the other word. */
const edits: readonly ((name: string, at: number, text: string) => string)[] = [
  (name, at) => name.slice(0, at) + name.slice(at + 1),
  (name, at, text) => name.slice(0, at) + text.slice(0, 1) + name.slice(at),
  (name, at) => name.slice(0, at) + name.charAt(at).toUpperCase() + name.slice(at + 1),
  (name) => name.toUpperCase(),
  (name, _, text) => text + name,
  (name, _, text) => name + text,
  (name) => name.replace(/-(run|kept)(?=\d)/, (word) => (word === '-run' ? '-kept' : '-run')),
];
const texts = fc.oneof(labels, fc.string({ minLength: 1 }), fc.constantFrom('\n', '\r\n', '\u2028', '\0', ' ', '/'));

test('a changed name is not a name of the same run', () => {
  fc.assert(
    fc.property(names, fc.constantFrom(...edits), fc.nat(), texts, ({ origin: { run }, name }, edit, at, text) => {
      const changed = edit(name, at % name.length, text);
      fc.pre(changed !== name);
      expect(parseKeyName(changed)?.run).not.toEqual(run);
    }),
    { numRuns: 5_000 },
  );
});

test('a text that this action would not have made is no name', () => {
  const origin = { run: { fingerprint: 'abcdefghij', id: '9876543210', attempt: 1 }, isKept: false };
  const name = makeKeyName('shop', origin, () => 0.5);
  expect(parseKeyName(name)).toBeDefined();
  for (const other of [
    '',
    'console',
    'shop-run9876543210-1',
    'shop-run9876543210-1-abcdefghij',
    'shop-run9876543210-1-abcdefghij-',
    '-run9876543210-1-abcdefghij-iiiiiiiiiiii',
    'run9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-run0-1-abcdefghij-iiiiiiiiiiii',
    'shop-run09876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-run9876543210-0-abcdefghij-iiiiiiiiiiii',
    'shop-run9876543210-01-abcdefghij-iiiiiiiiiiii',
    'shop-run9876543210-1000-abcdefghij-iiiiiiiiiiii',
    `shop-run${'9'.repeat(21)}-1-abcdefghij-iiiiiiiiiiii`,
    'shop-run9876543210-1-abcdefghi-iiiiiiiiiiii',
    'shop-run9876543210-1-abcdefghijk-iiiiiiiiiiii',
    'shop-run9876543210-1-abcdefghij-iiiiiiiiiii',
    'shop-run9876543210-1-abcdefghij-iiiiiiiiiiiii',
    'Shop-run9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-Run9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-keep9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-keptrun9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop-kept-run9876543210-1-abcdefghij-iiiiiiiii-i',
    'kept9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shop_run9876543210-1-abcdefghij-iiiiiiiiiiii',
    'shöp-run9876543210-1-abcdefghij-iiiiiiiiiiii',
    `${'l'.repeat(21)}-run9876543210-1-abcdefghij-iiiiiiiiiiii`,
    `${name}\n`,
    ` ${name}`,
    `${name}\n${name}`,
    'shop-run９876543210-1-abcdefghij-iiiiiiiiiiii',
  ]) {
    expect(parseKeyName(other), other).toBeUndefined();
  }
});
