import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { byHand, mutated } from '../mutants/by-hand.js';

test('every hand-written mutant still changes a file in src, and has a unique name', () => {
  for (const mutant of byHand) expect(mutated(mutant), mutant.name).not.toBe(readFileSync(mutant.file, 'utf8'));
  expect(new Set(byHand.map(({ name }) => name)).size).toBe(byHand.length);
  expect(byHand.length).toBeGreaterThan(150);
});
