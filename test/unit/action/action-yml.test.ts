import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { defaults } from '../../../src/action/inputs/input-reader.js';

test('action.yml and the code have the same inputs with the same defaults, and all names are kebab-case', () => {
  const { inputs, outputs } = parse(readFileSync('action.yml', 'utf8'));
  // A bare true would be a boolean here, and not equal to the text.
  const declared = Object.entries<{ default?: unknown }>(inputs).map(([name, input]) => [name, input.default ?? '']);
  expect(Object.fromEntries(declared)).toEqual(defaults);
  for (const name of Object.keys({ ...inputs, ...outputs })) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
});
