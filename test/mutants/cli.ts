/**
 * `npm run mutants`: whether the tests find the defects in `by-hand.txt`. `--only NAME` judges one of them. See CONTRIBUTING.md.
 */
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { byHand, type Mutant } from './by-hand.js';
import { Judge } from './judge.js';
import { buildTrees } from './tree.js';

const { values } = parseArgs({ options: { only: { type: 'string' }, workers: { type: 'string', default: '2' } } });
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const mutants = byHand.filter(({ name }) => values.only === undefined || name === values.only);
if (mutants.length === 0) throw new Error(`There is no mutant ${values.only}: by-hand.txt lists all.`);

const startedAt = performance.now();
const judges = buildTrees(Math.min(Number(values.workers), mutants.length)).map((tree) => new Judge(tree));
const missed: string[] = [];
await pLimit(judges.length).map(mutants, judgeOne);

const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
console.log(`${mutants.length - missed.length} of ${mutants.length} mutants found in ${seconds} s.`);
if (missed.length > 0) console.log(`Not found: ${missed.join(', ')}.`);
process.exit(missed.length > 0 ? 1 : 0);

async function judgeOne(mutant: Mutant): Promise<void> {
  const judge = judges.pop();
  if (judge === undefined) throw new Error('There are more workers than trees.');
  const { isFound, lines } = await judge.judge(mutant);
  judges.push(judge);
  if (!isFound) missed.push(mutant.name);
  console.log([`${mutant.name} (${mutant.defect})`, ...lines].join('\n  '));
}
