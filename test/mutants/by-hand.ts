import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subjectTestsOf, TestRunner, unitTestOf } from './test-runner.js';
import { mutated, readTextMutants, type TextMutant } from './text-mutants.js';
import { copyTree } from './tree.js';

/** Small defects in meaning, as a tired colleague would slip. Other operators are the matter of `generate.ts`. */
export const byHand: readonly TextMutant[] = readTextMutants('test/mutants/by-hand.txt');

/** These run from the sources. `linear-time` measures real time, which depends on the machine. */
const fromSource = ['test/contract', 'test/unit', '--exclude=test/unit/linear-time.test.ts'];

/** Judges each mutant in a copy of the tree. Returns true if the tests find all. */
export async function judgeByHand(only: string | undefined): Promise<boolean> {
  const chosen = byHand.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) {
    console.log(`There is no mutant ${only}: by-hand.txt lists all.`);
    return false;
  }
  const tree = copyTree('by-hand-tree');
  const runner = new TestRunner(tree);
  process.once('exit', () => runner.end());
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  const startedAt = performance.now();
  const passing = new Set<string>();
  const missed: string[] = [];
  for (const mutant of chosen) {
    const path = join(tree, mutant.file);
    const original = mutated({ ...mutant, by: mutant.replace });
    writeFileSync(path, mutated(mutant));
    const ending = await findFailure(mutant, runner);
    writeFileSync(path, original);
    let outcome = 'SURVIVED';
    if (ending !== undefined) {
      const { by, title } = ending;
      const passes = passing.has(by) || (await runner.run(['run', by])).passed;
      if (passes) passing.add(by);
      outcome = passes ? `${by}: ${title}` : `UNDECIDED: ${by} fails without a mutant`;
    }
    if (!outcome.startsWith('test/')) missed.push(mutant.name);
    console.log(`${mutant.name} (${mutant.defect})\n  ${outcome}`);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${chosen.length - missed.length} of ${chosen.length} mutants found in ${seconds} s.`);
  if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
  return missed.length === 0;
}

/** Begins with the tests of its subject, which find most mutants. */
async function findFailure({ file }: TextMutant, runner: TestRunner) {
  for (const args of [[...unitTestOf(file), ...subjectTestsOf(file)], fromSource]) {
    if (args.length === 0) continue;
    const ending = await runner.run(['run', ...args]);
    if (!ending.passed) return ending;
  }
  return undefined;
}
