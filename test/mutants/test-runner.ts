import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface Ending {
  readonly passed: boolean;
  /** The test file that failed, or what else ended it. */
  readonly by: string;
  /** The title of the test that failed. */
  readonly title: string;
}

/** They read the tree as text, or test the tools of the tests: no mutant changes what they see. */
const blind = ['test/unit/official/**', 'test/unit/{imports,mutants,action/action-yml}.test.ts'];
/** The tests of a folder's subject. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  'src/action/': ['inputs', 'outputs', 'secrets', 'summary'],
  'src/api/': ['http', 'lists', 'keys-', 'hostile'],
  'src/http/': ['http', 'keys-'],
  'src/keys/': ['key-names', 'keys-', 'post-state'],
  'src/modes/create-key/': ['keys-create', 'key-names', 'keys-post'],
  'src/modes/list/': ['lists'],
  'src/post': ['keys-post', 'post-state'],
  'src/modes/revoke-key/': ['keys-revoke'],
  'src/modes/sweep-keys/': ['keys-sweep'],
  'src/modes/wait-operation/': ['waiting', 'response-file'],
  'src/operations/': ['waiting', 'lists', 'summary'],
};
const limitMs = 20 * 60_000;

/** The tests of the file, and those of its subject: they find most mutants. */
export function testsOf(file: string): string[][] {
  const unit = [file.replace(/^src(.*)\.ts$/, 'test/unit$1.test.ts')].filter((path) => existsSync(path));
  const [, names = []] = Object.entries(subjects).find(([folder]) => file.startsWith(folder)) ?? [];
  const ofSubject = names.map((name) => `test/contract/${name}`);
  return [unit, ofSubject].filter((files) => files.length > 0);
}

/** Runs tests of a tree until the first failure. */
export class TestRunner {
  readonly #temp: string;
  readonly #running = new Set<number>();

  constructor(private readonly tree: string) {
    this.#temp = join(tree, 'temp');
    mkdirSync(this.#temp);
  }

  /** Ends what runs. The process exits next. */
  end(): void {
    for (const pid of this.#running) killGroup(pid);
    rmSync(this.#temp, { recursive: true, force: true });
  }

  /** `args` of vitest. */
  async run(args: readonly string[]): Promise<Ending> {
    const name = args.join(' ');
    const temp = mkdtempSync(join(this.#temp, 'run-'));
    const report = join(temp, 'report.xml');
    const options = ['--run', '--bail=1', '--reporter=junit', `--outputFile=${report}`];
    const excludes = blind.map((glob) => `--exclude=${glob}`);
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args, ...options, ...excludes], {
      cwd: this.tree,
      env: { ...process.env, TMPDIR: temp },
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
    const title = /<testcase [^>]*\bname="([^"]*)"[^>]*>\s*<(?:failure|error)/.exec(xml)?.[1] ?? '';
    rmSync(temp, { recursive: true, force: true });
    return { passed, by, title };
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
