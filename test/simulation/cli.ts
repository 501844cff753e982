/**
 * `npm run simulate -- --runs N`: so many runs from a random seed; `--seed S` starts from that one, and `--until-found` ends soon
 * after the first violation. A single run prints its trace.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, workerData } from 'node:worker_threads';
import { type Finding, reportFindings, type Share, searchInWorkers } from './exhaustive.js';
import { violationsOf } from './judges/index.js';
import { simulate } from './simulate.js';
import { traceOf } from './trace.js';

interface Task {
  readonly seed: number;
  readonly runs: number;
  /** A folder for the files of the runner. */
  readonly temp: string;
}

if (isMainThread) process.exitCode = (await main()) ? 0 : 1;
else await reportFindings(findings(workerData), (seed) => `npm run simulate -- --seed ${seed} --runs 1`);

async function main(): Promise<boolean> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { seed: text, runs: { ...text, default: '20000' }, workers: text, 'until-found': { type: 'boolean' } },
  });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
  const runs = Number(values.runs);
  // Each run writes some files, so they are kept in memory if possible.
  const temp = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'simulation-'));
  process.once('exit', () => rmSync(temp, { recursive: true }));
  if (runs === 1) {
    const run = await simulate(seed, temp);
    const violations = violationsOf(run);
    console.log([traceOf(run), ...violations].join('\n\n'));
    return violations.length === 0;
  }
  const how = { of: Number(values.workers ?? 2), untilFound: values['until-found'] === true };
  return (
    (await searchInWorkers(`seeds ${seed} to ${seed + runs - 1}`, import.meta.url, { seed, runs, temp }, how)) === 0
  );
}

async function* findings({ seed: from, runs, temp, index, of }: Task & Share): AsyncGenerator<Finding<number>> {
  let unhandled: string[] = [];
  process.on('unhandledRejection', (reason) => unhandled.push(`an unhandled rejection: ${reason}`));
  for (let seed = from + index; seed < from + runs; seed += of) {
    unhandled = [];
    const found = await simulate(seed, temp).then(violationsOf, (error) => [`the run did not end: ${error}`]);
    const violations = [...found, ...unhandled];
    yield { world: seed, violation: violations.length === 0 ? undefined : violations.join('\n') };
  }
}
