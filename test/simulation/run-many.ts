import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Coverage } from './coverage.js';
import type { Done, Finding, Share } from './worker.js';

const shareSize = 250;
/** Each run writes some files, so they are kept in memory if possible. */
const fastFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface Result {
  readonly coverage: Coverage;
  /** In order of seeds. */
  readonly findings: readonly Finding[];
}

export interface Options {
  readonly from: number;
  readonly runs: number;
  readonly workers: number;
  readonly untilFound: boolean;
  /** The worker of this build, or of a mutant's. */
  readonly script: URL;
  /** Milliseconds. A share that takes longer hangs. */
  readonly limitMs: number;
  readonly onProgress?: (runs: number, findings: readonly Finding[]) => void;
}

/** Simulates many runs on several threads. The result does not depend on their number. */
export async function runMany(options: Options): Promise<Result> {
  const { from, runs, workers, untilFound, onProgress } = options;
  const temp = mkdtempSync(join(fastFolder, 'simulation-'));
  const shares = Array.from({ length: Math.ceil(runs / shareSize) }, (_, index) => ({
    from: from + index * shareSize,
    count: Math.min(shareSize, runs - index * shareSize),
    untilFound,
  }));
  const coverage = new Coverage();
  const findings: Finding[] = [];
  let done = 0;
  const take = ({ cells, findings: found, share }: Done) => {
    coverage.add(cells);
    findings.push(...found);
    done += share.count;
    onProgress?.(done, findings);
    if (found.length > 0 && untilFound) shares.length = 0;
  };
  try {
    await Promise.all(
      Array.from({ length: workers }, (_, index) => runShares(shares, join(temp, String(index)), options, take)),
    );
  } finally {
    rmSync(temp, { recursive: true });
  }
  return { coverage, findings: findings.sort((one, other) => one.seed - other.seed) };
}

async function runShares(
  shares: Share[],
  temp: string,
  { script, limitMs }: Options,
  take: (done: Done) => void,
): Promise<void> {
  mkdirSync(temp);
  const worker = new Worker(script, { workerData: { temp } });
  try {
    for (let share = shares.shift(); share !== undefined; share = shares.shift())
      take(await runShare(worker, share, limitMs));
  } finally {
    await worker.terminate();
  }
}

function runShare(worker: Worker, share: Share, limitMs: number): Promise<Done> {
  return new Promise((resolve) => {
    const seeds = `seeds ${share.from} to ${share.from + share.count - 1}`;
    const fail = (why: string) => resolve({ share, cells: [], findings: [{ seed: share.from, violations: [why] }] });
    const timer = setTimeout(() => fail(`a run does not end (${seeds})`), limitMs);
    worker.once('error', (error) => fail(`a run crashed (${seeds}): ${error}`));
    worker.once('message', (done: Done) => {
      clearTimeout(timer);
      worker.removeAllListeners('error');
      resolve(done);
    });
    worker.postMessage(share);
  });
}
