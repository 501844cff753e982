/**
 * `npm run mutants`: whether the tests find the defects in `by-hand.txt`. `--only NAME` judges one of them. See CONTRIBUTING.md.
 */
import { parseArgs } from 'node:util';
import { byHand } from './by-hand.js';
import { Judge } from './judge.js';
import { buildTrees } from './tree.js';

const { values } = parseArgs({ options: { only: { type: 'string' }, workers: { type: 'string', default: '2' } } });
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const mutants = byHand.filter(({ name }) => values.only === undefined || name === values.only);
if (mutants.length === 0) throw new Error(`There is no mutant ${values.only}: by-hand.txt lists all.`);

const startedAt = performance.now();
const trees = buildTrees(Math.min(Number(values.workers), mutants.length));
const missed: string[] = [];
const queue = mutants.values();
await Promise.all(trees.map((tree) => judgeQueue(new Judge(tree))));

const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
console.log(`${mutants.length - missed.length} of ${mutants.length} mutants found in ${seconds} s.`);
if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
process.exit(missed.length > 0 ? 1 : 0);

async function judgeQueue(judge: Judge): Promise<void> {
  for (const mutant of queue) {
    const { isFound, lines } = await judge.judge(mutant);
    if (!isFound) missed.push(mutant.name);
    console.log([`${mutant.name} (${mutant.defect})`, ...lines].join('\n  '));
  }
}
