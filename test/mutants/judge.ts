import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutated } from './by-hand.js';
import { runScript, runTests, testsOf } from './test-runner.js';

/** These run from the sources. `linear-time` measures real time, which depends on the machine. */
const fromSource = ['test/contract', 'test/unit', '--exclude=test/unit/linear-time.test.ts'];
const simulatedRuns = 20_000;

/** Judges mutants in a copy of the tree. A test that fails has found one only if it passes without a mutant. */
export function judgeIn(tree: string) {
  const withoutMutant = new Map<string, Promise<boolean>>();
  let active: Mutant | undefined;

  /** Replaces the source, and what was compiled from it. */
  function write({ file, isSimulated }: Mutant, content: string): void {
    writeFileSync(join(tree, file), content);
    if (!isSimulated) return;
    const options = '--ignoreConfig --noCheck --noResolve --module nodenext --target es2023 --types node'.split(' ');
    const compile = ['tsc', ...options, '--rootDir', '.', '--outDir', 'build', file];
    execFileSync('npx', compile, { cwd: tree, stdio: 'inherit' });
  }

  function switchTo(mutant: Mutant | undefined): void {
    if (mutant === active) return;
    if (active !== undefined) write(active, mutated({ ...active, by: active.replace }));
    if (mutant !== undefined) write(mutant, mutated(mutant));
    active = mutant;
  }

  function test(args: readonly string[], mutant: Mutant | undefined) {
    switchTo(mutant);
    return runTests(tree, args);
  }

  async function simulate(mutant: Mutant | undefined): Promise<{ passed: boolean }> {
    switchTo(mutant);
    const options = ['--seed', '1', '--runs', String(simulatedRuns), '--workers', '1', '--until-found'];
    const { passed, hangs } = await runScript(tree, ['build/test/simulation/cli.js', ...options]);
    // A run that hangs is a finding of the command itself.
    return { passed: passed || hangs };
  }

  function passesWithout(what: string, run: () => Promise<{ passed: boolean }>): Promise<boolean> {
    const passes = withoutMutant.get(what) ?? run().then(({ passed }) => passed);
    withoutMutant.set(what, passes);
    return passes;
  }

  async function judgeByTests(mutant: Mutant): Promise<{ isFound: boolean; by: string }> {
    for (const args of [...testsOf(mutant.file), fromSource]) {
      const { passed, by, title } = await test(args, mutant);
      if (passed) continue;
      const again = by.endsWith('.test.ts') ? [by] : args;
      // A busy machine can fail a test.
      const isSure = !(await test(again, mutant)).passed;
      const isSound = await passesWithout(again.join(' '), () => test(again, undefined));
      if (isSure && isSound) return { isFound: true, by: `${by}: ${title}` };
      return { isFound: false, by: `UNDECIDED: ${by} fails ${isSound ? 'now and then' : 'without a mutant'}` };
    }
    return { isFound: false, by: 'SURVIVED all tests' };
  }

  /** `lines`: what found it, or what did not. */
  return async (mutant: Mutant): Promise<{ isFound: boolean; lines: string[] }> => {
    const { isFound, by } = await judgeByTests(mutant);
    if (!mutant.isSimulated) return { isFound, lines: [by] };
    if (!(await passesWithout('the simulation', () => simulate(undefined))))
      throw new Error('The simulation fails without a mutant.');
    const { passed } = await simulate(mutant);
    return passed
      ? { isFound: false, lines: [by, `NOT FOUND in ${simulatedRuns} simulated runs`] }
      : { isFound, lines: [by] };
  };
}
