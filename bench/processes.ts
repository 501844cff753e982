import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { toExit } from './child.js';
import type { Figure } from './figure.js';
import { median } from './statistics.js';

const main = resolve('dist/main/index.js');
const post = resolve('dist/post/index.js');
const pem = (name: string) => resolve(`test/kit/tls/test-only-${name}.pem`);

/** Each time is a ratio to that of a bare script. The two alternate, so that other load on the machine affects both. */
export async function processFigures(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  const server = await startServer();
  try {
    const empty = join(folder, 'empty.cjs');
    writeFileSync(empty, '');
    const bare = join(folder, 'bare.cjs');
    writeFileSync(bare, `require('node:https').get(process.env.URL);`);
    const env = {
      URL: server.url,
      INPUT_MODE: 'wait-operation',
      'INPUT_API-KEY': 'key-of-the-bench',
      'INPUT_BASE-URL': server.url,
      'INPUT_PROJECT-ID': 'p',
      'INPUT_OPERATION-ID': 'a07f8772-1877-4da9-a939-3a3ae62d1d8d',
      RUNNER_TEMP: folder,
      // Node 20 then loads all certificates at its start, and not at the first request.
      NODE_EXTRA_CA_CERTS: pem('authority'),
    };
    const first = await inTurns(rounds, [
      () => toFirstRequest(main, env, server),
      () => toFirstRequest(bare, env, server),
    ]);
    const idle = await inTurns(rounds, [() => toExit(post), () => toExit(empty)]);
    const size = statSync(main).size / 1_000_000;
    return [
      ratio('start of a process to its first request, against bare Node', first, 1.5),
      ratio('post with nothing to do, against an empty script', idle, 1.1),
      {
        name: 'size of what main loads before its first request',
        measured: `${size.toFixed(3)} MB`,
        mustReach: '0.115 MB',
        reached: size <= 0.115,
      },
    ];
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function ratio(name: string, [ours = [], bare = []]: number[][], most: number): Figure {
  const measured = median(ours) / median(bare);
  const beside = `${median(ours).toFixed(0)} ms to ${median(bare).toFixed(0)} ms, medians of ${ours.length}`;
  return { name, measured: `${measured.toFixed(2)}x`, mustReach: `${most}x`, reached: measured <= most, beside };
}

async function inTurns(rounds: number, measures: (() => Promise<number>)[]): Promise<number[][]> {
  const times = measures.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, measure] of measures.entries()) {
      const ms = await measure();
      // The first round fills the file system cache.
      if (round >= 0) times[index]?.push(ms);
    }
  }
  return times;
}

interface Server {
  readonly url: string;
  nextRequest(): Promise<void>;
  close(): void;
}

async function startServer(): Promise<Server> {
  let arrived = (): void => undefined;
  const server = createServer({ key: readFileSync(pem('key')), cert: readFileSync(pem('service')) }, (_, response) => {
    arrived();
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    nextRequest: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function toFirstRequest(script: string, env: Record<string, string>, server: Server): Promise<number> {
  const request = server.nextRequest();
  const began = performance.now();
  const child = spawn(process.execPath, [script], { env, stdio: 'ignore' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await request;
  const ms = performance.now() - began;
  child.kill('SIGKILL');
  await exited;
  return ms;
}
