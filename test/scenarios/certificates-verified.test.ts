import { expect, test } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { startControlPlane } from '../control-plane/index.js';
import { startProxy } from './proxy-server.js';
import { quickDice } from './sabotage.js';
import { hiddenUrl, setSecureStage } from './secure-stage.js';
import { errorOf, setStage, warningsOf } from './stage.js';
import { authorityFile, good } from './tls/certificates.js';

// The certificates are good, but nothing here trusts their authority.
const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

test.concurrent('NODE_TLS_REJECT_UNAUTHORIZED=0 makes no step accept an unknown certificate', async (context) => {
  const { service, run } = await setStage(context, { tls: good });

  const result = await run(anyId, { env, nodeArgs: quickDice });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
  expect(result.stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  expect(service.requests).toEqual([]);
});

test.concurrent('nor behind a proxy', async (context) => {
  const { service, proxy, start } = await setSecureStage(context);
  const https_proxy = `http://127.0.0.1:${proxy.port}`;

  const inputs = { ...anyId, 'base-url': hiddenUrl };
  const result = await start(inputs, { env: { ...env, https_proxy }, nodeArgs: quickDice }).done;

  expect(errorOf(result)).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
  expect(proxy.asked).not.toEqual([]);
  expect(service.requests).toEqual([]);
});

test.concurrent('nor that of a proxy', async (context) => {
  const { port, start } = await setSecureStage(context);
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });
  const https_proxy = `https://user:secret-word@127.0.0.1:${proxy.port}`;

  const inputs = { ...anyId, 'base-url': hiddenUrl };
  const result = await start(inputs, { env: { ...env, https_proxy }, nodeArgs: quickDice }).done;

  expect(errorOf(result)).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
  expect(proxy.asked).toEqual([]);
});

for (const way of ['directly', 'through a proxy']) {
  test.concurrent(`nor that of GitHub, asked ${way}`, async (context) => {
    const { service, runMode } = await setStage(context);
    const github = await startControlPlane({ tls: good });
    context.onTestFinished(() => github.close());
    const { port } = new URL(github.baseUrl);
    const proxy = await startProxy(context, Number(port));
    const run = { id: '1234567890', attempt: 1, fingerprint: repositoryFingerprint('https://github.com', '123456789') };
    service.plane.addKey(makeKeyName('shop', { run, isKept: false }, Math.random));

    const url =
      way === 'directly'
        ? { GITHUB_API_URL: `https://127.0.0.1:${port}` }
        : { GITHUB_API_URL: 'https://control.test', https_proxy: `http://127.0.0.1:${proxy.port}` };
    const result = await runMode('sweep-keys', {}, { env: { ...env, ...url }, nodeArgs: quickDice });

    expect(warningsOf(result).join()).toMatch(/GitHub could not be reached/);
    expect(proxy.asked.length > 0).toBe(way !== 'directly');
    expect(github.requests).toEqual([]);
  });
}

test.concurrent('nor in post', async (context) => {
  const { service, runMode, runPost } = await setStage(context, { tls: good });

  const main = await runMode('create-key', {}, { env: { NODE_EXTRA_CA_CERTS: authorityFile } });
  const post = await runPost(main, { env: { ...env, NODE_EXTRA_CA_CERTS: undefined } });

  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive(main.outputs['key-id'] ?? '')).toBe(true);
  expect(warningsOf(post).join()).toMatch(/certificate.*NODE_EXTRA_CA_CERTS/);
});
