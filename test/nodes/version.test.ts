import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('NODE_OF_BUNDLE runs the Node version in VERSION_OF_NODE', () => {
  const node = process.env['NODE_OF_BUNDLE'] ?? '';
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${process.env['VERSION_OF_NODE']}\n`);
});
