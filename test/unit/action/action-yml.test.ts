import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaults } from '../../../src/action/inputs/input-reader.js';

const { inputs } = parse(readFileSync('action.yml', 'utf8'));

test('action.yml and the code have the same inputs with the same defaults', () => {
  const declared = Object.entries<{ default?: unknown }>(inputs).map(([name, input]) => [name, input.default ?? '']);
  const token = { 'github-token': `\${{ github.token }}` };
  expect(Object.fromEntries(declared)).toEqual({ ...defaults, ...token });
});
