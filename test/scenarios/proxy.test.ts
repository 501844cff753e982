import { expect, test } from 'vitest';
import { hasIpv6 } from './has-ipv6.js';
import { proxyAnswer, startProxy, wantsLogin } from './proxy-server.js';
import { quickDice, sabotage } from './sabotage.js';
import { hiddenUrl, setSecureStage } from './secure-stage.js';
import { errorOf, setStage, withoutMasks } from './stage.js';
import { authorityFile, good, ofAnotherName } from './tls/certificates.js';

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

test.concurrent('the service is reached through the proxy that https_proxy names', async (context) => {
  const { service, proxy, runBehindProxy } = await setSecureStage(context);
  const operation = service.plane.startOperation({ lengthMs: 1_000 });

  const result = await runBehindProxy({ 'operation-id': operation.id });

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  expect(proxy.asked[0]?.url).toBe('control.test:443');
  expect(service.requests[0]?.headers['host']).toBe('control.test');
});

test.concurrent('HTTPS_PROXY in capitals is as good', async (context) => {
  const { service, proxy, start } = await setSecureStage(context);
  const operation = service.plane.startOperation({ lengthMs: 0 });

  const result = await start(
    { 'operation-id': operation.id, 'base-url': hiddenUrl },
    { env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile } },
  ).done;

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).not.toEqual([]);
});

for (const name of ['no_proxy', 'NO_PROXY']) {
  test.concurrent(`${name} leads past the proxy`, async (context) => {
    const { service, port, proxy, start } = await setSecureStage(context);
    const operation = service.plane.startOperation({ lengthMs: 0 });

    const result = await start(
      { 'operation-id': operation.id, 'base-url': `https://control.test:${port}/v2` },
      {
        env: {
          https_proxy: `http://127.0.0.1:${proxy.port}`,
          [name]: 'elsewhere.test,control.test',
          NODE_EXTRA_CA_CERTS: authorityFile,
        },
        nodeArgs: sabotage('control-test-is-here'),
      },
    ).done;

    expect(result.outputs).toMatchObject({ status: 'finished' });
    expect(proxy.asked).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });
}

test.concurrent('a proxy that demands a login is final, and the error says where the login goes', async (context) => {
  const { proxy, service, runBehindProxy } = await setSecureStage(context, { kind: 'says', text: wantsLogin });

  const result = await runBehindProxy(anyId);

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.conclusion).toBe('failure');
  expect(proxy.asked).toHaveLength(1);
  expect(service.requests).toEqual([]);
  expect(errorOf(result)).toMatch(/407/);
  expect(errorOf(result)).toMatch(/https_proxy/);
});

test.concurrent('a proxy gets the login that its variable holds, nobody else sees it, and Node warns of nothing', async (context) => {
  const login = { user: 'proxy-user', password: 'proxy-password' };
  const { service, proxy, runBehindProxy } = await setSecureStage(context, { kind: 'login', ...login });
  const operation = service.plane.startOperation({ lengthMs: 700 });
  const https_proxy = `http://${login.user}:${login.password}@127.0.0.1:${proxy.port}`;

  const result = await runBehindProxy({ 'operation-id': operation.id }, { https_proxy, RUNNER_DEBUG: '1' });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(result.log + result.summary).not.toContain(login.password);
  expect(result.log).not.toContain('DeprecationWarning');
  for (const { headers } of service.requests) expect(headers['proxy-authorization']).toBe(undefined);
});

test.concurrent('a login that is wrong is final', async (context) => {
  const { proxy, runBehindProxy } = await setSecureStage(context, { kind: 'login', user: 'a', password: 'right' });

  const result = await runBehindProxy(anyId, { https_proxy: `http://a:wrong-password@127.0.0.1:${proxy.port}` });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(proxy.asked).toHaveLength(1);
  expect(result.log).not.toContain('wrong-password');
});

const html = '<!DOCTYPE html><title>Sign in</title>';
for (const [name, text, said] of [
  ['that refuses with 503', proxyAnswer('503 Service Unavailable', 'Retry-After: 0'), /proxy.*503/],
  ['that forbids with a page', proxyAnswer('403 Forbidden', 'Content-Type: text/html', html), /proxy.*403/],
  ['that says 200 and sends a page into the tunnel', proxyAnswer('200 OK', 'Content-Type: text/html', html), /proxy/i],
  ['that speaks no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /./],
  ['that hangs up', '', /./],
] as const) {
  test.concurrent(`a proxy ${name} ends the step red, and the error says so`, async (context) => {
    const { service, proxy, start } = await setSecureStage(context, { kind: 'says', text });

    const result = await start(
      { ...anyId, 'base-url': hiddenUrl },
      {
        env: { https_proxy: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile },
        nodeArgs: quickDice,
      },
    ).done;

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.conclusion).toBe('failure');
    expect(service.requests).toEqual([]);
    expect(proxy.asked.length).toBeGreaterThan(0);
    expect(errorOf(result)).toMatch(said);
    expect(errorOf(result)).toMatch(/proxy/i);
  });
}

