import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type KeyOrigin,
  makeKeyName,
  maxLabelLength,
  parseKeyName,
  repositoryFingerprint,
  type WorkflowRun,
} from '../../../src/keys/key-name.js';

const letters = '0123456789abcdefghijklmnopqrstuvwxyz-';
const labels = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 20 });
const runs: fc.Arbitrary<WorkflowRun> = fc.record({
  fingerprint: fc
    .tuple(fc.constantFrom('https://github.com', 'https://ghe.example'), fc.nat())
    .map(([server, id]) => repositoryFingerprint(server, String(id))),
  id: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map(String),
  attempt: fc.integer({ min: 1, max: 999 }),
});
const origins: fc.Arbitrary<KeyOrigin> = fc.record({ run: runs, isKept: fc.boolean() });
/** Dice as they fall: the numbers are taken in turn. */
const dice = fc
  .array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 12, maxLength: 12 })
  .map((numbers) => () => {
    let at = 0;
    return () => numbers[at++ % numbers.length] ?? 0;
  });

interface Made {
  readonly label: string;
  readonly origin: KeyOrigin;
  readonly name: string;
}

const names: fc.Arbitrary<Made> = fc
  .tuple(labels, origins, dice)
  .map(([label, origin, roll]) => ({ label, origin, name: makeKeyName(label, origin, roll()) }));

const longest: WorkflowRun = { fingerprint: 'abcdefghij', id: '18446744073709551615', attempt: 999 };

/** Letters from `a` on. */
function inTurn(): () => number {
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
    expect(makeKeyName(label, origin, inTurn())).toBe(name);
  },
);

test('a name gives back the run that it was made for, and whether the key is kept on purpose', () => {
  fc.assert(
    fc.property(names, ({ origin, name }) => {
      expect(parseKeyName(name)).toEqual(origin);
    }),
    { numRuns: 2_000 },
  );
});

