/**
 * `npm run simulate -- --runs N`: so many runs from a random seed; `--seed S` starts from that one, and `--until-found` ends soon
 * after the first violation. A single run prints its trace.
 * `npm run worlds`: all small worlds of the nightly bounds, or `--bound NAME`. `--world JSON` prints the trace of one.
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { nightly } from './bounds.js';
import { violationsOf } from './judges/index.js';
import type { Run } from './record.js';
import { type Finding, type Share, search } from './search.js';
import { play, simulate } from './simulate.js';
import { traceOf } from './trace.js';
import { sceneOf } from './worlds.js';

/** `temp`: a folder for the files of the runner. */
type Task = { readonly temp: string } & ({ readonly seed: number; readonly runs: number } | { readonly bound: string });

/** A worker tells how many worlds it has run since it last told, and what it found. */
interface Report {
  readonly worlds: number;
  readonly found: readonly string[];
}

const maxShown = 10;
const reportEvery = 500;
/** A worker that reports nothing for so long hangs, also on a busy machine. */
const limitMs = 300_000;

if (isMainThread) process.exitCode = (await main()) ? 0 : 1;
else await reportFindings(findings(workerData));

async function main(): Promise<boolean> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: { seed: text, runs: text, workers: text, 'until-found': flag, worlds: flag, bound: text, world: text },
  });
  const { seed = String(Math.floor(Math.random() * 2 ** 30)), runs = '20000', bound, world } = values;
  // Each run writes some files, so they are kept in memory if possible.
  const temp = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'simulation-'));
  process.once('exit', () => rmSync(temp, { recursive: true }));
  if (world !== undefined) return trace(await play(sceneOf(JSON.parse(world)), temp));
  if (runs === '1') return trace(await simulate(Number(seed), temp));
  const how = { of: Number(values.workers ?? availableParallelism()), untilFound: values['until-found'] };
  if (!values.worlds) return runTask({ seed: Number(seed), runs: Number(runs), temp }, how);
  const names = Object.keys(nightly).filter((name) => name === (bound ?? name));
  if (names.length === 0) throw new Error(`There is no bound ${bound}.`);
  let isClean = true;
  for (const name of names) isClean = (await runTask({ bound: name, temp }, how)) && isClean;
  return isClean;
}

function trace(run: Run): boolean {
  const violations = violationsOf(run);
  console.log([traceOf(run), ...violations].join('\n\n'));
  return violations.length === 0;
}

async function runTask(task: Task, { of, untilFound }: { of: number; untilFound: boolean }): Promise<boolean> {
  const began = performance.now();
  let [worlds, found] = [0, 0];
  const workers = Array.from({ length: of }, async (_, index) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { ...task, index, of } });
    const timer = setTimeout(() => void worker.terminate(), limitMs);
    worker.on('message', (report: Report) => {
      timer.refresh();
      worlds += report.worlds;
      for (const line of report.found) if (++found <= maxShown) console.log(line);
      if (untilFound && found > 0) void worker.terminate();
    });
    const [code] = await once(worker, 'exit');
    clearTimeout(timer);
    if (code !== 0 && found === 0) {
      found++;
      console.log(`Worker ${index} of ${of} hangs, or has crashed.`);
    }
  });
  await Promise.all(workers);
  const name = 'bound' in task ? task.bound : `seeds ${task.seed} to ${task.seed + task.runs - 1}`;
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(`${name}: ${worlds} runs in ${seconds} s, ${found} with violations.`);
  return worlds > 0 && found === 0;
}

async function* findings(task: Task & Share): AsyncGenerator<Finding> {
  const { temp, index, of } = task;
  const bound = 'bound' in task ? nightly[task.bound] : undefined;
  if (bound !== undefined) yield* search(bound, temp, { index, of });
  if ('bound' in task) return;
  for (let seed = task.seed + index; seed < task.seed + task.runs; seed += of) {
    const violations = await simulate(seed, temp).then(violationsOf, (error) => [`the run did not end: ${error}`]);
    yield { violations, again: `npm run simulate -- --seed ${seed} --runs 1` };
  }
}

async function reportFindings(all: AsyncIterable<Finding>): Promise<void> {
  Error.stackTraceLimit = 0;
  let unhandled: string[] = [];
  process.on('unhandledRejection', (reason) => unhandled.push(`an unhandled rejection: ${reason}`));
  let worlds = 0;
  const send = (found: string[]) => {
    parentPort?.postMessage({ worlds, found } satisfies Report);
    worlds = 0;
  };
  for await (const { violations, again } of all) {
    worlds++;
    const found = [...violations, ...unhandled];
    unhandled = [];
    if (found.length > 0) send([[...found, `  ${again}`].join('\n')]);
    else if (worlds >= reportEvery) send([]);
  }
  send([]);
}
