import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'vitest';
import { Child } from '../runner/child.js';
import { ActLog } from './act-log.js';
import { actFile, actionFolder } from './places.js';

export interface ActOptions {
  /** Path of the workflow; the repository holds it as it stands. */
  readonly workflow: string;
  /** `push` when not given. */
  readonly event?: string | undefined;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly vars?: Readonly<Record<string, string>>;
  /** More files of the repository; all of them can be run. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface ActRun {
  readonly succeeded: boolean;
  readonly log: ActLog;
}

const limitMs = 50_000;

/** One run of a workflow in act, on this machine, in folders of its own. */
export async function runAct({ onTestFinished, onTestFailed }: TestContext, options: ActOptions): Promise<ActRun> {
  const root = mkdtempSync(join(tmpdir(), 'ctl-action-e2e-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const log = new ActLog();
  onTestFailed(() => console.log(log.text));

  const act = new Child({
    file: actFile,
    args: argumentsOf(options),
    cwd: writeRepository(join(root, 'repository'), options),
    env: environmentIn(root),
    onLine: ({ text }) => log.add(text),
  });
  onTestFinished(() => act.kill('SIGKILL'));
  const tooLong = setTimeout(() => act.kill('SIGKILL'), limitMs);
  const { exitCode } = await act.ended;
  clearTimeout(tooLong);
  return { succeeded: exitCode === 0, log };
}

function argumentsOf({ event = 'push', secrets, vars }: ActOptions): string[] {
  const pairs = (flag: string, record: Readonly<Record<string, string>> = {}) =>
    Object.entries(record).flatMap(([name, value]) => [flag, `${name}=${value}`]);
  return [
    event,
    '--json',
    '--no-cache-server',
    ...['--local-repository', `org/ctl-action@v1=${actionFolder}`],
    ...['--platform', 'ubuntu-latest=-self-hosted'],
    ...pairs('--secret', secrets),
    ...pairs('--var', vars),
  ];
}

/** A checkout of acme/shop, as far as act looks at it. */
function writeRepository(folder: string, { workflow, files }: ActOptions): string {
  const all = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/refs/heads/main': '0123456789abcdef0123456789abcdef01234567\n',
    '.git/config': '[remote "origin"]\n\turl = https://github.com/acme/shop\n',
    '.git/objects/.keep': '',
    [`.github/workflows/${basename(workflow)}`]: readFileSync(workflow, 'utf8'),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o755 });
  }
  return folder;
}

/** Neither the settings nor the caches of whoever runs this; and the Node that the bundle is to be tried on. */
function environmentIn(root: string): Record<string, string> {
  const bin = join(root, 'bin');
  const home = join(root, 'home');
  for (const folder of [bin, home]) mkdirSync(folder);
  symlinkSync(process.env['NODE_OF_BUNDLE'] ?? process.execPath, join(bin, 'node'));
  return {
    PATH: [bin, process.env['PATH']].join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TMPDIR: home,
  };
}
