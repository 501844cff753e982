import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the bundle runs on the Node that this run is for', () => {
  const node = process.env['NODE_OF_BUNDLE'] ?? '';
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${process.env['VERSION_OF_NODE']}\n`);
});
