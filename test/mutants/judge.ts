import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutated } from './by-hand.js';
import { runScript, runTests, testsOf } from './test-runner.js';

/** These run from the sources. `linear-time` measures real time, which depends on the machine. */
const fromSource = ['test/contract', 'test/unit', '--exclude=test/unit/linear-time.test.ts'];
const simulatedRuns = 20_000;

/** Judges mutants in a copy of the tree. A test that fails has found one only if it passes without a mutant. */
export class Judge {
  readonly #passWithout = new Map<string, Promise<boolean>>();
  #foundWithout: Promise<boolean> | undefined;
  #active: Mutant | undefined;

  constructor(private readonly tree: string) {}

  /** `lines`: what found it, or what did not. */
  async judge(mutant: Mutant): Promise<{ isFound: boolean; lines: string[] }> {
    const { isFound, by } = await this.#judgeByTests(mutant);
    if (!mutant.isSimulated || (await this.#isFoundBySimulation(mutant))) return { isFound, lines: [by] };
    return { isFound: false, lines: [by, `NOT FOUND in ${simulatedRuns} simulated runs`] };
  }

  async #judgeByTests(mutant: Mutant): Promise<{ isFound: boolean; by: string }> {
    for (const args of [...testsOf(mutant.file), fromSource]) {
      const { passed, by, title } = await this.#test(args, mutant);
      if (passed) continue;
      const again = by.endsWith('.test.ts') ? [by] : args;
      // A busy machine can fail a test.
      const isSure = !(await this.#test(again, mutant)).passed;
      if (!(await this.#passesWithout(again))) return { isFound: false, by: `UNDECIDED: ${by} fails without a mutant` };
      if (!isSure) return { isFound: false, by: `UNDECIDED: ${by} fails now and then` };
      return { isFound: true, by: `${by}: ${title}` };
    }
    return { isFound: false, by: 'SURVIVED all tests' };
  }

  async #isFoundBySimulation(mutant: Mutant): Promise<boolean> {
    const options = ['--seed', '1', '--runs', String(simulatedRuns), '--workers', '1', '--until-found'];
    const findAny = async (active: Mutant | undefined) => {
      this.#switchTo(active);
      // A share of runs that hangs is a finding of the command itself.
      const { passed, hangs } = await runScript(this.tree, ['build/test/simulation/cli.js', ...options]);
      return !passed && !hangs;
    };
    this.#foundWithout ??= findAny(undefined);
    if (await this.#foundWithout) throw new Error('The simulation fails without a mutant.');
    return findAny(mutant);
  }

  #passesWithout(args: readonly string[]): Promise<boolean> {
    const test = args.join(' ');
    const passes = this.#passWithout.get(test) ?? this.#test(args, undefined).then(({ passed }) => passed);
    this.#passWithout.set(test, passes);
    return passes;
  }

  #test(args: readonly string[], mutant: Mutant | undefined) {
    this.#switchTo(mutant);
    return runTests(this.tree, args);
  }

  #switchTo(mutant: Mutant | undefined): void {
    if (mutant === this.#active) return;
    if (this.#active !== undefined) this.#write(this.#active, mutated({ ...this.#active, by: this.#active.replace }));
    if (mutant !== undefined) this.#write(mutant, mutated(mutant));
    this.#active = mutant;
  }

  /** Replaces the source, and what was compiled from it. */
  #write({ file, isSimulated }: Mutant, content: string): void {
    writeFileSync(join(this.tree, file), content);
    if (!isSimulated) return;
    const options = '--ignoreConfig --noCheck --noResolve --module nodenext --target es2023 --types node'.split(' ');
    execFileSync('npx', ['tsc', ...options, '--rootDir', '.', '--outDir', 'build', file], {
      cwd: this.tree,
      stdio: 'inherit',
    });
  }
}
