import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pMap from 'p-map';
import { byHand, type MutantByHand, mutated } from './by-hand.js';
import { Judge, type Switch } from './judge.js';
import { testsOf } from './test-runner.js';
import { buildTree } from './tree.js';

/** These run from the sources. `linear-time` measures real time, which depends on the machine. */
const fromSource = ['run', 'test/contract', 'test/unit', '--exclude=test/unit/linear-time.test.ts'];
const simulatedRuns = 20_000;

/** Judges each mutant in a copy of the tree. Returns true if the tests find all, and the simulation those that it must find. */
export async function judgeByHand(only: string | undefined, workers: number): Promise<boolean> {
  const chosen = byHand.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) {
    console.log(`There is no mutant ${only}: by-hand.txt lists all.`);
    return false;
  }
  const startedAt = performance.now();
  const first = buildTree('by-hand-0', []);
  const trees = Array.from({ length: Math.min(workers, chosen.length) }, (_, n) => first.replace(/0$/, String(n)));
  for (const tree of trees.slice(1)) cpSync(first, tree, { recursive: true, verbatimSymlinks: true });
  const judges = trees.map((tree) => new Judge(tree, switchIn(tree)));
  const missed: string[] = [];
  await pMap(
    chosen,
    async (mutant) => {
      const judge = judges.pop();
      if (judge === undefined) throw new Error('There are more workers than trees.');
      const problems = await problemsOf(mutant, judge);
      judges.push(judge);
      if (problems.length > 0) missed.push(mutant.name);
    },
    { concurrency: trees.length },
  );
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${chosen.length - missed.length} of ${chosen.length} mutants found in ${seconds} s.`);
  if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
  return missed.length === 0;
}

async function problemsOf(mutant: MutantByHand, judge: Judge<MutantByHand>): Promise<string[]> {
  const { name, defect, file, isSimulated } = mutant;
  const { verdict, by, title } = await judge.judge(mutant, [...testsOf(file), fromSource]);
  const isMissed = isSimulated && !(await judge.isFoundBySimulation(mutant, simulatedRuns));
  const problems = [
    ...(verdict === 'found' ? [] : [`${verdict.toUpperCase()}: ${by}`]),
    ...(isMissed ? [`NOT FOUND in ${simulatedRuns} simulated runs`] : []),
  ];
  console.log([`${name} (${defect})`, ...(problems.length > 0 ? problems : [`${by}: ${title}`])].join('\n  '));
  return problems;
}

/** Replaces the source, and what was compiled from it. */
function switchIn(tree: string): Switch<MutantByHand> {
  let active: MutantByHand | undefined;
  return (mutant) => {
    if (mutant === active) return {};
    if (active !== undefined) write(active, mutated({ ...active, by: active.replace }));
    if (mutant !== undefined) write(mutant, mutated(mutant));
    active = mutant;
    return {};
  };

  function write({ file, isSimulated }: MutantByHand, content: string): void {
    writeFileSync(join(tree, file), content);
    if (!isSimulated) return;
    const options = '--ignoreConfig --noCheck --noResolve --module nodenext --target es2023 --types node'.split(' ');
    execFileSync('npx', ['tsc', ...options, '--rootDir', '.', '--outDir', 'build', file], {
      cwd: tree,
      stdio: 'inherit',
    });
  }
}
