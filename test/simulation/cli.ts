/**
 * `npm run simulate -- --runs N`: so many runs from a random seed; `--seed S` starts from that one, and `--until-found` ends soon
 * after the first violation. A single run prints its trace.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { cells } from './coverage.js';
import { simulate } from './simulate.js';
import { showRun } from './trace.js';
import type { Judged, Share } from './worker.js';

/** Fewer runs say nothing about the count of a cell: the rarest is reached about 20 times in 200,000. */
const enoughRuns = 500_000;
const minInCell = 20;
const maxShown = 20;
/** A run that takes longer hangs, also on a busy machine. */
const limitMs = 120_000;
const progressEvery = 10_000;

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    seed: text,
    runs: { ...text, default: '20000' },
    workers: { ...text, default: '2' },
    'until-found': { type: 'boolean' },
  },
});
const workers = Number(values.workers);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const runs = Number(values.runs);
/** Each run writes some files, so they are kept in memory if possible. */
const temp = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'simulation-'));
process.once('exit', () => rmSync(temp, { recursive: true }));

process.exitCode = (runs === 1 ? showRun(await simulate(seed, temp)) : await simulateMany()) ? 0 : 1;

async function simulateMany(): Promise<boolean> {
  console.log(`Seeds ${seed} to ${seed + runs - 1}, ${workers} workers.`);
  const counts = new Map<string, number>();
  let [done, found] = [0, 0];
  const take = ({ seed: at, cells, violations }: Judged) => {
    for (const cell of cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
    if (violations.length > 0 && ++found <= maxShown)
      console.log([...violations, `  npm run simulate -- --seed ${at} --runs 1`].join('\n'));
    if (++done % progressEvery === 0) console.log(`${done} runs, ${found} with violations`);
    return values['until-found'] === true && found > 0;
  };
  const shares = Array.from({ length: workers }, (_, index) => seed + index);
  await Promise.all(shares.map((from) => runShare({ from, end: seed + runs, every: workers, temp }, take)));
  const reached = cells.filter((cell) => counts.has(cell)).length;
  console.log(`${done} runs in ${(performance.now() / 1_000).toFixed(1)} s reach ${reached} of ${cells.length} cells.`);
  const thin = runs < enoughRuns ? [] : cells.filter((cell) => (counts.get(cell) ?? 0) < minInCell);
  for (const cell of thin) console.log(`reached less than ${minInCell} times: ${cell}`);
  console.log(`${found} runs with violations, ${thin.length} cells with too few runs.`);
  return found === 0 && thin.length === 0;
}

/** `take`: returns whether that was enough. */
async function runShare(share: Share, take: (judged: Judged) => boolean): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: share });
  let next = share.from;
  const timer = setTimeout(() => {
    take({ seed: next, cells: new Set(), violations: ['the run does not end'] });
    void worker.terminate();
  }, limitMs);
  worker.on('message', (judged: Judged) => {
    next = judged.seed + share.every;
    timer.refresh();
    if (take(judged)) void worker.terminate();
  });
  await once(worker, 'exit').finally(() => clearTimeout(timer));
}
