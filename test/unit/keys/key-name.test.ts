import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../../control-plane/random.js';
import { makeKeyName, parseKeyName, repositoryFingerprint } from '../../../src/keys/key-name.js';

const misleading = ['a-run1-1', '-run99-9-', 'kept1-1-abcdefghij-a', '.github', 'Ünï_códe', '-'.repeat(100), ''];
const repositories = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.constantFrom(...misleading));
const runs = fc.record({
  fingerprint: fc.nat().map((id) => repositoryFingerprint('https://github.com', String(id))),
  id: fc.bigInt({ min: 1n, max: 10n ** 20n - 1n }).map(String),
  attempt: fc.integer({ min: 1, max: 999 }),
});
const origins = fc.record({ run: runs, isKept: fc.boolean() });

test('a key name holds the run, the repository and whether the key is kept, in at most 64 characters', () => {
  const property = fc.property(repositories, origins, fc.nat(), (repository, origin, seed) => {
    const name = makeKeyName(repository, origin, seededRandom(seed));
    expect(parseKeyName(name)).toEqual(origin);
    expect(name).toMatch(/^[a-z0-9-]{1,64}$/);
  });
  fc.assert(property, { numRuns: 1_000 });
});

// Keys with these names live on in accounts: a later version must still read them.
test.for([
  ['shop-run19512345678-1-n1gu70urhl-abcdefghijkl', 'https://github.com', '123456789', 'run', '19512345678', 1],
  ['shop-kept19512345678-2-mtlj8qgktb-abcdefghijkl', 'https://GHE.example/', 'Acme/Shop', 'kept', '19512345678', 2],
  ['a-kept5-1-run7-12-n1gu70urhl-abc', 'https://github.com', '123456789', 'run', '7', 12],
] as const)('the key name %s is read back as its run', ([name, server, repository, word, id, attempt]) => {
  const run = { id, attempt, fingerprint: repositoryFingerprint(server, repository) };
  expect(parseKeyName(name)).toEqual({ run, isKept: word === 'kept' });
});

test.for([
  ...['', 'console', 'shop-run9876543210-1-abcdefghij', '-run9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run09876543210-1-abcdefghij-iiiiiiiiiiii', 'shop-run9876543210-1000-abcdefghij-iiiiiiiiiiii'],
  ...['shop-run9876543210-1-abcdefghi-iiiiiiiiiiii', 'SHOP-run9876543210-1-abcdefghij-iiiiiiiiiiii'],
  ...['shop-keep9876543210-1-abcdefghij-iiiiiiiiiiii', 'shop-run9876543210-1-abcdefghij-iiiiiiiiiiii\n'],
])('the key name %j is not taken for one of this action', (text) => {
  expect(parseKeyName(text)).toBeUndefined();
});
