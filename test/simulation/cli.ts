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
import pLimit from 'p-limit';
import { cells } from './coverage.js';
import { simulate } from './simulate.js';
import { showRun } from './trace.js';
import type { Findings, Share } from './worker.js';

/** Fewer runs say nothing about the count of a cell: the rarest is reached about 20 times in 200,000. */
const enoughRuns = 500_000;
const minInCell = 20;
const maxShown = 20;
const shareSize = 1_000;
/** A share that takes longer hangs. */
const limitMs = 600_000;
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
const { workers, 'until-found': untilFound = false } = values;
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const runs = Number(values.runs);
/** Each run writes some files, so they are kept in memory if possible. */
const temp = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'simulation-'));
process.once('exit', () => rmSync(temp, { recursive: true }));

process.exitCode = (runs === 1 ? showRun(await simulate(seed, temp)) : await simulateMany()) ? 0 : 1;

/** On several threads. Counts the runs that reach each cell. */
async function simulateMany(): Promise<boolean> {
  console.log(`Seeds ${seed} to ${seed + runs - 1}, ${workers} workers.`);
  const counts = new Map<string, number>();
  let [done, found] = [0, 0];
  const shares = Array.from({ length: Math.ceil(runs / shareSize) }, (_, index): Share => {
    const before = index * shareSize;
    return { from: seed + before, count: Math.min(shareSize, runs - before), untilFound, temp };
  });
  const work = async (share: Share) => {
    if (untilFound && found > 0) return;
    const result = await runShare(share);
    for (const cell of result.cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
    for (const { seed: at, violations } of result.findings.slice(0, Math.max(0, maxShown - found)))
      console.log([...violations, `  npm run simulate -- --seed ${at} --runs 1`].join('\n'));
    found += result.findings.length;
    done += share.count;
    if (done % progressEvery === 0) console.log(`${done} runs, ${found} with violations`);
  };
  await pLimit(Number(workers)).map(shares, work);
  const reached = cells.filter((cell) => counts.has(cell)).length;
  console.log(`${runs} runs in ${(performance.now() / 1_000).toFixed(1)} s reach ${reached} of ${cells.length} cells.`);
  const thin = runs < enoughRuns ? [] : cells.filter((cell) => (counts.get(cell) ?? 0) < minInCell);
  for (const cell of thin) console.log(`reached less than ${minInCell} times: ${cell}`);
  console.log(`${found} runs with violations, ${thin.length} cells with too few runs.`);
  return found === 0 && thin.length === 0;
}

async function runShare(share: Share): Promise<Findings> {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: share });
  try {
    const [findings] = await once(worker, 'message', { signal: AbortSignal.timeout(limitMs) });
    return findings;
  } catch (error) {
    const violations = [`a run up to seed ${share.from + share.count - 1} does not end: ${error}`];
    return { cells: [], findings: [{ seed: share.from, violations }] };
  } finally {
    await worker.terminate();
  }
}