test('a name has at most 64 characters, begins with its label, and needs no quoting anywhere', () => {
  fc.assert(
    fc.property(names, ({ label, name }) => {
      expect(name.length).toBeLessThanOrEqual(64);
      expect(name.startsWith(`${label}-`)).toBe(true);
      expect(name).toMatch(/^[a-z0-9-]+$/);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [false, 4],
  [true, 3],
])('the longest of all parts fill 64 characters, and leave some to chance (kept: %s)', (isKept, number) => {
  const name = makeKeyName('l'.repeat(maxLabelLength), { run: longest, isKept }, Math.random);
  expect(name).toHaveLength(64);
  expect(name.split('-').at(-1)).toHaveLength(number);
  expect(parseKeyName(name)).toEqual({ run: longest, isKept });
});

test('a label that looks like the rest of a name leads nobody astray', () => {
  const labels = ['run1', 'a-run1-1', '-run99-9-', 'run1-1-abcdefghij-a', '-', '--------------------', '0'];
  for (const label of [...labels, 'a-kept', 'kept', 'a-kept1-1', '-kept99-9-', 'kept1-1-abcdefghij-a']) {
    for (const isKept of [false, true]) {
      const origin = { run: { fingerprint: 'zyxwvutsrq', id: '9876543210', attempt: 7 }, isKept };
      expect(parseKeyName(makeKeyName(label, origin, Math.random)), label).toEqual(origin);
    }
  }
});

// The ids of today's runs have 11 digits; those of 19 leave less to chance.
test.each(['98765432101', '9876543210123456789'])('10,000 names of run %s differ', (id) => {
  const random = generator(42);
  const run = { fingerprint: 'abcdefghij', id, attempt: 1 };
  const made = Array.from({ length: 10_000 }, () =>
    makeKeyName('l'.repeat(maxLabelLength), { run, isKept: false }, random),
  );
  expect(new Set(made).size).toBe(10_000);
});

test('10,000 names of one step by the dice of the machine differ', () => {
  const run = { fingerprint: 'abcdefghij', id: '98765432101', attempt: 999 };
  const made = Array.from({ length: 10_000 }, () =>
    makeKeyName('l'.repeat(maxLabelLength), { run, isKept: true }, Math.random),
  );
  expect(new Set(made).size).toBe(10_000);
});

describe('the fingerprint', () => {
  test('has 10 characters, whatever the server and the repository', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (server, repository) => {
        expect(repositoryFingerprint(server, repository)).toMatch(/^[a-z0-9]{10}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('differs between repositories and between servers', () => {
    const servers = ['https://github.com', 'https://ghe.example', 'https://ghe.example:8443', 'https://ghe2.example'];
    const all = servers.flatMap((server) =>
      Array.from({ length: 2_500 }, (_, id) => repositoryFingerprint(server, `${id}`)),
    );
    expect(new Set(all).size).toBe(10_000);
  });

  test('knows no trailing slash and no capitals', () => {
    const own = repositoryFingerprint('https://ghe.example', 'acme/shop');
    for (const server of [
      'https://ghe.example/',
      'https://ghe.example//',
      'https://GHE.example',
      'HTTPS://ghe.EXAMPLE/',
    ])
      expect(repositoryFingerprint(server, 'Acme/Shop'), server).toBe(own);
  });

  test('keeps server and repository apart', () => {
    expect(repositoryFingerprint('https://ghe.example/acme', 'shop')).not.toBe(
      repositoryFingerprint('https://ghe.example', 'acme/shop'),
    );
  });
});

/** The text after the label, by which a name is that of a run. */
const restOf = ({ label, name }: Made) => name.slice(label.length);
const chance = (name: string) => name.split('-').at(-1);

type Edit = (name: string, at: number, text: string) => string;

/** One character less, more, or in the other case; or something before or behind. */
const edits: readonly Edit[] = [
  (name, at) => name.slice(0, at) + name.slice(at + 1),
  (name, at, text) => name.slice(0, at) + text.slice(0, 1) + name.slice(at),
  (name, at) => name.slice(0, at) + name.charAt(at).toUpperCase() + name.slice(at + 1),
  (name) => name.toUpperCase(),
  (name, _, text) => text + name,
  (name, _, text) => name + text,
  (name) => name.replace(/-(run|kept)(?=\d)/, (word) => (word === '-run' ? '-kept' : '-run')),
];

const texts = fc.oneof(labels, fc.string({ minLength: 1 }), fc.constantFrom('\n', '\r\n', '\u2028', '\0', ' ', '/'));

interface Miss extends Made {
  readonly text: string;
}

const nearMisses: fc.Arbitrary<Miss> = fc
  .tuple(names, fc.constantFrom(...edits), fc.nat(), texts)
  .map(([made, edit, at, text]) => ({ ...made, text: edit(made.name, at % made.name.length, text) }))
  .filter(({ name, text }) => text !== name);

function isTakenForTheSame({ origin: { run }, name, text }: Miss): boolean {
  const read = parseKeyName(text)?.run;
  if (read === undefined || chance(text) !== chance(name)) return false;
  return read.id === run.id && read.attempt === run.attempt && read.fingerprint === run.fingerprint;
}

test('a near miss behind the label is no name, or that of another run or step', () => {
  fc.assert(
    fc.property(nearMisses, (miss) => {
      // Where only the label is another.
      fc.pre(!miss.text.endsWith(restOf(miss)));
      expect(isTakenForTheSame(miss)).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

test('a near miss in the label, or something before it, is no name of the same step', () => {
  fc.assert(
    fc.property(nearMisses, (miss) => {
      fc.pre(miss.text.endsWith(restOf(miss)));
      expect(isTakenForTheSame(miss)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test('a key is not made sweepable by a change of the word in its name', () => {
  const run = { fingerprint: 'abcdefghij', id: '9876543210', attempt: 1 };
  const name = makeKeyName('shop', { run, isKept: true }, Math.random);
  expect(parseKeyName(name.replace('-kept', '-run'))?.run.fingerprint).not.toBe(run.fingerprint);
});

test('what this action would not have made is no name', () => {
  const name = makeKeyName(
    'shop',
    { run: { fingerprint: 'abcdefghij', id: '9876543210', attempt: 1 }, isKept: false },
    () => 0.5,
  );
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

/** The same numbers each time: mulberry32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
