import { parentPort, workerData } from 'node:worker_threads';
import { cellsOf } from './coverage.js';
import { violationsOf } from './invariants/index.js';
import { simulate } from './simulate.js';

export interface Share {
  readonly from: number;
  readonly end: number;
  readonly every: number;
  readonly temp: string;
}

export interface Judged {
  readonly seed: number;
  readonly cells: ReadonlySet<string>;
  readonly violations: readonly string[];
}

// Stack traces of tens of thousands of errors that nobody sees cost time.
Error.stackTraceLimit = 0;

let unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`an unhandled rejection: ${reason}`));

const { from, end, every, temp }: Share = workerData;
for (let seed = from; seed < end; seed += every) {
  unhandled = [];
  parentPort?.postMessage(await judge(seed));
}

async function judge(seed: number): Promise<Judged> {
  try {
    const run = await simulate(seed, temp);
    return { seed, cells: cellsOf(run), violations: [...violationsOf(run), ...unhandled] };
  } catch (error) {
    return { seed, cells: new Set(), violations: [`the run did not end: ${error}`] };
  }
}
