import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutants } from '../../simulation/mutants/mutants.js';

it('each mutant still applies to what is there', () => {
  const places = mutants.map(({ name, file, replace }) => [name, readFileSync(file, 'utf8').split(replace).length - 1]);
  expect(places).toEqual(mutants.map(({ name }) => [name, 1]));
});

it('each changes something, and has a name of its own', () => {
  for (const { replace, by } of mutants) expect(by).not.toBe(replace);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});
