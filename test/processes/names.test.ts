import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { expectNotRevoked } from '../kit/post-results.js';
import { preload, shortPauses } from '../kit/preload.js';
import { hiddenUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf } from '../kit/stage.js';
import type { StepOptions } from '../runner/step.js';
import { anyId, setProcess } from './process-stage.js';

const toService = { ...anyId, 'base-url': hiddenUrl };
/** With a name server that stays silent, a lookup takes minutes. */
const slowSearch = 'search a.test b.test c.test\noptions ndots:5 timeout:30\n';
const shortSearch = 'options timeout:2 attempts:1\n';
const namespaces = ['--user', '--map-root-user', '--mount', '--net'];

beforeAll(() => {
  try {
    execFileSync('unshare', [...namespaces, 'true'], { stdio: 'ignore' });
  } catch (cause) {
    const command = 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
    throw new Error(`These tests need namespaces: run \`${command}\` first, or run them as root.`, { cause });
  }
});

interface SilentOptions {
  /** Lines of resolv.conf beside the name server. */
  readonly resolvConf?: string;
  /** Loaded after the name server. */
  readonly fixture?: string;
  readonly env?: StepOptions['env'];
}

/** Runs a step in a network of its own, where the name server stays silent. `getaddrinfo` is the real one. */
function silentNames(folder: string, { resolvConf = slowSearch, fixture, env }: SilentOptions = {}): StepOptions {
  writeFileSync(join(folder, 'resolv.conf'), `nameserver 127.0.0.1\n${resolvConf}`);
  writeFileSync(join(folder, 'nsswitch.conf'), 'hosts: files dns\n');
  const node = process.env['NODE_OF_BUNDLE'] ?? process.execPath;
  const fixtures = ['silent-resolver', ...(fixture === undefined ? [] : [fixture])];
  return {
    node: 'unshare',
    nodeArgs: [...namespaces, node, ...fixtures.flatMap(preload)],
    env: { RESOLVER_FILES: folder, ...env },
    // A pending lookup would hold the process for minutes; a busy machine needs some seconds for its start.
    limitMs: 55_000,
  };
}

test.concurrent('the error for an unknown host names it', async (context) => {
  const { run } = await setProcess(context);

  const inputs = { ...anyId, 'base-url': 'https://contrrol.test/v2' };
  const result = await run(inputs, { nodeArgs: [...shortPauses, ...preload('control-test-is-here')] });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/host name contrrol\.test was not found.*base-url/);
});

test.concurrent('the deadline ends a step whose lookup nobody answers', async (context) => {
  const { folder, run } = await setProcess(context);

  const result = await run({ ...toService, timeout: '2s' }, silentNames(folder));

  expect(result).toMatchObject({ conclusion: 'failure', overran: false, outputs: { status: 'timeout' } });
  expect(errorOf(result)).toMatch(/\b2s\b/);
  expect(result.summary).toMatch(/\b2s\b/);
});

test.concurrent('a cancel ends a step while its proxy is looked up', async (context) => {
  const { folder, run } = await setProcess(context);

  const env = { https_proxy: 'http://proxy.test:3128', SIGNAL_AT: 'SIGTERM after request 1' };
  const result = await run(toService, silentNames(folder, { fixture: 'signal-at', env }));

  expect(result.stderr).toContain('SIGTERM after request 1');
  expect(result).toMatchObject({ conclusion: 'failure', overran: false, outputs: { status: 'cancelled' } });
});

test.concurrent('a step that succeeded is not killed for a pending lookup', async (context) => {
  const { folder, run } = await setProcess(context);

  const result = await run(
    { 'operation-id': '[]' },
    silentNames(folder, { resolvConf: shortSearch, fixture: 'pending-lookup' }),
  );

  expect(result.outputs).toMatchObject({ status: 'finished', count: '0' });
  expect(result.exitCode).toBe(0);
});

test.concurrent('post ends in time while the service is looked up, and names the key', async (context) => {
  const stage = await setSecureStage(context);
  const main = await stage.runMode('create-key');

  const env = { https_proxy: undefined, LATE_SECONDS: '16' };
  const post = await stage.runPost(main, silentNames(stage.folder, { fixture: 'late-start', env }));

  expectNotRevoked(stage, main, post, /the post step timed out/);
  expect(post.overran).toBe(false);
});
