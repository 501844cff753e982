import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMany } from '../simulation/run-many.js';
import { type Ending, TestRunner } from './test-runner.js';

export interface Judgement {
  readonly verdict: 'found' | 'survived' | 'undecided';
  /** What found it, or why nothing is known. */
  readonly by: string;
  /** The title of the test that found it. */
  readonly title?: string;
}

/** Switches a mutant of a tree on, or with `undefined` all off. Returns the variables that this takes. */
export type Switch<Mutant> = (mutant: Mutant | undefined) => Readonly<Record<string, string>>;

/** Judges the mutants of a tree. A test that fails has found one only if it passes without a mutant. */
export class Judge<Mutant> {
  readonly #runner: TestRunner;
  readonly #passWithout = new Map<string, Promise<boolean>>();
  #foundWithout: Promise<boolean> | undefined;

  constructor(
    private readonly tree: string,
    private readonly switchTo: Switch<Mutant>,
  ) {
    this.#runner = new TestRunner(tree);
    process.once('exit', () => this.#runner.end());
  }

  /** `runs`: the arguments of each run of vitest, in their order. */
  async judge(mutant: Mutant, runs: readonly (readonly string[])[]): Promise<Judgement> {
    for (const args of runs) {
      const { passed, by, title } = await this.#run(args, mutant);
      if (passed) continue;
      const again = by.endsWith('.test.ts') ? ['run', by] : args;
      // A busy machine can fail a test.
      const isSure = !(await this.#run(again, mutant)).passed;
      if (!(await this.#passesWithout(again))) return { verdict: 'undecided', by: `${by} fails without a mutant` };
      if (!isSure) return { verdict: 'undecided', by: `${by} fails now and then` };
      return { verdict: 'found', by, title };
    }
    return { verdict: 'survived', by: 'all tests' };
  }

  async isFoundBySimulation(mutant: Mutant, runs: number): Promise<boolean> {
    const script = pathToFileURL(join(this.tree, 'build/test/simulation/worker.js'));
    const findAny = async (active: Mutant | undefined) => {
      // Each worker starts with a copy.
      Object.assign(process.env, this.switchTo(active));
      return (await runMany({ from: 1, runs, workers: 1, untilFound: true, script })).findings.length > 0;
    };
    this.#foundWithout ??= findAny(undefined);
    if (await this.#foundWithout) throw new Error('The simulation fails without a mutant.');
    return findAny(mutant);
  }

  #passesWithout(args: readonly string[]): Promise<boolean> {
    const test = args.join(' ');
    const passes = this.#passWithout.get(test) ?? this.#run(args, undefined).then(({ passed }) => passed);
    this.#passWithout.set(test, passes);
    return passes;
  }

  #run(args: readonly string[], mutant: Mutant | undefined): Promise<Ending> {
    return this.#runner.run(args, this.switchTo(mutant));
  }
}
