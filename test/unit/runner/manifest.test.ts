import { expect, test } from 'vitest';
import { evaluateDefault, readManifest } from '../../runner/manifest.js';

const RUNS = { using: 'node20', main: 'main.js' };

test('inputs come in their order, with defaults as text', () => {
  const inputs = { mode: {}, summary: { default: true }, limit: { default: 10 }, none: { default: null } };
  const manifest = readManifest({ runs: { ...RUNS, post: 'post.js', 'post-if': 'always()' }, inputs }, '/here');
  expect([...manifest.inputs]).toEqual([
    ['mode', ''],
    ['summary', 'true'],
    ['limit', '10'],
    ['none', ''],
  ]);
  expect(manifest).toMatchObject({ directory: '/here', main: 'main.js', post: 'post.js' });
});

test.each([
  ['an unknown key in runs', { runs: { ...RUNS, args: [] } }, /runs: unexpected key 'args'/],
  ['an unknown key of an output', { runs: RUNS, outputs: { a: { type: 'x' } } }, /outputs.a: unexpected key 'type'/],
  ['no runs', { name: 'x' }, /runs: not a mapping/],
  ['no main', { runs: { using: 'node20' } }, /runs.main/],
  ['another runtime', { runs: { ...RUNS, using: 'node22' } }, /'node22' is no runtime/],
  [
    'an expression in a description',
    { runs: RUNS, inputs: { a: { description: `\${{ x }}` } } },
    /inputs.a.description/,
  ],
])('%s is refused', (_what, content, problem) => {
  expect(() => readManifest(content, '/here')).toThrow(problem);
});

test('a default may be the token of the job, and no other expression', () => {
  expect(evaluateDefault(`\${{ github.token }}`, '$& token')).toBe('$& token');
  expect(evaluateDefault('plain', 'token')).toBe('plain');
  expect(() => evaluateDefault(`\${{ github.actor }}`, 'token')).toThrow(/does not evaluate/);
});
