import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { Finding, Findings, Share } from './worker.js';

const shareSize = 1_000;
/** A share that takes longer hangs. */
const limitMs = 600_000;
/** Each run writes some files, so they are kept in memory if possible. */
const fastFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

interface Options extends Omit<Share, 'count' | 'temp'> {
  readonly runs: number;
  readonly workers: number;
  /** The worker script of a mutant. By default, the worker of this build. */
  readonly script?: URL;
  readonly onProgress?: (runs: number, findings: readonly Finding[]) => void;
}

/** Simulates many runs on several threads, and counts those that reach each cell. Findings come in order of seeds. */
export async function runMany({ from, runs, workers, untilFound, script, onProgress }: Options) {
  const temp = mkdtempSync(join(fastFolder, 'simulation-'));
  const shares = Array.from({ length: Math.ceil(runs / shareSize) }, (_, index): Share => {
    const done = index * shareSize;
    return { from: from + done, count: Math.min(shareSize, runs - done), untilFound, temp };
  });
  const counts = new Map<string, number>();
  const findings: Finding[] = [];
  let done = 0;
  const work = async (share: Share) => {
    if (untilFound && findings.length > 0) return;
    const result = await runShare(share, script);
    for (const cell of result.cells) counts.set(cell, (counts.get(cell) ?? 0) + 1);
    findings.push(...result.findings);
    done += share.count;
    onProgress?.(done, findings);
  };
  await pLimit(workers)
    .map(shares, work)
    .finally(() => rmSync(temp, { recursive: true }));
  return { counts, findings: findings.sort((one, other) => one.seed - other.seed) };
}

async function runShare(share: Share, script = new URL('./worker.js', import.meta.url)): Promise<Findings> {
  const worker = new Worker(script, { workerData: share });
  try {
    const [findings] = await once(worker, 'message', { signal: AbortSignal.timeout(limitMs) });
    return findings;
  } catch (error) {
    const violations = [`a run up to seed ${share.from + share.count - 1} does not end: ${error}`];
    return { cells: [], findings: [{ seed: share.from, violations }] };
  } finally {
    await worker.terminate();
  }
}
