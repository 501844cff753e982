import { expect, test } from 'vitest';
import { startProxy } from '../kit/peers.js';
import { expectRevoked, proxyUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, withoutMasks } from '../kit/stage.js';
import { good, ofAnotherName } from '../kit/tls/certificates.js';

const [user, password] = ['proxy-user', 'proxy-password'];
const login = `${user}:${password}`;

test.concurrent('create-key and post use the proxy in HTTPS_PROXY, and only the proxy gets its password', async (context) => {
  const stage = await setSecureStage(context, { behaviour: { login } });
  const { service, proxy } = stage;
  const env = { https_proxy: undefined, HTTPS_PROXY: proxyUrl(proxy, `${login}@`) };
  const main = await stage.runMode('create-key', {}, { env, debug: true });
  const post = await stage.runPost(main);
  expectRevoked(stage, main, post);
  for (const step of [main, post]) {
    expect(step.masks).toContain(password);
    expect(withoutMasks(step.output) + step.summary).not.toContain(password);
    expect(step.output).not.toContain('DeprecationWarning');
  }
  expect(proxy.asked.map(({ url }) => url)).toEqual(['control.test:443', 'control.test:443']);
  const seenByProxy = JSON.stringify(proxy.asked.map(({ headers }) => headers));
  expect(seenByProxy).not.toContain(main.outputs['key']);
  expect(seenByProxy).not.toContain(service.apiKey);
  expect(service.requests[0]?.headers['host']).toBe('control.test');
  for (const { headers } of service.requests) expect(headers).not.toHaveProperty('proxy-authorization');
});

test.concurrent('a step reaches the service through an HTTPS proxy if each has a certificate for its own host', async (context) => {
  const { port, operation, run } = await setSecureStage(context, { tls: ofAnotherName });
  const proxy = await startProxy(context, port, {}, good);
  const inputs = { 'operation-id': operation({ lengthMs: 0 }).id, 'base-url': 'https://elsewhere.test/v2' };
  const result = await run(inputs, { env: { https_proxy: `https://127.0.0.1:${proxy.port}` } });
  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).toHaveLength(1);
});

test.concurrent('send-request fails at once and names the variable if https_proxy is no URL', async (context) => {
  const { runMode } = await setSecureStage(context);
  const inputs = { request: 'POST /projects/p-1/branches' };
  const result = await runMode('send-request', inputs, { env: { https_proxy: 'no-url' } });
  expect(result.outputs['status']).toBe('error');
  expect(errorOf(result)).toContain('https_proxy is not a valid URL');
});
