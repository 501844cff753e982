/**
 * `npm run simulate -- --runs N`: so many runs from a random seed; `--seed S` starts from that one. A single run prints its
 * trace.
 */
import { parseArgs } from 'node:util';
import { Job } from '../runner/job.js';
import { cells } from './coverage.js';
import { runMany } from './run-many.js';
import { simulate } from './simulate.js';
import { showRun } from './trace.js';

/** Fewer runs say nothing about the count of a cell: the rarest is reached about 20 times in 200,000. */
const enoughRuns = 500_000;
const minInCell = 20;
const maxShown = 20;
const progressEvery = 10_000;
const workers = 2;

const { values } = parseArgs({ options: { seed: { type: 'string' }, runs: { type: 'string', default: '20000' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const runs = Number(values.runs);

process.exitCode = (await (runs === 1 ? simulateOne() : simulateMany())) ? 0 : 1;

async function simulateOne(): Promise<boolean> {
  const job = new Job();
  try {
    return showRun(await simulate(seed, job.temp));
  } finally {
    job.dispose();
  }
}

async function simulateMany(): Promise<boolean> {
  console.log(`Seeds ${seed} to ${seed + runs - 1}, ${workers} workers.`);
  let shown = 0;
  const { counts, findings } = await runMany({
    from: seed,
    runs,
    workers,
    untilFound: false,
    onProgress: (done, found) => {
      for (const { seed: at, violations } of found.slice(shown, maxShown))
        console.log([...violations, `  npm run simulate -- --seed ${at} --runs 1`].join('\n'));
      shown = found.length;
      if (done % progressEvery === 0) console.log(`${done} runs, ${found.length} with violations`);
    },
  });
  const reached = cells.filter((cell) => counts.has(cell)).length;
  console.log(`${runs} runs in ${(performance.now() / 1_000).toFixed(1)} s reach ${reached} of ${cells.length} cells.`);
  const thin = runs < enoughRuns ? [] : cells.filter((cell) => (counts.get(cell) ?? 0) < minInCell);
  for (const cell of thin) console.log(`reached less than ${minInCell} times: ${cell}`);
  console.log(`${findings.length} runs with violations, ${thin.length} cells with too few runs.`);
  return findings.length === 0 && thin.length === 0;
}
