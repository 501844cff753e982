import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { byHand, mutated } from '../../mutants/by-hand.js';
import { equivalents } from '../../mutants/equivalent.js';
import { draw, generate, type SourceFile, switchable } from '../../mutants/generate.js';

const functions = Array.from({ length: 30 }, (_, index) => `function isBelow${index}(n) { return n < ${index}; }`);
const long: SourceFile = { name: 'long.ts', content: `${functions.join('\n')}\n` };
const short: SourceFile = { name: 'short.ts', content: 'globalThis.isLarge = (n) => {\n  return n > 8;\n};\n' };

it('equal seeds draw equal mutants, and another seed draws others', async () => {
  const drawn = async (seed: number) => draw(await generate([long], seed), [long]).map(({ change }) => change);
  const [first, same, other] = [await drawn(1), await drawn(1), await drawn(2)];
  expect(same).toEqual(first);
  expect(other).not.toEqual(first);
});

it('a file gets one mutant for each 20 lines, and one for the remaining lines', async () => {
  const files = [long, short];
  const drawn = draw(await generate(files, 1), files);
  expect(drawn.map(({ file }) => file)).toEqual(['long.ts', 'long.ts', 'short.ts']);
});

it('a mutant changes the code only while it is switched on', async () => {
  const mutants = await generate([short], 1);
  const drawn = mutants.filter(({ change }) => change === '8 → 9');
  const code = (await switchable([short], drawn))[0]?.content ?? '';
  const isLarge = (active: string): boolean => {
    vi.stubEnv('__STRYKER_ACTIVE_MUTANT__', active);
    const place: { isLarge?: (n: number) => boolean } = {};
    new Function('globalThis', code)(place);
    return place.isLarge?.(9) ?? false;
  };
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  expect(isLarge('')).toBe(true);
  expect(isLarge(drawn[0]?.rank ?? '')).toBe(false);
});

it('debug messages and texts with a space get no mutants', async () => {
  const content = "log.debug(1 + 2);\nshow('Try again.');\nsend('retry');\n";
  const changes = (await generate([{ name: 'texts.ts', content }], 1)).map(({ change }) => change);
  expect(changes).toContain(`'retry' → ""`);
  expect(changes.join('\n')).not.toMatch(/1 \+ 2 →|'Try again.' →/);
});

it.for(equivalents)('the code of the equivalent mutant $change is still in $file', ({ file, source }) => {
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.map((line) => line.trim())).toContain(source);
});

it('every mutant by hand still changes a file in src, and has a unique name', () => {
  for (const mutant of byHand) expect(mutated(mutant), mutant.name).not.toBe(readFileSync(mutant.file, 'utf8'));
  expect(new Set(byHand.map(({ name }) => name)).size).toBe(byHand.length);
  expect(byHand.length).toBeGreaterThan(200);
});
