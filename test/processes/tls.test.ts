import { expect, type TestContext, test } from 'vitest';
import { startControlPlane } from '../control-plane/index.js';
import { startProxy } from '../kit/peers.js';
import { expectNotRevoked } from '../kit/post-results.js';
import { shortPauses } from '../kit/preload.js';
import { proxyUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, setStage, warningsOf } from '../kit/stage.js';
import { authorityFile, expired, good, ofAnotherName } from '../kit/tls/certificates.js';
import type { StepResult } from '../runner/step.js';

const overSockets = true;
const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };
const trusting = { NODE_EXTRA_CA_CERTS: authorityFile };
const unknownAuthority = /certificate.*NODE_EXTRA_CA_CERTS/;

for (const [name, tls, env, reason] of [
  ['from an unknown authority', good, { NODE_EXTRA_CA_CERTS: undefined }, unknownAuthority],
  ['that has expired', expired, trusting, /certificate of the service has expired/],
  ['for another host name', ofAnotherName, trusting, /certificate of the service is for another host name/],
] as const) {
  test.concurrent(`a certificate ${name} is rejected with its reason, and no request is sent`, async (context) => {
    const { service, run } = await setStage(context, { overSockets, tls });

    const result = await run(anyId, { env, nodeArgs: shortPauses });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(reason);
    expect(service.requests).toEqual([]);
  });

  test.concurrent(`a certificate ${name} in post alone is rejected with its reason and the key`, async (context) => {
    const stage = await setSecureStage(context);
    const other = await setSecureStage(context, { tls });

    const main = await stage.runMode('create-key');
    const post = await stage.runPost(main, {
      env: { https_proxy: proxyUrl(other.proxy), ...env },
      nodeArgs: shortPauses,
    });

    expectNotRevoked(stage, main, post, reason);
    expect(other.service.requests).toEqual([]);
  });
}

/** Steps that meet a certificate of an unknown authority, what they say, and whether a server saw a request. */
type Encounter = (context: TestContext, env: Record<string, string>) => Promise<readonly [string, boolean]>;

const encounters: Readonly<Record<string, Encounter>> = {
  'of the service': async (context, env) => {
    const { service, run } = await setStage(context, { overSockets, tls: good });
    const result = await run(anyId, { env, nodeArgs: shortPauses });
    expect(result.stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    return [errorOf(result), service.requests.length > 0];
  },
  'of the service behind a proxy': async (context, env) => {
    const { service, proxy, run } = await setSecureStage(context);
    const result = await run(anyId, { env: { NODE_EXTRA_CA_CERTS: undefined, ...env }, nodeArgs: shortPauses });
    expect(proxy.asked).not.toEqual([]);
    return [errorOf(result), service.requests.length > 0];
  },
  'of a proxy': async (context, env) => {
    const { port, run } = await setSecureStage(context);
    const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });
    const https_proxy = `https://user:secret-word@127.0.0.1:${proxy.port}`;
    const own = { NODE_EXTRA_CA_CERTS: undefined, https_proxy, ...env };
    return [errorOf(await run(anyId, { env: own, nodeArgs: shortPauses })), proxy.asked.length > 0];
  },
  'of the service in post': async (context, env) => {
    const stage = await setStage(context, { overSockets, tls: good });
    const main = await stage.runMode('create-key', {}, { env: trusting });
    const own = { NODE_EXTRA_CA_CERTS: undefined, ...env };
    const post = await stage.runPost(main, { env: own, nodeArgs: shortPauses });
    expect(main.conclusion).toBe('success');
    return [warningsOf(post).join(), stage.service.requests.length > 1];
  },
};

for (const [name, meet] of Object.entries(encounters)) {
  test.concurrent(`NODE_TLS_REJECT_UNAUTHORIZED=0 makes no step accept the unknown certificate ${name}`, async (context) => {
    const [said, wasSent] = await meet(context, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });

    expect(said).toMatch(unknownAuthority);
    expect(wasSent).toBe(false);
  });
}

for (const way of ['directly', 'through a proxy']) {
  test.concurrent(`NODE_TLS_REJECT_UNAUTHORIZED=0 makes no sweep accept an unknown certificate of GitHub ${way}`, async (context) => {
    const { service, runMode } = await setStage(context, { overSockets });
    const github = await startControlPlane({ tls: good });
    context.onTestFinished(() => github.close());
    const { port } = new URL(github.baseUrl);
    const proxy = await startProxy(context, Number(port));
    const another = await runMode('create-key', {}, { env: { GITHUB_RUN_ID: '1234567890' } });
    expect(service.plane.isAlive(another.outputs['key-id'] ?? '')).toBe(true);

    const url =
      way === 'directly'
        ? { GITHUB_API_URL: `https://127.0.0.1:${port}` }
        : { GITHUB_API_URL: 'https://control.test', https_proxy: proxyUrl(proxy) };
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', ...url };
    const result = await runMode('sweep-keys', {}, { env, nodeArgs: shortPauses });

    expect(warningsOf(result).join()).toMatch(/GitHub could not be reached/);
    expect(proxy.asked.length > 0).toBe(way !== 'directly');
    expect(github.requests).toEqual([]);
  });
}

test.concurrent('https to a plain server, and http to a TLS server, are errors that advise to check base-url', async (context) => {
  const plain = await setStage(context, { overSockets });
  const secure = await setStage(context, { overSockets, tls: good });
  const otherScheme = ({ baseUrl }: typeof plain.service) =>
    baseUrl.startsWith('https:') ? baseUrl.replace('https:', 'http:') : baseUrl.replace('http:', 'https:');

  const results: StepResult[] = [];
  for (const { service, run } of [plain, secure])
    results.push(await run({ ...anyId, 'base-url': otherScheme(service) }, { nodeArgs: shortPauses }));

  for (const result of results) {
    expect(result.outputs).toMatchObject({ status: 'error' });
    // No file and line of a library's source.
    expect(errorOf(result)).toMatch(/GET \/v2\/projects\/.+: .{10}/);
    expect(errorOf(result)).not.toMatch(/\.c:\d+/);
    expect(errorOf(result)).toMatch(/base-url/);
  }
});
