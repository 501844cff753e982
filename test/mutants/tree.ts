import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SourceFile } from './generate.js';

/** A copy of the repository in which some sources are instrumented, compiled and bundled: one build for all mutants. */
export function buildTree(name: string, instrumented: readonly SourceFile[]): string {
  const folder = resolve('build', name);
  rmSync(folder, { recursive: true, force: true });
  for (const file of listFiles()) cpSync(file, join(folder, file), { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  for (const { name, content } of instrumented) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  for (const args of [
    ['node_modules/typescript/bin/tsc', '--noEmit', 'false', '--noCheck'],
    ['scripts/bundle.js', 'dist'],
  ])
    execFileSync(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

function listFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  const deleted = execFileSync('git', ['ls-files', '--deleted'], { encoding: 'utf8' }).split('\n');
  return listed.split('\n').filter((file) => file !== '' && !deleted.includes(file));
}
