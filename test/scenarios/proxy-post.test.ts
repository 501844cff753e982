import { expect, type TestContext, test } from 'vitest';
import type { RunningControlPlane } from '../control-plane/index.js';
import type { StepOptions, StepResult } from '../runner/step.js';
import { hasIpv6 } from './has-ipv6.js';
import { type ProxyManner, proxyAnswer, wantsLogin } from './proxy-server.js';
import { sabotage } from './sabotage.js';
import { hiddenUrl, setSecureStage } from './secure-stage.js';
import { setStage, warningsOf, withoutMasks } from './stage.js';
import { authorityFile, expired, ofAnotherName } from './tls/certificates.js';

/** A key is made through the proxy, and post finds what `post` says in place of main's surroundings. */
async function mint(
  context: TestContext,
  { manner, login = '', post }: { readonly manner?: ProxyManner; readonly login?: string; readonly post?: StepOptions },
) {
  const stage = await setSecureStage(context, manner);
  const main = await stage.runMode(
    'create-key',
    { 'base-url': hiddenUrl },
    { env: { https_proxy: `http://${login}127.0.0.1:${stage.proxy.port}`, NODE_EXTRA_CA_CERTS: authorityFile } },
  );
  expect(main.conclusion).toBe('success');
  return { ...stage, main, after: await stage.runPost(main, { limitMs: 30_000, ...post }) };
}

function expectRevoked(service: RunningControlPlane, main: StepResult, post: StepResult): void {
  expect(service.plane.isAlive(main.outputs['key-id'] ?? '')).toBe(false);
  expect(post.summary).toContain(`Key ${main.outputs['key-id']} was revoked`);
  expect(warningsOf(post)).toEqual([]);
}

/** One warning that names the key, and says why. */
function expectTold(service: RunningControlPlane, main: StepResult, post: StepResult, why: RegExp): void {
  const id = main.outputs['key-id'] ?? '';
  expect(service.plane.isAlive(id)).toBe(true);
  expect(warningsOf(post)).toHaveLength(1);
  expect(warningsOf(post)[0]).toContain(id);
  expect(warningsOf(post)[0]).toMatch(why);
  expect(post.conclusion).toBe('success');
}

test.concurrent('post revokes through the proxy that main made the key through', async (context) => {
  const { service, proxy, main, after } = await mint(context, {});

  expectRevoked(service, main, after);
  expect(proxy.asked.map(({ url }) => url)).toEqual(['control.test:443', 'control.test:443']);
  for (const { headers } of proxy.asked) expect(JSON.stringify(headers)).not.toContain(main.outputs['key']);
});

test.concurrent('and with the login that its variable holds', async (context) => {
  const login = { user: 'proxy-user', password: 'proxy-password' };
  const { service, main, after } = await mint(context, {
    manner: { kind: 'login', ...login },
    login: `${login.user}:${login.password}@`,
  });

  expectRevoked(service, main, after);
  expect(withoutMasks(main.output) + withoutMasks(after.output) + after.summary).not.toContain(login.password);
  expect(main.masks).toContain(login.password);
  expect(after.masks).toContain(login.password);
  for (const { headers } of service.requests) expect(headers['proxy-authorization']).toBe(undefined);
});

for (const name of ['no_proxy', 'NO_PROXY']) {
  test.concurrent(`${name} leads post past the proxy, as it led main`, async (context) => {
    const stage = await setSecureStage(context);
    const main = await stage.runMode(
      'create-key',
      { 'base-url': `https://control.test:${stage.port}/v2` },
      {
        env: {
          https_proxy: `http://127.0.0.1:${stage.proxy.port}`,
          [name]: 'control.test',
          NODE_EXTRA_CA_CERTS: authorityFile,
        },
        nodeArgs: sabotage('control-test-is-here'),
      },
    );
    const post = await stage.runPost(main);

    expectRevoked(stage.service, main, post);
    expect(stage.proxy.asked).toEqual([]);
  });
}

test.concurrent('a proxy variable without a scheme is not ignored in post either', async (context) => {
  const { service, proxy, main, after } = await mint(context, {
    post: { env: { https_proxy: undefined, HTTPS_PROXY: 'user:secret-word@127.0.0.1:1' } },
  });

  expectTold(service, main, after, /HTTPS_PROXY is not a valid URL/);
  expect(withoutMasks(after.output) + after.summary).not.toContain('secret-word');
  expect(after.masks).toContain('secret-word');
  expect(proxy.asked).toHaveLength(1);
});

test.concurrent('an authority that post does not trust is told, with the key', async (context) => {
  const { service, main, after } = await mint(context, { post: { env: { NODE_EXTRA_CA_CERTS: undefined } } });

  expectTold(service, main, after, /NODE_EXTRA_CA_CERTS/);
});

test.concurrent('a host name that post cannot look up is told, with the key', async (context) => {
  const { service, main, after } = await mint(context, {
    post: { env: { https_proxy: undefined }, nodeArgs: sabotage('no-name-is-known') },
  });

  expectTold(service, main, after, /host name control\.test was not found/);
});

for (const [what, text, why] of [
  ['wants a login', wantsLogin, /proxy requires a login \(status 407\)/],
  [
    'answers with a page',
    proxyAnswer('403 Forbidden', 'Content-Type: text/html', '<!DOCTYPE html><title>Sign in</title>'),
    /proxy rejected the tunnel with status 403/,
  ],
] as const) {
  test.concurrent(`a proxy that ${what} of post alone is told, with the key`, async (context) => {
    const refusing = await setSecureStage(context, { kind: 'says', text });
    const { service, main, after } = await mint(context, {
      post: { env: { https_proxy: `http://127.0.0.1:${refusing.proxy.port}` } },
    });

    expectTold(service, main, after, why);
    expect(refusing.proxy.asked.length).toBeGreaterThan(0);
  });
}

for (const [what, tls, why] of [
  ['that has expired', expired, /certificate of the service has expired/],
  ['for another host name', ofAnotherName, /certificate of the service is for another host name/],
] as const) {
  test.concurrent(`a certificate ${what} in post alone is told, with the key, and sees no request`, async (context) => {
    const wrong = await setSecureStage(context, undefined, { tls });
    const { service, main, after } = await mint(context, {
      post: { env: { https_proxy: `http://127.0.0.1:${wrong.proxy.port}` } },
    });

    expectTold(service, main, after, why);
    expect(wrong.service.requests).toEqual([]);
  });
}

test.concurrent('a tunnel behind which nobody says a word holds post up for 20 s, and is told, with the key', async (context) => {
  const mute = await setSecureStage(context, { kind: 'silent' });
  const { service, main, after } = await mint(context, {
    post: { env: { https_proxy: `http://127.0.0.1:${mute.proxy.port}` } },
  });

  expectTold(service, main, after, /the post step timed out/);
});

test.runIf(hasIpv6).concurrent('post finds its way to an IPv6 address', async (context) => {
  const { service, runMode, runPost } = await setStage(context, { host: '::1' });
  const main = await runMode('create-key');

  expectRevoked(service, main, await runPost(main));
  expect(service.baseUrl).toContain('[::1]');
});
