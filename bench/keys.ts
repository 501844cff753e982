import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startGitHub } from '../control-plane/github/index.js';
import { type RunningControlPlane, startControlPlane } from '../control-plane/index.js';
import { makeKeyName, repositoryFingerprint } from '../src/keys/key-name.js';
import { serializePostState } from '../src/keys/post-state.js';
import { startStep } from '../test/runner/step.js';
import { toExit } from './child.js';
import { type Figure, secondsFor } from './figure.js';
import { median } from './statistics.js';

const keys = 30;
const runs = 10;
/** Milliseconds before each response, like a service far away. */
const latency = 20;

export async function keyFigures(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  try {
    return [await postFigure(rounds, folder), await revokeFigure(), await sweepFigure()];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares a post step that revokes a key with a bare script that sends the same request. */
async function postFigure(rounds: number, folder: string): Promise<Figure> {
  const service = await startControlPlane({ projects: 0 });
  const bare = join(folder, 'delete.cjs');
  writeFileSync(
    bare,
    `require('node:http').request(process.env.URL, { method: 'DELETE', headers: { authorization: 'Bearer ' + process.env.KEY } }, (answer) => answer.resume()).end();`,
  );
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const post = await toExit(resolve('dist/post/index.js'), {
      STATE_key: stateOf(service),
      'INPUT_API-KEY': service.apiKey,
    });
    const { id, key } = service.plane.addKey('bench');
    const script = await toExit(bare, { URL: `${service.baseUrl}/api_keys/${id}`, KEY: key });
    if (service.plane.aliveKeys('bench').length > 0) throw new Error('A post of the bench did not revoke its key.');
    if (round < 0) continue;
    ours.push(post);
    theirs.push(script);
  }
  await service.close();
  const measured = median(ours) / median(theirs);
  return {
    name: 'post that revokes a key, start to exit, against a bare request',
    measured: `${measured.toFixed(2)}x`,
    mustReach: '2.7x',
    reached: measured <= 2.7,
    beside: `${median(ours).toFixed(0)} ms to ${median(theirs).toFixed(0)} ms; the best peer: 72 ms to 27 ms`,
  };
}

function stateOf({ plane, baseUrl, apiKey }: RunningControlPlane): string {
  const { id, key } = plane.addKey('bench');
  return serializePostState(
    {
      baseUrl,
      name: makeKeyName('bench', { run: { id: '1', attempt: 1, fingerprint: '0' }, isKept: false }, Math.random),
      lostCreates: 0,
      minted: { id, secret: key, madeAt: { runner: 0, service: 0 } },
      revoke: true,
      onFailure: 'fail',
      summary: false,
    },
    apiKey,
    {},
  );
}

async function revokeFigure(): Promise<Figure> {
  const service = await slowService();
  const all = Array.from({ length: keys }, () => service.plane.addKey('bench').id);
  const began = performance.now();
  const step = await startStep({ inputs: { ...accessTo(service), mode: 'revoke-key', 'key-id': all.join() } }).done;
  const requests = service.requests.length;
  const took = performance.now() - began;
  const isDone = step.conclusion === 'success' && service.plane.aliveKeys('bench').length === 0;
  step.job.dispose();
  await service.close();
  return {
    name: `${keys} keys revoked, answers after ${latency} ms`,
    measured: `${(took / 1_000).toFixed(1)} s, ${requests} requests`,
    mustReach: `${secondsFor(keys).toFixed(1)} s, ${keys} requests`,
    reached: isDone && requests === keys && took <= 1_000 * secondsFor(keys),
  };
}

async function sweepFigure(): Promise<Figure> {
  const service = await slowService();
  const github = await startGitHub({ token: 'bench-token', repository: 'acme/shop', repositoryId: 123456789 });
  github.addRun({ id: '9876543210' });
  const fingerprint = repositoryFingerprint('https://github.com', '123456789');
  for (let run = 0; run < runs; run++) github.addRun({ id: String(1_000 + run), status: 'completed' });
  for (let index = 0; index < keys; index++) {
    const id = String(1_000 + (index % runs));
    service.plane.addKey(makeKeyName('shop', { run: { id, attempt: 1, fingerprint }, isKept: false }, Math.random));
  }
  const began = performance.now();
  const step = await startStep({
    inputs: { ...accessTo(service), mode: 'sweep-keys' },
    token: 'bench-token',
    env: { GITHUB_API_URL: github.url },
  }).done;
  const requests = service.requests.length;
  const took = performance.now() - began;
  const questions = github.requests.length;
  const isDone = step.outputs['count'] === String(keys) && service.plane.aliveKeys().length === 1;
  step.job.dispose();
  await service.close();
  await github.close();
  return {
    name: `${keys} keys of ${runs} runs swept, answers after ${latency} ms`,
    measured: `${(took / 1_000).toFixed(1)} s, ${requests} requests, ${questions} to GitHub`,
    // A sweep reads the list before it asks GitHub, and again before it revokes.
    mustReach: `${secondsFor(keys + 2).toFixed(1)} s, ${keys + 2} requests, ${runs + 1} to GitHub`,
    reached: isDone && requests === keys + 2 && questions === runs + 1 && took <= 1_000 * secondsFor(keys + 2),
    beside: `${keys} questions to GitHub one by one`,
  };
}

function slowService(): Promise<RunningControlPlane> {
  return startControlPlane({ projects: 0, faults: [{ fault: { kind: 'delay', ms: latency } }] });
}

function accessTo({ apiKey, baseUrl }: RunningControlPlane) {
  return { 'api-key': apiKey, 'base-url': baseUrl };
}
