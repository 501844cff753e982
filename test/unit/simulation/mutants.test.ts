import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutated } from '../../simulation/mutants/hunt.js';
import { mutants } from '../../simulation/mutants/mutants.js';

it.each(mutants)('the mutant $name still applies, and changes something', (mutant) => {
  expect(mutated(mutant)).not.toBe(readFileSync(mutant.file, 'utf8'));
});

it('each has a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});
