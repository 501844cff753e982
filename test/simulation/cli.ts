/**
 * `npm run simulate -- --runs N`: so many runs from a fresh seed; `--seed S` from that one on; one run alone prints its trace.
 * `--mutants`: whether what must hold would be missed, if it did not.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { joinFirst } from '../../src/text/sentences.js';
import { sail } from './fleet.js';
import { violationsOf } from './invariants/index.js';
import { huntMutants } from './mutants/hunt.js';
import { simulate } from './simulate.js';
import { traceOf } from './trace.js';
import type { Finding } from './worker.js';

/** In so many runs each cell is to be reached so often; fewer say nothing of it. */
const enoughRuns = 200_000;
const leastInCell = 20;
const mostShown = 20;
const toldEvery = 10_000;
const workerScript = new URL('./worker.js', import.meta.url);

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '2' },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const runs = Number(values.runs);
const workers = Number(values.workers);

const isFine = values.mutants
  ? await huntMutants(workers, values.only)
  : runs === 1
    ? await replay()
    : await simulateMany();
process.exitCode = isFine ? 0 : 1;

async function replay(): Promise<boolean> {
  const temp = mkdtempSync(join(tmpdir(), 'simulation-'));
  try {
    const run = await simulate(seed, temp);
    const violations = violationsOf(run);
    console.log(traceOf(run));
    for (const violation of violations) console.log(`\n${violation}`);
    return violations.length === 0;
  } finally {
    rmSync(temp, { recursive: true });
  }
}

async function simulateMany(): Promise<boolean> {
  console.log(`Seeds ${seed} to ${seed + runs - 1}, ${workers} workers.`);
  const began = performance.now();
  const { coverage, findings } = await sail({
    from: seed,
    runs,
    workers,
    untilFound: false,
    script: workerScript,
    patience: 120_000,
    tell: signsOfLife(began),
  });
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${runs} runs in ${seconds.toFixed(1)} s.\n\n${coverage.table()}\n`);
  for (const { seed: found, violations } of findings.slice(0, mostShown)) {
    for (const violation of violations) console.log(violation);
    console.log(`  npm run simulate -- --seed ${found} --runs 1`);
  }
  const thin = runs < enoughRuns ? [] : coverage.thinnerThan(leastInCell);
  for (const cell of thin) console.log(`reached less than ${leastInCell} times: ${cell}`);
  console.log(`${findings.length} runs with violations, ${thin.length} cells too thin.`);
  return findings.length === 0 && thin.length === 0;
}

function signsOfLife(began: number): (done: number, findings: readonly Finding[]) => void {
  let told = began;
  return (done, findings) => {
    if (performance.now() - told < toldEvery) return;
    told = performance.now();
    const found =
      findings.length === 0 ? 'all clean' : `violations with ${joinFirst(findings.map(({ seed }) => String(seed)))}`;
    console.log(`${((told - began) / 1_000).toFixed(0)} s: ${done} runs, ${found}`);
  };
}
