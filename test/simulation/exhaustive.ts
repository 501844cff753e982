import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** A search of small worlds. `W`: a world, which is plain JSON. */
interface Search<W> {
  /** Of the command, which is a worker's, too. */
  readonly entry: string;
  /** `npm run` has this command. */
  readonly command: string;
  readonly bounds: readonly string[];
  readonly runWorld: (world: W) => Promise<Judged>;
  readonly search: (bound: string, share: Share) => AsyncIterable<Finding<W>>;
}

interface Judged {
  readonly violation: string | undefined;
}

export interface Finding<W> extends Judged {
  readonly world: W;
}

export interface Share {
  readonly index: number;
  readonly of: number;
}

interface Report {
  readonly worlds: number;
  readonly found: readonly string[];
}

/** Runs every `share.of`-th world, and then its troubles: worlds that depend on its outcome. */
export async function* searchWorlds<W, O extends Judged>(
  worlds: Iterable<W>,
  runWorld: (world: W) => Promise<O>,
  troublesOf: (world: W, outcome: O) => Iterable<W>,
  share: Share = { index: 0, of: 1 },
): AsyncGenerator<Finding<W>> {
  let index = 0;
  for (const world of worlds) {
    if (index++ % share.of !== share.index) continue;
    const outcome = await runWorld(world);
    yield { world, violation: outcome.violation };
    for (const troubled of troublesOf(world, outcome)) {
      const { violation } = await runWorld(troubled);
      yield { world: troubled, violation };
    }
  }
}

export async function violationsIn<W>(findings: AsyncIterable<Finding<W>>): Promise<string[]> {
  const violations: string[] = [];
  for await (const { world, violation } of findings)
    if (violation !== undefined) violations.push(`${violation}: ${JSON.stringify(world)}`);
  return violations;
}

const maxShown = 10;
const reportEvery = 500;
/** A worker that reports nothing for so long hangs, also on a busy machine. */
const limitMs = 300_000;

/** The command of a search: all bounds, `--bound NAME` for one of them, or `--world JSON` for one world. */
export async function runSearch<W>({ entry, command, bounds, runWorld, search }: Search<W>): Promise<void> {
  if (!isMainThread) {
    const { bound, ...share } = workerData;
    return reportFindings(search(bound, share), (world) => `npm run ${command} -- --world '${JSON.stringify(world)}'`);
  }
  const { values } = parseArgs({ options: { world: { type: 'string' }, bound: { type: 'string' } } });
  if (values.world !== undefined) {
    const outcome = await runWorld(JSON.parse(values.world));
    console.log(JSON.stringify(outcome, null, 1).replace(/\n {3,}/g, ' '));
    process.exitCode = outcome.violation === undefined ? 0 : 1;
    return;
  }
  let violations = 0;
  for (const bound of bounds)
    if (bound === (values.bound ?? bound)) violations += await searchInWorkers(bound, entry, { bound });
  process.exitCode = violations === 0 ? 0 : 1;
}

/** Returns how many worlds have violations. `data`: for each worker, with its share. */
export async function searchInWorkers(
  name: string,
  entry: string,
  data: object,
  { of = availableParallelism(), untilFound = false } = {},
): Promise<number> {
  const began = performance.now();
  let [worlds, found] = [0, 0];
  const workers = Array.from({ length: of }, async (_, index) => {
    const worker = new Worker(new URL(entry), { workerData: { ...data, index, of } });
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
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(`${name}: ${worlds} worlds in ${seconds} s, ${found} with violations.`);
  return found;
}

/** Of a worker. `again`: the command that runs a world once more. */
export async function reportFindings<W>(findings: AsyncIterable<Finding<W>>, again: (world: W) => string) {
  Error.stackTraceLimit = 0;
  let worlds = 0;
  const send = (found: string[]) => {
    parentPort?.postMessage({ worlds, found } satisfies Report);
    worlds = 0;
  };
  for await (const { world, violation } of findings) {
    worlds++;
    if (violation !== undefined) send([`${violation}\n  ${again(world)}`]);
    else if (worlds >= reportEvery) send([]);
  }
  send([]);
}
