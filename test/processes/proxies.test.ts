import { expect, test } from 'vitest';
import { hasIpv6 } from '../kit/listen.js';
import { loginRequired, type ProxyBehaviour, proxyResponse, startProxy } from '../kit/peers.js';
import { expectNotRevoked, expectRevoked } from '../kit/post-results.js';
import { preload, shortPauses } from '../kit/preload.js';
import { proxyUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, setStage, withoutMasks } from '../kit/stage.js';
import { good, ofAnotherName } from '../kit/tls/certificates.js';

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };
const login = { user: 'proxy-user', password: 'proxy-password' };
const ownName = { nodeArgs: preload('control-test-is-here') };

for (const name of ['https_proxy', 'HTTPS_PROXY']) {
  test.concurrent(`main and post reach the service through the proxy of ${name}`, async (context) => {
    const stage = await setSecureStage(context);
    const env = { https_proxy: undefined, [name]: proxyUrl(stage.proxy) };

    const main = await stage.runMode('create-key', {}, { env });
    const post = await stage.runPost(main);

    expectRevoked(stage, main, post);
    expect(stage.proxy.asked.map(({ url }) => url)).toEqual(['control.test:443', 'control.test:443']);
    expect(stage.service.requests[0]?.headers['host']).toBe('control.test');
    const seenByProxy = JSON.stringify(stage.proxy.asked.map(({ headers }) => headers));
    expect(seenByProxy).not.toContain(main.outputs['key']);
    expect(seenByProxy).not.toContain(stage.service.apiKey);
  });
}

for (const name of ['no_proxy', 'NO_PROXY']) {
  test.concurrent(`a step goes past the proxy to a host of ${name}`, async (context) => {
    const { port, service, proxy, runMode } = await setSecureStage(context);

    const env = { [name]: 'else.test,control.test' };
    const result = await runMode('list-keys', { 'base-url': `https://control.test:${port}/v2` }, { env, ...ownName });

    expect(result.outputs).toMatchObject({ status: 'ok' });
    expect(service.requests).toHaveLength(1);
    expect(proxy.asked).toEqual([]);
  });
}

// Post looks a name up in another process. On a busy machine that takes seconds of its 20, so this test runs alone.
test('post goes past the proxy to a host of no_proxy', async (context) => {
  const stage = await setSecureStage(context);

  const inputs = { 'base-url': `https://control.test:${stage.port}/v2` };
  const main = await stage.runMode('create-key', inputs, { env: { no_proxy: 'control.test' }, ...ownName });
  const post = await stage.runPost(main);

  expectRevoked(stage, main, post);
  expect(stage.proxy.asked).toEqual([]);
});

test.concurrent('only the proxy gets the login of its variable, its password is masked, and Node prints no warning', async (context) => {
  const stage = await setSecureStage(context, { behaviour: { kind: 'login', ...login } });
  const https_proxy = proxyUrl(stage.proxy, `${login.user}:${login.password}@`);

  const main = await stage.runMode('create-key', {}, { env: { https_proxy }, debug: true });
  const post = await stage.runPost(main);

  expectRevoked(stage, main, post);
  for (const step of [main, post]) {
    expect(step.masks).toContain(login.password);
    expect(withoutMasks(step.output) + step.summary).not.toContain(login.password);
    expect(step.output).not.toContain('DeprecationWarning');
  }
  for (const { headers } of stage.service.requests) expect(headers).not.toHaveProperty('proxy-authorization');
});

test.concurrent('no proxy is used for the own machine, but its password is masked as written and decoded', async (context) => {
  const { service, operation, run } = await setStage(context, { overSockets: true });
  const [secret, short] = ['http://user:secret%2Fword@127.0.0.1:1', 'http://user:seven77@127.0.0.1:1'];

  const result = await run(
    { 'operation-id': operation({ lengthMs: 0 }).id },
    { env: { https_proxy: secret, http_proxy: secret, HTTP_PROXY: short } },
  );

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect([...new Set(result.masks)]).toEqual(['secret%2Fword', 'secret/word', service.apiKey]);
});

const page = '<!DOCTYPE html><title>Sign in</title>';
const pageWith403 = proxyResponse('403 Forbidden', 'Content-Type: text/html', page);
const rejections: readonly (readonly [name: string, behaviour: ProxyBehaviour, says: RegExp, attempts: number])[] = [
  ['requires a login', { kind: 'says', text: loginRequired }, /login \(status 407\).*https_proxy/, 1],
  ['rejects its login', { kind: 'login', ...login, password: 'another' }, /login \(status 407\).*https_proxy/, 1],
  ['is busy', { kind: 'says', text: proxyResponse('503 Busy', 'Retry-After: 0') }, /proxy rejected.*status 503/, 5],
  ['sends a page', { kind: 'says', text: pageWith403 }, /proxy rejected the tunnel with status 403/, 5],
  ['sends a page into the tunnel', says(proxyResponse('200 OK', 'Content-Type: text/html', page)), /proxy/, 5],
  ['speaks no HTTP', says('SSH-2.0-OpenSSH_9.2\r\n'), /proxy 127\.0\.0\.1|The response is not HTTP/, 5],
  ['hangs up', says(''), /proxy 127\.0\.0\.1/, 5],
];

