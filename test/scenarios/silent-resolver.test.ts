import { beforeAll, expect, type TestContext, test } from 'vitest';
import type { StepResult } from '../runner/step.js';
import { sabotage } from './sabotage.js';
import { hiddenUrl, setSecureStage } from './secure-stage.js';
import { requireNamespaces, silentResolver } from './silent-resolver.js';
import { errorOf, setStage, warningsOf } from './stage.js';
import { authorityFile } from './tls/certificates.js';

beforeAll(requireNamespaces);

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };
/** A lookup takes 10 s with one name server, and minutes with these lines. */
const search = 'search a.test b.test c.test\noptions ndots:5 timeout:30\n';

for (const [name, resolvConf] of Object.entries({ 'one name server': '', 'a search list and ndots:5': search })) {
  test.concurrent(`the deadline ends a step whose lookup nobody answers, with ${name}`, async (context) => {
    const { folder, run } = await setStage(context);

    const inputs = { ...anyId, 'base-url': hiddenUrl, timeout: '2s' };
    const result = await run(inputs, silentResolver(folder, { resolvConf }));

    expect(result.outputs).toMatchObject({ status: 'timeout' });
    expect(errorOf(result)).toMatch(/\b2s\b/);
    expect(result.summary).toMatch(/\b2s\b/);
    expectSoon(result);
  });
}

test.concurrent('a cancel ends a step whose lookup of the proxy nobody answers', async (context) => {
  const { folder, run } = await setStage(context);

  const options = silentResolver(folder, {
    resolvConf: search,
    fixtures: ['signal-at'],
    env: { https_proxy: 'http://proxy.test:3128', SIGNAL_AT: 'SIGTERM after request 1' },
  });
  const result = await run({ ...anyId, 'base-url': hiddenUrl }, options);

  expect(result.stderr).toContain('SIGTERM after request 1');
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expectSoon(result);
});

test.concurrent('a step that succeeded is not killed for a lookup that is pending', async (context) => {
  const { folder, run } = await setStage(context);

  const result = await run({ 'operation-id': '[]' }, silentResolver(folder, { fixtures: ['pending-lookup'] }));

  expect(result.outputs).toMatchObject({ status: 'finished', count: '0' });
  expect(result.exitCode).toBe(0);
});

for (const [what, https_proxy] of [
  ['the service', undefined],
  ['the proxy', 'http://proxy.test:3128'],
] as const) {
  test.concurrent(`post ends in time where nobody answers its lookup of ${what}, and names the key`, async (context) => {
    const { service, main, runPost, folder } = await mint(context);

    const post = await runPost(main, silentResolver(folder, { resolvConf: search, env: { https_proxy } }));

    expect(service.plane.isAlive(main.outputs['key-id'] ?? '')).toBe(true);
    expect(warningsOf(post)).toHaveLength(1);
    expect(warningsOf(post)[0]).toContain(main.outputs['key-id']);
    expect(post.conclusion).toBe('success');
    // 20 s, and some more on a busy machine. A lookup in its own process would hold it for minutes.
    expect(post.ms).toBeLessThan(30_000);
  });
}

async function mint(context: TestContext) {
  const stage = await setSecureStage(context);
  const main = await stage.runMode(
    'create-key',
    { 'base-url': `https://control.test:${stage.port}/v2` },
    { env: { NODE_EXTRA_CA_CERTS: authorityFile }, nodeArgs: sabotage('control-test-is-here') },
  );
  expect(main.conclusion).toBe('success');
  return { ...stage, main };
}

/** A lookup holds the process for 10 s at least; a busy machine may need some seconds for its start. */
function expectSoon(result: StepResult): void {
  expect(result.conclusion).toBe('failure');
  expect(result.exitCode).not.toBe(0);
  expect(result.ms).toBeLessThan(8_000);
}
