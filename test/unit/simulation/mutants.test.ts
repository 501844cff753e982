import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { byHand } from '../../mutants/by-hand.js';
import { mutated } from '../../mutants/text-mutants.js';
import { mutants } from '../../simulation/mutants/find.js';

it.each([
  ['mutants.txt', mutants, 50],
  ['by-hand.txt', byHand, 40],
])('every known defect in %s still changes a file in src, and has a unique name', (_, list, min) => {
  for (const mutant of list) expect(mutated(mutant), mutant.name).not.toBe(readFileSync(mutant.file, 'utf8'));
  expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
  expect(list.length).toBeGreaterThan(min);
});
