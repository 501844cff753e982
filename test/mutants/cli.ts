/**
 * `npm run mutants`: whether the tests find the defects in `by-hand.txt`. `--only NAME` judges one of them. See CONTRIBUTING.md.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { byHand, mutated } from './by-hand.js';
import { judgeIn } from './judge.js';

const { values } = parseArgs({ options: { only: { type: 'string' }, workers: { type: 'string', default: '2' } } });
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const mutants = byHand.filter(({ name }) => values.only === undefined || name === values.only);
if (mutants.length === 0) throw new Error(`There is no mutant ${values.only}: by-hand.txt lists all.`);
// Throws for a mutant that does not apply.
for (const mutant of mutants) mutated(mutant);

const startedAt = performance.now();
const trees = buildTrees(Math.min(Number(values.workers), mutants.length));
const missed: string[] = [];
const queue = mutants.values();
await Promise.all(trees.map((tree) => judgeQueue(judgeIn(tree))));

const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
console.log(`${mutants.length - missed.length} of ${mutants.length} mutants found in ${seconds} s.`);
if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
process.exit(missed.length > 0 ? 1 : 0);

async function judgeQueue(judge: ReturnType<typeof judgeIn>): Promise<void> {
  for (const mutant of queue) {
    const { isFound, lines } = await judge(mutant);
    if (!isFound) missed.push(mutant.name);
    console.log([`${mutant.name} (${mutant.defect})`, ...lines].join('\n  '));
  }
}

/** So many compiled copies of the repository. */
function buildTrees(count: number): string[] {
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
