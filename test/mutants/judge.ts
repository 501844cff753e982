import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMany } from '../simulation/run-many.js';
import type { Mutant } from './generate.js';
import { type Ending, subjectTestsOf, TestRunner, unitTestOf } from './test-runner.js';

export interface Judgement {
  readonly verdict: 'found' | 'survived' | 'undecided';
  /** What found it, or why nothing is known. */
  readonly by: string;
}

const runs = { from: 1, runs: 500, workers: 1, untilFound: true };
/** Processes load the bundle, so they wait until later. */
const related = (file: string) => ['related', file, '--exclude=test/processes/**'];

/** Judges the mutants of a tree. A test that fails has found one only if it passes without a mutant. */
export class Judge {
  readonly #runner: TestRunner;
  readonly #passWithout = new Map<string, Promise<boolean>>();
  #foundWithout: Promise<boolean> | undefined;

  constructor(private readonly tree: string) {
    this.#runner = new TestRunner(tree);
  }

  /** `hint`: the test file that found it before. */
  async judge({ rank, file }: Mutant, hint = ''): Promise<Judgement> {
    const tests = [...[hint].filter((path) => existsSync(path)), ...unitTestOf(file)];
    // It takes a second, and finds every other one.
    if (tests[0] !== hint && (await this.#isFoundBySimulation(rank))) return { verdict: 'found', by: 'simulation' };
    const subject = subjectTestsOf(file);
    const bySubject = subject.length > 0 ? [['run', ...subject]] : [];
    for (const args of [...tests.map((test) => ['run', test]), ...bySubject, related(file), ['run']]) {
      const { passed, by } = await this.#run(args, rank);
      if (passed) continue;
      const again = by.endsWith('.test.ts') ? ['run', by] : args;
      // A busy machine can fail a test.
      const isSure = !(await this.#run(again, rank)).passed;
      if (!(await this.#passesWithout(again))) return { verdict: 'undecided', by: `${by} fails without a mutant` };
      return isSure ? { verdict: 'found', by } : { verdict: 'undecided', by: `${by} fails now and then` };
    }
    return { verdict: 'survived', by: 'all tests' };
  }

  /** Ends what runs. The process exits next. */
  end(): void {
    this.#runner.end();
  }

  async #isFoundBySimulation(mutant: string): Promise<boolean> {
    const script = pathToFileURL(join(this.tree, 'build/test/simulation/worker.js'));
    const findAny = async (active: string) => {
      // Each worker starts with a copy.
      process.env['__STRYKER_ACTIVE_MUTANT__'] = active;
      return (await runMany({ ...runs, script })).findings.length > 0;
    };
    this.#foundWithout ??= findAny('');
    if (await this.#foundWithout) throw new Error('The simulation fails without a mutant.');
    return findAny(mutant);
  }

  #passesWithout(args: readonly string[]): Promise<boolean> {
    const test = args.join(' ');
    const passes = this.#passWithout.get(test) ?? this.#run(args, '').then(({ passed }) => passed);
    this.#passWithout.set(test, passes);
    return passes;
  }

  #run(args: readonly string[], mutant: string): Promise<Ending> {
    return this.#runner.run(args, { __STRYKER_ACTIVE_MUTANT__: mutant });
  }
}
