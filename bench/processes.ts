import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { toExit } from './child.js';
import type { Figure } from './figure.js';
import { median } from './statistics.js';

const main = resolve('dist/main/index.js');
const post = resolve('dist/post/index.js');
const pem = (name: string) => resolve(`test/kit/tls/test-only-${name}.pem`);

/** Each time is a ratio to that of a bare script. The two alternate, so that other load on the machine affects both. */
export async function processFigures(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  const servers = {
    http: await startServer(),
    https: await startServer({ key: readFileSync(pem('key')), cert: readFileSync(pem('service')) }),
  };
  try {
    const empty = join(folder, 'empty.cjs');
    writeFileSync(empty, '');
    const firstRequest = async (protocol: keyof typeof servers, mustReach: number) => {
      const server = servers[protocol];
      const bare = join(folder, `${protocol}.cjs`);
      writeFileSync(bare, `require('node:${protocol}').get(process.env.URL);`);
      const env = {
        URL: server.url,
        INPUT_MODE: 'wait-operation',
        'INPUT_API-KEY': 'key-of-the-bench',
        'INPUT_BASE-URL': server.url,
        'INPUT_PROJECT-ID': 'p',
        'INPUT_OPERATION-ID': 'a07f8772-1877-4da9-a939-3a3ae62d1d8d',
        RUNNER_TEMP: folder,
        // Node 20 then loads all certificates at its start, and not at the first request over https.
        ...(protocol === 'https' ? { NODE_EXTRA_CA_CERTS: pem('authority') } : {}),
      };
      const times = await inTurns(rounds, [
        () => toFirstRequest(main, env, server),
        () => toFirstRequest(bare, env, server),
      ]);
      return ratio(`start of a process to its first request over ${protocol}, against bare Node`, times, mustReach);
    };
    const first = [await firstRequest('http', 1.4), await firstRequest('https', 1.5)];
    const idle = await inTurns(rounds, [() => toExit(post), () => toExit(empty)]);
    const size = statSync(main).size / 1_000_000;
    return [
      ...first,
      ratio('post with nothing to do, against an empty script', idle, 1.1),
      {
        name: 'size of what main loads before its first request',
        measured: `${size.toFixed(3)} MB`,
        mustReach: '0.2 MB',
        reached: size <= 0.2,
      },
    ];
  } finally {
    for (const server of Object.values(servers)) server.close();
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

async function startServer(tls?: SecureContextOptions): Promise<Server> {
  let arrived = (): void => undefined;
  const answer: RequestListener = (_request, response) => {
    arrived();
    response.end();
  };
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
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
