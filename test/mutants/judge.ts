import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runMany } from '../simulation/run-many.js';
import type { Mutant } from './generate.js';

export interface Judgement {
  readonly verdict: 'found' | 'survived' | 'undecided';
  /** What found it, or why nothing is known. */
  readonly by: string;
}

interface Ending {
  readonly passed: boolean;
  /** The test file that failed, or what else ended it. */
  readonly by: string;
}

/** They read the tree as text, or test the tools of the tests: no mutant changes what they see. */
const blind = [
  'test/{static,docs,kit}/**',
  'test/unit/{mutants,official}/**',
  'test/unit/{imports,action/action-yml,simulation/mutants}.test.ts',
];
/** The tests of a folder's subject. They find most mutants, long before `related` would have run all that import the file. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  'src/action/': ['inputs', 'outputs', 'secrets', 'summary', 'response-file'],
  'src/api/': ['http', 'lists', 'keys-', 'hostile'],
  'src/http/': ['http', 'keys-'],
  'src/keys/': ['key-names', 'keys-', 'post-state'],
  'src/modes/create-key/': ['keys-create', 'key-names'],
  'src/modes/list/': ['lists'],
  'src/modes/post/': ['keys-post', 'post-state'],
  'src/modes/revoke-key/': ['keys-revoke'],
  'src/modes/sweep-keys/': ['keys-sweep'],
  'src/modes/wait-operation/': ['waiting'],
  'src/operations/': ['waiting', 'lists', 'summary'],
};
const limitMs = 20 * 60_000;
const runs = { from: 1, runs: 500, workers: 1, untilFound: true };
/** Processes load the bundle, so they wait until later. */
const related = (file: string) => ['related', file, '--exclude=test/processes/**'];

/** Judges the mutants of a tree. A test that fails has found one only if it passes without a mutant. */
export class Judge {
  readonly #temp: string;
  readonly #running = new Set<number>();
  readonly #passWithout = new Map<string, Promise<boolean>>();
  #foundWithout: Promise<boolean> | undefined;

  constructor(private readonly tree: string) {
    this.#temp = join(tree, 'temp');
    mkdirSync(this.#temp);
  }

  /** `hint`: the test file that found it before. */
  async judge({ rank, file }: Mutant, hint = ''): Promise<Judgement> {
    const tests = [hint, file.replace(/^src(.*)\.ts$/, 'test/unit$1.test.ts')].filter((path) => existsSync(path));
    // It takes a second, and finds every other one.
    if (tests[0] !== hint && (await this.#isFoundBySimulation(rank))) return { verdict: 'found', by: 'simulation' };
    const [, names = []] = Object.entries(subjects).find(([folder]) => file.startsWith(folder)) ?? [];
    const bySubject = names.length > 0 ? [['run', ...names.map((name) => `test/contract/${name}`)]] : [];
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
    for (const pid of this.#running) killGroup(pid);
    rmSync(this.#temp, { recursive: true, force: true });
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

  async #run(args: readonly string[], mutant: string): Promise<Ending> {
    const name = args.join(' ');
    const temp = mkdtempSync(join(this.#temp, 'run-'));
    const report = join(temp, 'report.xml');
    const options = ['--run', '--bail=1', '--reporter=junit', `--outputFile=${report}`];
    const excludes = blind.map((glob) => `--exclude=${glob}`);
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args, ...options, ...excludes], {
      cwd: this.tree,
      env: { ...process.env, TMPDIR: temp, __STRYKER_ACTIVE_MUTANT__: mutant },
      // A group of its own: a worker in an endless loop ends with it.
      detached: true,
      stdio: 'ignore',
    });
    const pid = child.pid ?? 0;
    this.#running.add(pid);
    let by = name;
    const timer = setTimeout(() => {
      by = `a hang of ${name}`;
      killGroup(pid);
    }, limitMs);
    const passed = await new Promise<boolean>((done) => child.once('exit', (code) => done(code === 0)));
    clearTimeout(timer);
    this.#running.delete(pid);
    killGroup(pid);
    const xml = existsSync(report) ? readFileSync(report, 'utf8') : '';
    if (by === name) by = /<testsuite name="([^"]+)"[^>]* (?:failures|errors)="[1-9]/.exec(xml)?.[1] ?? name;
    rmSync(temp, { recursive: true, force: true });
    return { passed, by };
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
