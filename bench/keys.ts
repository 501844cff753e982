import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunningControlPlane, startControlPlane } from '../control-plane/index.js';
import { makeKeyName } from '../src/keys/key-name.js';
import { serializePostState } from '../src/keys/post-state.js';
import { toExit } from './child.js';
import type { Figure } from './figure.js';
import { median } from './statistics.js';

export async function keyFigures(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-bench-'));
  try {
    return [await postFigure(rounds, folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares a post step that revokes a key with a bare script that sends the same two requests. */
async function postFigure(rounds: number, folder: string): Promise<Figure> {
  const service = await startControlPlane({ projects: 0 });
  const bare = join(folder, 'delete.cjs');
  writeFileSync(
    bare,
    `const { request } = require('node:http');
const { URL: url, KEY: key } = process.env;
const options = { method: 'DELETE', headers: { authorization: 'Bearer ' + key } };
const send = (then) => request(url, options, (answer) => answer.resume().on('end', then)).end();
send(() => send());`,
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
    name: 'post that revokes a key, start to exit, against a bare script',
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
      onFailure: 'fail',
      summary: false,
    },
    apiKey,
    {},
  );
}
