import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** So many compiled copies of the repository. */
export function buildTrees(count: number): string[] {
  const trees = Array.from({ length: count }, (_, n) => resolve('build', `mutant-tree-${n}`));
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
  const [first = '', ...others] = trees;
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of listed.split('\n').filter((path) => existsSync(path))) cpSync(file, join(first, file));
  symlinkSync(resolve('node_modules'), join(first, 'node_modules'));
  const compile = ['node_modules/typescript/bin/tsc', '--noEmit', 'false', '--noCheck'];
  execFileSync(process.execPath, compile, { cwd: first, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const tree of others) cpSync(first, tree, { recursive: true, verbatimSymlinks: true });
  return trees;
}
