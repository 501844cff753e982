import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** So many compiled copies of the repository. */
export function buildTrees(count: number): string[] {
  const [first = '', ...others] = Array.from({ length: count }, (_, n) => resolve('build', `mutant-tree-${n}`));
  for (const tree of [first, ...others]) rmSync(tree, { recursive: true, force: true });
  for (const file of listFiles()) cpSync(file, join(first, file), { recursive: true });
  symlinkSync(resolve('node_modules'), join(first, 'node_modules'));
  const compile = ['node_modules/typescript/bin/tsc', '--noEmit', 'false', '--noCheck'];
  execFileSync(process.execPath, compile, { cwd: first, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const tree of others) cpSync(first, tree, { recursive: true, verbatimSymlinks: true });
  return [first, ...others];
}

function listFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  return listed.split('\n').filter((file) => existsSync(file));
}
