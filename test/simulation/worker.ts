import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage.js';
import { violationsOf } from './invariants/index.js';
import { simulate } from './simulate.js';

/** Consecutive seeds. */
export interface Share {
  readonly from: number;
  readonly count: number;
  /** Whether the first violation ends the share. */
  readonly untilFound: boolean;
}

export interface Finding {
  readonly seed: number;
  readonly violations: readonly string[];
}

export interface Done {
  readonly share: Share;
  readonly cells: readonly (readonly [string, number])[];
  readonly findings: readonly Finding[];
}

// Stack traces of tens of thousands of errors that nobody sees cost time.
Error.stackTraceLimit = 0;

const { temp } = workerData as { readonly temp: string };
let unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`an unhandled rejection: ${reason}`));

parentPort?.on('message', async (share: Share) => parentPort?.postMessage(await work(share)));

async function work(share: Share): Promise<Done> {
  const coverage = new Coverage();
  const findings: Finding[] = [];
  for (let seed = share.from; seed < share.from + share.count; seed++) {
    const violations = await violationsIn(seed, coverage);
    if (violations.length === 0) continue;
    findings.push({ seed, violations });
    if (share.untilFound) break;
  }
  return { share, cells: coverage.counts, findings };
}

async function violationsIn(seed: number, coverage: Coverage): Promise<string[]> {
  unhandled = [];
  try {
    const run = await simulate(seed, temp);
    coverage.count(run);
    return [...violationsOf(run), ...unhandled];
  } catch (error) {
    return [`the run did not end: ${error instanceof Error ? error.message : error}`];
  }
}
