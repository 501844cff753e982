import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Coverage } from './coverage.js';
import type { Done, Finding, Share } from './worker.js';

const aShare = 250;
/** Each run writes some files: in memory, where there is such a place. */
const fastest = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface Outcome {
  readonly runs: number;
  readonly coverage: Coverage;
  readonly findings: readonly Finding[];
}

export interface Orders {
  readonly from: number;
  readonly runs: number;
  readonly workers: number;
  readonly untilFound: boolean;
  /** That of another build, for a mutant. */
  readonly script: URL;
  /** Who takes longer for one share hangs; milliseconds. */
  readonly patience: number;
  /** Hears how far it is. */
  readonly tell?: (runs: number, findings: readonly Finding[]) => void;
}

/** Many runs, on several threads. What comes out does not depend on how many there are. */
export async function sail(orders: Orders): Promise<Outcome> {
  const temp = mkdtempSync(join(fastest, 'simulation-'));
  const shares = sharesOf(orders);
  const coverage = new Coverage();
  const findings: Finding[] = [];
  let runs = 0;
  const take = ({ cells, findings: found, share }: Done) => {
    coverage.add(cells);
    findings.push(...found);
    runs += share.count;
    orders.tell?.(runs, findings);
    if (found.length > 0 && orders.untilFound) shares.length = 0;
  };
  try {
    await Promise.all(
      Array.from({ length: orders.workers }, (_, index) => sailAlone(shares, join(temp, String(index)), orders, take)),
    );
  } finally {
    rmSync(temp, { recursive: true });
  }
  return { runs, coverage, findings: findings.sort((one, other) => one.seed - other.seed) };
}

function sharesOf({ from, runs, untilFound }: Orders): Share[] {
  return Array.from({ length: Math.ceil(runs / aShare) }, (_, index) => ({
    from: from + index * aShare,
    count: Math.min(aShare, runs - index * aShare),
    untilFound,
  }));
}

async function sailAlone(
  shares: Share[],
  temp: string,
  { script, patience }: Orders,
  take: (done: Done) => void,
): Promise<void> {
  mkdirSync(temp);
  const worker = new Worker(script, { workerData: { temp } });
  try {
    for (let share = shares.shift(); share !== undefined; share = shares.shift())
      take(await answer(worker, share, patience));
  } finally {
    await worker.terminate();
  }
}

function answer(worker: Worker, share: Share, patience: number): Promise<Done> {
  return new Promise((resolve) => {
    const fail = (why: string) => resolve({ share, cells: [], findings: [{ seed: share.from, violations: [why] }] });
    const timer = setTimeout(
      () => fail(`a run does not end (seeds ${share.from} to ${share.from + share.count})`),
      patience,
    );
    worker.once('error', (error) =>
      fail(`a run crashed (seeds ${share.from} to ${share.from + share.count}): ${error}`),
    );
    worker.once('message', (done: Done) => {
      clearTimeout(timer);
      worker.removeAllListeners('error');
      resolve(done);
    });
    worker.postMessage(share);
  });
}
