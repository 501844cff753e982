import { expect, test } from 'vitest';
import { startProxy } from '../kit/peers.js';
import { expectNotRevoked, expectRevoked } from '../kit/post-results.js';
import { preload } from '../kit/preload.js';
import { proxyUrl, type SecureStage, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, withoutMasks } from '../kit/stage.js';
import { good, ofAnotherName } from '../kit/tls/certificates.js';
import { anyId, setProcess } from './process-stage.js';

const login = { user: 'proxy-user', password: 'proxy-password' };
const ownName = { nodeArgs: preload('control-test-is-here') };

test.concurrent('main and post reach the service through the proxy of HTTPS_PROXY, which alone gets its login', async (context) => {
  const stage = await setSecureStage(context, { behaviour: { kind: 'login', ...login } });
  const { service, proxy } = stage;
  const env = { https_proxy: undefined, HTTPS_PROXY: proxyUrl(proxy, `${login.user}:${login.password}@`) };

  const main = await stage.runMode('create-key', {}, { env, debug: true });
  const post = await stage.runPost(main);

  expectRevoked(stage, main, post);
  for (const step of [main, post]) {
    expect(step.masks).toContain(login.password);
    expect(withoutMasks(step.output) + step.summary).not.toContain(login.password);
    expect(step.output).not.toContain('DeprecationWarning');
  }
  expect(proxy.asked.map(({ url }) => url)).toEqual(['control.test:443', 'control.test:443']);
  const seenByProxy = JSON.stringify(proxy.asked.map(({ headers }) => headers));
  expect(seenByProxy).not.toContain(main.outputs['key']);
  expect(seenByProxy).not.toContain(service.apiKey);
  expect(service.requests[0]?.headers['host']).toBe('control.test');
  for (const { headers } of service.requests) expect(headers).not.toHaveProperty('proxy-authorization');
});

// Post looks a name up in another process. On a busy machine that takes seconds of its 20, so this test runs alone.
test('main and post go past the proxy to a host of NO_PROXY', async (context) => {
  const stage = await setSecureStage(context);

  const env = { NO_PROXY: 'else.test,control.test' };
  const main = await stage.runMode('create-key', past(stage), { env, ...ownName });
  const post = await stage.runPost(main);

  expectRevoked(stage, main, post);
  expect(stage.proxy.asked).toEqual([]);
});

/** The service at its own port: at 443 only the proxy knows it. */
function past({ port }: SecureStage) {
  return { 'base-url': `https://control.test:${port}/v2` };
}

test.concurrent('no proxy is used for the own machine, but its password is masked as written and decoded', async (context) => {
  const { service, operation, run } = await setProcess(context);
  const [secret, short] = ['http://user:secret%2Fword@127.0.0.1:1', 'http://user:seven77@127.0.0.1:1'];

  const result = await run(
    { 'operation-id': operation({ lengthMs: 0 }).id },
    { env: { https_proxy: secret, http_proxy: secret, HTTP_PROXY: short } },
  );

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect([...new Set(result.masks)]).toEqual(['secret%2Fword', 'secret/word', service.apiKey]);
});

test.concurrent('a proxy that rejects its login is an error that does not show it, and nothing reaches the service', async (context) => {
  const { service, proxy, run } = await setSecureStage(context, { behaviour: { kind: 'login', ...login } });
  const https_proxy = proxyUrl(proxy, `${login.user}:another-password@`);

  const result = await run(anyId, { env: { https_proxy } });

  expect(result).toMatchObject({ exitCode: 1, outputs: { status: 'error' } });
  expect(errorOf(result)).toMatch(/proxy requires a login \(status 407\).*https_proxy/);
  expect(withoutMasks(result.output) + result.summary).not.toContain('another-password');
  expect(proxy.asked).toHaveLength(1);
  expect(service.requests).toEqual([]);
});

test.concurrent('an invalid proxy in main is rejected by name, and not gone past', async (context) => {
  const stage = await setSecureStage(context);

  const options = { env: { https_proxy: 'user:secret-word@127.0.0.1:1' }, ...ownName };
  const result = await stage.run({ ...anyId, ...past(stage) }, options);

  expect(errorOf(result)).toMatch(invalid('https_proxy'));
  expect(withoutMasks(result.output) + result.summary).not.toMatch(/secret-word|0\.1:1\b/);
  expect(stage.service.requests).toEqual([]);
});

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

test.concurrent('a TLS proxy is verified by its own certificate, and the service behind it by its own', async (context) => {
  const { port, operation, run } = await setSecureStage(context, { tls: ofAnotherName });
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });

  const inputs = { 'operation-id': operation({ lengthMs: 0 }).id, 'base-url': 'https://elsewhere.test/v2' };
  const result = await run(inputs, { env: { https_proxy: `https://127.0.0.1:${proxy.port}` } });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).toHaveLength(1);
});
