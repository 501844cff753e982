/**
 * `npm run mutants`: whether the tests find small defects of all sources, drawn from a seed. See CONTRIBUTING.md.
 * `--sample SECONDS`: begins with mutants at random until the time is up. `--resume`: keeps what the last run found.
 * `--by-hand`: judges the mutants written by hand instead; `--only NAME`: one of them.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pMap from 'p-map';
import { equivalents } from './equivalent.js';
import { byRank, draw, generate, type Mutant, readSources, switchable } from './generate.js';
import { Judge, type Judgement } from './judge.js';
import { judgeByHand } from './judge-by-hand.js';
import { testsOf } from './test-runner.js';
import { buildTree } from './tree.js';

type Result = Mutant & Judgement;

const resultsFile = 'build/mutants.jsonl';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    file: { type: 'string' },
    sample: { type: 'string' },
    resume: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    'by-hand': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const workers = Number(values.workers);
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
if (values['by-hand']) process.exit((await judgeByHand(values.only, workers)) ? 0 : 1);

const files = readSources('src').filter(({ name }) => values.file === undefined || name === values.file);
const mutants = await generate(files, Number(values.seed));
if (!values.resume) rmSync(resultsFile, { force: true });
const known = new Map(readResults().map((result) => [result.rank, result]));
const drawn = byRank(draw(mutants, files));
const open = drawn.filter((mutant) => known.get(mutant.rank)?.verdict !== 'found' && !isExplained(mutant));
console.log(`${drawn.length} mutants of ${mutants.length} drawn with seed ${values.seed}, ${open.length} to judge.`);

const judge = new Judge<Mutant>(buildTree('mutant-tree', await switchable(files, drawn)), (mutant) => ({
  __STRYKER_ACTIVE_MUTANT__: mutant?.rank ?? '',
}));
const began = performance.now();
const endsAt = began + Number(values.sample ?? Number.POSITIVE_INFINITY) * 1_000;
let done = 0;
// Ranks are hashes, so the mutants stand in no order. A sample begins anywhere.
const first = values.sample === undefined ? 0 : Math.floor(Math.random() * open.length);
await pMap([...open.slice(first), ...open.slice(0, first)], judgeOne, { concurrency: workers });

const results = drawn.flatMap((mutant) => known.get(mutant.rank) ?? []);
const found = results.filter(({ verdict }) => verdict === 'found');
const survivors = results.filter((result) => result.verdict === 'survived' && !isExplained(result));
const undecided = results.filter(({ verdict }) => verdict === 'undecided');
for (const { file, line, kind, source, change } of survivors)
  console.log(`\n${file}:${line} survived (${kind})\n  ${source}\n  ${change}`);
for (const { file, line, change, by } of undecided) console.log(`\n${file}:${line} undecided: ${by}\n  ${change}`);
console.log(
  `\n${drawn.length} drawn: ${found.length} found, ${survivors.length} survived, ${undecided.length} undecided, ` +
    `${drawn.filter(isExplained).length} equivalent, ${open.length - done} not judged.`,
);
// A busy machine leaves mutants undecided. In a sample, only a survivor is a failure.
const problems = values.sample === undefined ? [...survivors, ...undecided] : survivors;
process.exit(problems.length > 0 ? 1 : 0);

async function judgeOne(mutant: Mutant): Promise<void> {
  if (performance.now() > endsAt) return;
  const judgement = await judgementOf(mutant);
  const result: Result = { ...mutant, ...judgement };
  known.set(mutant.rank, result);
  appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
  done++;
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(`${seconds} s, ${done} of ${open.length}: ${mutant.file}:${mutant.line} ${result.verdict}, ${result.by}`);
}

async function judgementOf(mutant: Mutant): Promise<Judgement> {
  // It takes a second, and finds every other one.
  if (await judge.isFoundBySimulation(mutant, 500)) return { verdict: 'found', by: 'simulation' };
  const { file } = mutant;
  // Processes load the bundle, so they wait until later.
  const related = ['related', file, '--exclude=test/processes/**'];
  return judge.judge(mutant, [...testsOf(file), related, ['run']]);
}

function readResults(): Result[] {
  const lines = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as Result);
}

function isExplained({ file, source, change }: Mutant): boolean {
  return equivalents.some((entry) => entry.file === file && entry.source === source && entry.change === change);
}
