import { expect, type TestContext, test } from 'vitest';
import { startControlPlane } from '../../control-plane/index.js';
import { startProxy } from '../kit/peers.js';
import { preload, shortPauses } from '../kit/preload.js';
import { proxyUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, setProcess } from '../kit/stage.js';
import { addOldAndYoung, expectUnread } from '../kit/sweep.js';
import { authorityFile, expired, good, ofAnotherName } from '../kit/tls/certificates.js';
import type { StepResult } from '../runner/step.js';

const trusting = { NODE_EXTRA_CA_CERTS: authorityFile };

test.concurrent.for<[what: string, tls: typeof good | undefined, url: string, reason: RegExp]>([
  ['an expired certificate', expired, 'https://HOST', /certificate has expired/],
  ['a certificate for another host', ofAnotherName, 'https://HOST', /does not match certificate's altnames/],
  ['a host name that does not exist', good, 'https://contrrol.test', /ENOTFOUND contrrol\.test.*base-url/],
])('a step fails and sends no request if the service has %s', async ([, tls, url, reason], context) => {
  const { service, runMode } = await setProcess(context, tls && { tls });
  const inputs = { 'base-url': `${url.replace('HOST', new URL(service.baseUrl).host)}/v2` };
  const nodeArgs = [...shortPauses, ...preload('control-test-is-here')];
  const result = await runMode('list-projects', inputs, { env: trusting, nodeArgs });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(reason);
  expect(service.requests).toEqual([]);
});

/** A step with these options meets a certificate of an unknown authority. */
const careless = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_EXTRA_CA_CERTS: undefined };
const options = { env: careless, nodeArgs: shortPauses };

/** Runs such a step. Returns it, and the requests of it that a server saw. */
type Encounter = (context: TestContext) => Promise<readonly [StepResult, requests: readonly unknown[]]>;

const encounters: Readonly<Record<string, Encounter>> = {
  'the service behind a proxy': async (context) => {
    const { service, proxy, runMode } = await setSecureStage(context);
    const result = await runMode('list-projects', {}, options);
    expect(proxy.asked).not.toEqual([]);
    return [result, service.requests];
  },
  'a proxy': async (context) => {
    const { port, runMode } = await setSecureStage(context);
    const proxy = await startProxy(context, port, {}, good);
    const env = { ...careless, https_proxy: `https://user:secret-word@127.0.0.1:${proxy.port}` };
    return [await runMode('list-projects', {}, { ...options, env }), proxy.asked];
  },
  'the service in post': async (context) => {
    const { service, runMode, runPost } = await setProcess(context, { tls: good });
    const main = await runMode('create-key', { 'on-revoke-failure': 'fail' }, { env: trusting });
    const post = await runPost(main, { env: careless, nodeArgs: [...shortPauses, ...preload('late-start')] });
    return [post, service.requests.slice(1)];
  },
};

test.concurrent.for(Object.entries(encounters))(
  'a step with NODE_TLS_REJECT_UNAUTHORIZED=0 rejects an unknown certificate of %s',
  async ([, meet], context) => {
    const [result, requests] = await meet(context);
    expect(errorOf(result)).toMatch(/certificate/);
    expect(result.stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(requests).toEqual([]);
  },
);

test.concurrent.for(['directly', 'through a proxy'])(
  'sweep-keys with NODE_TLS_REJECT_UNAUTHORIZED=0 rejects an unknown certificate of GitHub, reached %s',
  async (way, context) => {
    const stage = await setProcess(context);
    const [old, young] = addOldAndYoung(stage);
    const github = await startControlPlane({ tls: good });
    context.onTestFinished(() => github.close());
    const proxy = await startProxy(context, Number(new URL(github.baseUrl).port));
    const GITHUB_API_URL = way === 'directly' ? github.baseUrl : 'https://control.test';
    const env = { ...careless, https_proxy: proxyUrl(proxy), GITHUB_API_URL };
    const result = await stage.sweep({}, { ...options, env });
    expectUnread(result, [old], [young], /GitHub could not be reached/);
    expect(proxy.asked.length > 0).toBe(way !== 'directly');
    expect(github.requests).toEqual([]);
  },
);