test.concurrent('a proxy that is not there ends the step red, and the error names it without its password', async (context) => {
  const { run } = await setStage(context);

  // Nobody listens there; a port that was just given back could be that of another test.
  const result = await run(
    { ...anyId, 'base-url': hiddenUrl },
    { env: { https_proxy: 'http://user:secret-word@127.0.0.1:1' }, nodeArgs: quickDice },
  );

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toContain('Connection refused by the proxy 127.0.0.1:1 (ECONNREFUSED)');
  expect(withoutMasks(result.output) + result.summary).not.toContain('secret-word');
});

test.concurrent('a password of a proxy is masked as written and decoded, a short one is not', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

  const result = await run(
    { 'operation-id': operation.id },
    { env: { https_proxy: 'http://user:secret%2Fword@127.0.0.1:1', HTTP_PROXY: 'http://user:seven77@127.0.0.1:1' } },
  );

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(result.masks).toEqual(['secret%2Fword', 'secret/word', service.apiKey]);
});

for (const name of ['https_proxy', 'HTTPS_PROXY']) {
  test.concurrent(`a proxy in ${name} without a scheme is rejected, and nothing goes past it`, async (context) => {
    const { service, port, start } = await setSecureStage(context);

    const result = await start(
      { ...anyId, 'base-url': `https://control.test:${port}/v2` },
      {
        env: { [name]: 'user:secret-word@proxy.internal:3128', NODE_EXTRA_CA_CERTS: authorityFile },
        nodeArgs: sabotage('control-test-is-here'),
      },
    ).done;

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(`${name} is not a valid URL`);
    expect(errorOf(result)).toContain('http://host:port');
    expect(withoutMasks(result.output) + result.summary).not.toMatch(/secret-word|proxy\.internal/);
    expect(service.requests).toEqual([]);
  });
}

test.runIf(hasIpv6).concurrent('a proxy may be an IPv6 address', async (context) => {
  const { service, port, start } = await setSecureStage(context);
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { host: '::1' });
  const operation = service.plane.startOperation({ lengthMs: 0 });

  const result = await start(
    { 'operation-id': operation.id, 'base-url': hiddenUrl },
    { env: { https_proxy: `http://[::1]:${proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile } },
  ).done;

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).not.toEqual([]);
});

test.concurrent('a proxy that speaks TLS is known by its own certificate, and the service behind it by its own', async (context) => {
  const { service, port, start } = await setSecureStage(context, undefined, { tls: ofAnotherName });
  const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });
  const operation = service.plane.startOperation({ lengthMs: 0 });

  const result = await start(
    { 'operation-id': operation.id, 'base-url': 'https://elsewhere.test/v2' },
    { env: { https_proxy: `https://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile } },
  ).done;

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(proxy.asked).not.toEqual([]);
});

for (const variable of ['http://user:100%@127.0.0.1:1', 'http://user:100p@127.0.0.1:notaport', '://100p']) {
  test.concurrent(`a proxy variable that is no URL is refused, and not gone past: ${variable}`, async (context) => {
    const { run } = await setStage(context);

    const result = await run({ ...anyId, 'base-url': hiddenUrl }, { env: { https_proxy: variable } });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/https_proxy is not a valid URL/);
    expect(result.output).not.toMatch(/100[%p]/);
  });
}

test.concurrent('no proxy is asked for what is on the own machine', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

  const result = await run(
    { 'operation-id': operation.id },
    { env: { http_proxy: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' } },
  );

  expect(result.outputs).toMatchObject({ status: 'finished' });
});

for (const [name, tls] of [
  ['http', {}],
  ['https', { tls: good }],
] as const) {
  test.runIf(hasIpv6).concurrent(`an IPv6 address in base-url is reached by ${name}`, async (context) => {
    const { service, projectId, run } = await setStage(context, { host: '::1', ...tls });
    const operation = service.plane.startOperation({ projectId, lengthMs: 700 });

    const result = await run({ 'operation-id': operation.id }, { env: { NODE_EXTRA_CA_CERTS: authorityFile } });

    expect(service.baseUrl).toContain('[::1]');
    expect(result.outputs).toMatchObject({ status: 'finished' });
  });
}