function says(text: string): ProxyBehaviour {
  return { kind: 'says', text };
}

for (const [name, behaviour, said, attempts] of rejections) {
  test.concurrent(`the error for a proxy that ${name} says so, and nothing reaches the service`, async (context) => {
    const { service, proxy, run } = await setSecureStage(context, { behaviour });
    const https_proxy = proxyUrl(proxy, `${login.user}:${login.password}@`);

    const result = await run(anyId, { env: { https_proxy }, nodeArgs: shortPauses });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.exitCode).toBe(1);
    expect(errorOf(result)).toMatch(said);
    expect(errorOf(result)).toMatch(/proxy/);
    expect(withoutMasks(result.output) + result.summary).not.toContain(login.password);
    expect(proxy.asked).toHaveLength(attempts);
    expect(service.requests).toEqual([]);
  });
}

test.concurrent('the error for a proxy that is not there names it without its password', async (context) => {
  const { run } = await setSecureStage(context);

  // Port 1, because another test could get a port that was just closed.
  const https_proxy = 'http://user:secret-word@127.0.0.1:1';
  const result = await run(anyId, { env: { https_proxy }, nodeArgs: shortPauses });

  expect(errorOf(result)).toContain('Connection refused by the proxy 127.0.0.1:1 (ECONNREFUSED)');
  expect(withoutMasks(result.output) + result.summary).not.toContain('secret-word');
});

for (const [name, text, reason] of [
  ['requires a login', loginRequired, /proxy requires a login \(status 407\)/],
  ['sends a page', pageWith403, /proxy rejected the tunnel with status 403/],
] as const) {
  test.concurrent(`the warning for a proxy that ${name} in post alone names the key`, async (context) => {
    const stage = await setSecureStage(context);
    const rejecting = await startProxy(context, stage.port, says(text));

    const main = await stage.runMode('create-key');
    const post = await stage.runPost(main, { env: { https_proxy: proxyUrl(rejecting) }, nodeArgs: shortPauses });

    expectNotRevoked(stage, main, post, reason);
    expect(rejecting.asked).not.toEqual([]);
  });
}

for (const [name, value] of [
  ['https_proxy', 'user:secret-word@127.0.0.1:1'],
  ['HTTPS_PROXY', 'user:secret-word@127.0.0.1:1'],
  ['https_proxy', 'http://user:100%secret-word@127.0.0.1:1'],
] as const) {
  test.concurrent(`an invalid proxy in ${name} is rejected by name, and not gone past: ${value}`, async (context) => {
    const { service, port, run } = await setSecureStage(context);

    const inputs = { ...anyId, 'base-url': `https://control.test:${port}/v2` };
    const result = await run(inputs, { env: { https_proxy: undefined, [name]: value }, ...ownName });

    expect(errorOf(result)).toMatch(invalid(name));
    expect(withoutMasks(result.output) + result.summary).not.toMatch(/secret-word|0\.1:1\b/);
    expect(service.requests).toEqual([]);
  });
}

test.concurrent('an invalid proxy in post alone is rejected by name, and not gone past', async (context) => {
  const stage = await setSecureStage(context);

  const main = await stage.runMode('create-key');
  const env = { https_proxy: undefined, HTTPS_PROXY: 'user:secret-word@127.0.0.1:1' };
  const post = await stage.runPost(main, { env, ...ownName });

  expectNotRevoked(stage, main, post, invalid('HTTPS_PROXY'));
  expect(withoutMasks(post.output) + post.summary).not.toContain('secret-word');
  expect(post.masks).toContain('secret-word');
  expect(stage.service.requests).toHaveLength(1);
});

function invalid(name: string): RegExp {
  return new RegExp(`${name} is not a valid URL.*http://host:port`);
}

test.runIf(hasIpv6).concurrent('a proxy may have an IPv6 address', async (context) => {
  const { port, operation, run } = await setSecureStage(context);
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { host: '::1' });

  const env = { https_proxy: `http://[::1]:${proxy.port}` };
  const result = await run({ 'operation-id': operation({ lengthMs: 0 }).id }, { env });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).toHaveLength(1);
});

test.concurrent('a TLS proxy is verified by its own certificate, and the service behind it by its own', async (context) => {
  const { port, operation, run } = await setSecureStage(context, { tls: ofAnotherName });
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });

  const inputs = { 'operation-id': operation({ lengthMs: 0 }).id, 'base-url': 'https://elsewhere.test/v2' };
  const result = await run(inputs, { env: { https_proxy: `https://127.0.0.1:${proxy.port}` } });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).toHaveLength(1);
});
