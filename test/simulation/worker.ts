import { parentPort, workerData } from 'node:worker_threads';
import { cellsOf } from './coverage.js';
import { violationsOf } from './invariants/index.js';
import { simulate } from './simulate.js';

/** Consecutive seeds. */
export interface Share {
  readonly from: number;
  readonly count: number;
  /** Whether the first violation ends the share. */
  readonly untilFound: boolean;
  /** A folder for the files of the runner. */
  readonly temp: string;
}

export type Findings = Awaited<ReturnType<typeof work>>;

// Stack traces of tens of thousands of errors that nobody sees cost time.
Error.stackTraceLimit = 0;

let unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`an unhandled rejection: ${reason}`));
parentPort?.postMessage(await work(workerData as Share));

async function work({ from, count, untilFound, temp }: Share) {
  const cells: string[] = [];
  const findings: { readonly seed: number; readonly violations: readonly string[] }[] = [];
  for (let seed = from; seed < from + count; seed++) {
    unhandled = [];
    const violations: string[] = [];
    try {
      const run = await simulate(seed, temp);
      cells.push(...cellsOf(run));
      violations.push(...violationsOf(run), ...unhandled);
    } catch (error) {
      violations.push(`the run did not end: ${error instanceof Error ? error.message : error}`);
    }
    if (violations.length > 0) findings.push({ seed, violations });
    if (violations.length > 0 && untilFound) break;
  }
  return { cells, findings };
}
