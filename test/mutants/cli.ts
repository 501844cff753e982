/**
 * `npm run mutants`: whether the tests find the defects in `by-hand.txt`. `--only NAME` judges one of them. See CONTRIBUTING.md.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { byHand, mutated } from './by-hand.js';

const { values } = parseArgs({ options: { only: { type: 'string' }, workers: { type: 'string', default: '2' } } });
const simulatedRuns = 20_000;
const limitMs = 20 * 60_000;

const mutants = byHand.filter(({ name }) => values.only === undefined || name === values.only);
if (mutants.length === 0) throw new Error(`There is no mutant ${values.only}: by-hand.txt lists all.`);
// Throws for a mutant that does not apply.
for (const mutant of mutants) mutated(mutant);

const running = new Set<number>();
process.once('exit', () => running.forEach(killGroup));
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const trees = buildTrees(Math.min(Number(values.workers), mutants.length));
/** What passes without a mutant. */
const sound = new Set<string>();
const missed: string[] = [];
const queue = mutants.values();
await Promise.all(trees.map(judgeQueue));
console.log(`${mutants.length - missed.length} of ${mutants.length} mutants found.`);
if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
process.exit(missed.length > 0 ? 1 : 0);

async function judgeQueue(tree: string): Promise<void> {
  for (const mutant of queue) {
    const { name, defect, file, isSimulated } = mutant;
    const path = join(tree, file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(mutant));
    const test = (await failingTest(tree, 'test/unit')) ?? (await failingTest(tree, 'test/contract'));
    const passes = isSimulated && (await simulationPasses(tree));
    writeFileSync(path, original);
    if (test !== undefined && !sound.has(test.file) && (await failingTest(tree, test.file)))
      throw new Error(`${test.file} fails without a mutant.`);
    if (isSimulated && !sound.has('simulation') && !(await simulationPasses(tree)))
      throw new Error('The simulation fails without a mutant.');
    if (test !== undefined) sound.add(test.file);
    if (isSimulated) sound.add('simulation');
    if (test === undefined || passes) missed.push(name);
    const by = test === undefined ? 'SURVIVED the tests' : `${test.file}: ${test.title}`;
    console.log([`${name} (${defect})`, by, ...(passes ? ['SURVIVED the simulation'] : [])].join('\n  '));
  }
}

/** Runs tests until the first one fails. Tells which. */
async function failingTest(tree: string, suite: string) {
  const report = join(tree, 'build', 'tests.json');
  rmSync(report, { force: true });
  if (await runScript(tree, ['node_modules/vitest/vitest.mjs', suite, '--run', '--bail=1'])) return undefined;
  if (!existsSync(report)) return { file: suite, title: 'it hangs' };
  const { testResults }: Report = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults.find(({ status }) => status === 'failed');
  const title = failed?.assertionResults.find(({ status }) => status === 'failed')?.title ?? 'it does not load';
  return { file: failed === undefined ? suite : relative(tree, failed.name), title };
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

function simulationPasses(tree: string): Promise<boolean> {
  compile(tree);
  const options = ['--seed', '1', '--runs', String(simulatedRuns), '--workers', '1', '--until-found'];
  return runScript(tree, ['build/test/simulation/cli.js', ...options]);
}

/** Runs a script of a tree until it ends or takes too long. Tells whether it succeeded. */
async function runScript(cwd: string, args: readonly string[]): Promise<boolean> {
  // A group of its own: a worker in an endless loop ends with it.
  const options = { cwd, detached: true, stdio: 'ignore' } as const;
  const child = spawn(process.execPath, args, { ...options, timeout: limitMs, killSignal: 'SIGKILL' });
  const pid = child.pid ?? 0;
  running.add(pid);
  const [code] = await once(child, 'exit');
  running.delete(pid);
  killGroup(pid);
  return code === 0;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** So many compiled copies of the repository. */
function buildTrees(count: number): string[] {
  const all = Array.from({ length: count }, (_, n) => resolve('build', `mutant-tree-${n}`));
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  const files = listed.split('\n').filter((path) => existsSync(path));
  for (const tree of all) {
    rmSync(tree, { recursive: true, force: true });
    for (const file of files) cpSync(file, join(tree, file));
    symlinkSync(resolve('node_modules'), join(tree, 'node_modules'));
    compile(tree);
  }
  return all;
}

function compile(cwd: string): void {
  const args = ['node_modules/typescript/bin/tsc', '--noEmit', 'false', '--noCheck'];
  execFileSync(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
