import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** They read the tree as text, or test the tools of the tests: no mutant changes what they see. */
const blind = ['test/unit/official/**', 'test/unit/{imports,action/action-yml}.test.ts'];
/** The tests of a folder's subject. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  'src/action/': ['inputs', 'outputs', 'secrets'],
  'src/api/': ['http', 'lists', 'keys-', 'hostile'],
  'src/http/': ['http', 'wait-', 'keys-'],
  'src/keys/': ['key-names', 'keys-', 'post-state'],
  'src/modes/create-key': ['keys-create', 'key-names', 'keys-post'],
  'src/modes/list/': ['lists'],
  'src/modes/operations.ts': ['wait-', 'lists'],
  'src/post': ['keys-post', 'post-state'],
  'src/modes/revoke-key': ['keys-revoke'],
  'src/modes/sweep-keys/': ['keys-sweep'],
  'src/modes/wait-operation/': ['wait-', 'response-file'],
};
const limitMs = 20 * 60_000;

/** The tests of the file, and those of its subject: they find most mutants. */
export function testsOf(file: string): string[][] {
  const unit = [file.replace(/^src(.*)\.ts$/, 'test/unit$1.test.ts')].filter((path) => existsSync(path));
  const [, names = []] = Object.entries(subjects).find(([folder]) => file.startsWith(folder)) ?? [];
  const ofSubject = names.map((name) => `test/contract/${name}`);
  return [unit, ofSubject].filter((files) => files.length > 0);
}

const running = new Set<number>();
process.once('exit', () => running.forEach(killGroup));

/** Runs a script of a tree, until it ends or takes too long. */
export async function runScript(tree: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  // A group of its own: a worker in an endless loop ends with it.
  const options = { cwd: tree, env: { ...process.env, ...env }, detached: true, stdio: 'ignore' } as const;
  const child = spawn(process.execPath, args, { ...options, timeout: limitMs, killSignal: 'SIGKILL' });
  const pid = child.pid ?? 0;
  running.add(pid);
  const [code, signal]: (number | string | null)[] = await once(child, 'exit');
  running.delete(pid);
  killGroup(pid);
  return { passed: code === 0, hangs: signal !== null };
}

/** Runs tests of a tree until the first failure. `args` of vitest. */
export async function runTests(tree: string, args: readonly string[]) {
  const temp = join(tree, 'temp');
  rmSync(temp, { recursive: true, force: true });
  mkdirSync(temp);
  const report = join(temp, 'report.xml');
  const options = ['--run', '--bail=1', '--reporter=junit', `--outputFile=${report}`];
  const excludes = blind.map((glob) => `--exclude=${glob}`);
  const words = ['node_modules/vitest/vitest.mjs', ...args, ...options, ...excludes];
  const { passed, hangs } = await runScript(tree, words, { TMPDIR: temp });
  const xml = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const name = args.join(' ');
  const [, file = name] = /<testsuite name="([^"]+)"[^>]* (?:failures|errors)="[1-9]/.exec(xml) ?? [];
  const [, title = ''] = /<testcase [^>]*\bname="([^"]*)"[^>]*>\s*<(?:failure|error)/.exec(xml) ?? [];
  /** `by`: the test file that failed, or what else ended it. `title`: of the test that failed. */
  return { passed, by: hangs ? `a hang of ${name}` : file, title };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
