/** `npm run worlds`: all small worlds of the nightly bounds. `-- --world JSON` runs one, and prints what it shows. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { nightly } from './bounds.js';
import { runWorld } from './judge.js';
import { search } from './search.js';

interface Report {
  readonly worlds: number;
  readonly found: readonly string[];
}

const maxShown = 10;
const reportEvery = 1_000;

if (isMainThread) await main();
else await searchShare(workerData);

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { world: { type: 'string' }, bound: { type: 'string' } } });
  if (values.world !== undefined) {
    const outcome = await runWorld(JSON.parse(values.world));
    console.log(JSON.stringify(outcome, null, 1).replace(/\n {3,}/g, ' '));
    process.exitCode = outcome.violation === undefined ? 0 : 1;
    return;
  }
  const names = Object.keys(nightly).filter((name) => name === (values.bound ?? name));
  let violations = 0;
  for (const name of names) violations += await searchAll(name);
  process.exitCode = violations === 0 ? 0 : 1;
}

async function searchAll(name: string): Promise<number> {
  const began = performance.now();
  const of = availableParallelism();
  let [worlds, found] = [0, 0];
  const workers = Array.from({ length: of }, async (_, index) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { name, index, of } });
    worker.on('message', (report: Report) => {
      worlds += report.worlds;
      for (const line of report.found) if (++found <= maxShown) console.log(line);
    });
    const [code] = await once(worker, 'exit');
    if (code !== 0) found++;
  });
  await Promise.all(workers);
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(`${name}: ${worlds} worlds in ${seconds} s, ${found} with violations.`);
  return found;
}

async function searchShare({
  name,
  ...share
}: {
  name: keyof typeof nightly;
  index: number;
  of: number;
}): Promise<void> {
  Error.stackTraceLimit = 0;
  let report: { worlds: number; found: string[] } = { worlds: 0, found: [] };
  const send = () => {
    parentPort?.postMessage(report satisfies Report);
    report = { worlds: 0, found: [] };
  };
  for await (const { world, violation } of search(nightly[name], share)) {
    if (violation !== undefined)
      report.found.push(`${violation}\n  npm run worlds -- --world '${JSON.stringify(world)}'`);
    if (++report.worlds >= reportEvery) send();
  }
  send();
}
