import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { isWindows, needs } from '../kit/host.js';
import { preload } from '../kit/preload.js';
import { hiddenUrl, setSecureStage } from '../kit/secure-stage.js';
import { anyId, errorOf, setProcess, warningsOf } from '../kit/stage.js';

/** With a name server that stays silent, a lookup takes minutes. */
const slowSearch = 'search a.test b.test c.test\noptions ndots:5 timeout:30\n';
const namespaces = ['--user', '--map-root-user', '--mount', '--net'];

beforeAll(() => {
  if (isWindows) return;
  try {
    execFileSync('unshare', [...namespaces, 'true'], { stdio: 'ignore' });
  } catch (cause) {
    const command = 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
    throw new Error(`These tests need namespaces: run \`${command}\` first, or run them as root.`, { cause });
  }
});

/** Runs a step in a network of its own, where the name server stays silent. `getaddrinfo` is the real one. */
function silentNames(folder: string, ...fixtures: readonly string[]) {
  writeFileSync(join(folder, 'resolv.conf'), `nameserver 127.0.0.1\n${slowSearch}`);
  writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files dns\n');
  const node = process.env['NODE_OF_BUNDLE'] ?? process.execPath;
  return {
    node: 'unshare',
    nodeArgs: [...namespaces, node, ...['silent-resolver', ...fixtures].flatMap(preload)],
    env: { RESOLVER_FILES: folder },
    // A pending lookup would hold the process for minutes; a busy machine needs some seconds for its start.
    limitMs: 55_000,
  };
}

test.concurrent('a step ends at its deadline although the name server does not respond', async (context) => {
  needs(context, 'namespaces');
  const { folder, run } = await setProcess(context);
  const result = await run({ ...anyId, 'base-url': hiddenUrl, timeout: '2s' }, silentNames(folder));
  expect(result).toMatchObject({ conclusion: 'failure', overran: false, outputs: { status: 'timeout' } });
  expect(errorOf(result)).toMatch(/\b2s\b/);
  expect(result.summary).toMatch(/\b2s\b/);
});

test.concurrent('post ends in time with a warning about the key if the name server does not respond', async (context) => {
  needs(context, 'namespaces');
  const stage = await setSecureStage(context);
  const main = await stage.runMode('create-key');
  const names = silentNames(stage.folder, 'late-start');
  const env = { ...names.env, https_proxy: undefined, LATE_SECONDS: '16' };
  const post = await stage.runPost(main, { ...names, env });
  expect(main.conclusion).toBe('success');
  expect(post).toMatchObject({ conclusion: 'success', overran: false });
  expect(stage.service.plane.isAlive(main.outputs['key-id'] ?? '')).toBe(true);
  const message = `key ${main.outputs['key-id']} .*is revoked`;
  expect(warningsOf(post)).toEqual([expect.stringMatching(message)]);
});
