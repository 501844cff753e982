import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage.js';
import { violationsOf } from './invariants/index.js';
import { simulate } from './simulate.js';

/** Seeds that follow each other. */
export interface Share {
  readonly from: number;
  readonly count: number;
  /** Whether the first finding is enough. */
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

// Tens of thousands of errors are made and never shown.
Error.stackTraceLimit = 0;

const { temp } = workerData as { readonly temp: string };
let unheard: string[] = [];
process.on('unhandledRejection', (reason) => unheard.push(`nobody heard of a rejection: ${reason}`));

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
  return { share, cells: coverage.cells, findings };
}

async function violationsIn(seed: number, coverage: Coverage): Promise<string[]> {
  unheard = [];
  try {
    const run = await simulate(seed, temp);
    coverage.count(run);
    return [...violationsOf(run), ...unheard];
  } catch (error) {
    return [`the run came to no end: ${error instanceof Error ? error.message : error}`];
  }
}
