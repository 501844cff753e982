import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutants, mutated } from '../../simulation/mutants/find.js';

it('every known defect still changes a file in src, and has a unique name', () => {
  for (const mutant of mutants) expect(mutated(mutant), mutant.name).not.toBe(readFileSync(mutant.file, 'utf8'));
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  expect(mutants.length).toBeGreaterThan(50);
});
