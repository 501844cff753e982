import { expect, type TestContext, test } from 'vitest';
import { startControlPlane } from '../../control-plane/index.js';
import { startProxy } from '../kit/peers.js';
import { expectNotRevoked } from '../kit/post-results.js';
import { lateStart, shortPauses } from '../kit/preload.js';
import { proxyUrl, setSecureStage } from '../kit/secure-stage.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import { addOldAndYoung, expectWarned, setSweep } from '../kit/sweep.js';
import { authorityFile, expired, good, ofAnotherName } from '../kit/tls/certificates.js';
import { anyId, setProcess } from './process-stage.js';

const trusting = { NODE_EXTRA_CA_CERTS: authorityFile };
const unknownAuthority = /certificate.*NODE_EXTRA_CA_CERTS/;

test.concurrent.for([
  ['a certificate that has expired', 'https', expired, /certificate of the service has expired/],
  [
    'a certificate for another host name',
    'https',
    ofAnotherName,
    /certificate of the service is for another host name/,
  ],
  // No file and line of a library's source.
  ['a plain server at https', 'https', undefined, /GET \/v2\/projects\/.+: (?!.*\.c:\d).{10}.*base-url/],
  ['a TLS server at http', 'http', good, /GET \/v2\/projects\/.+: (?!.*\.c:\d).{10}.*base-url/],
] as const)('%s is an error with its reason, and no request is sent', async ([, scheme, tls, reason], context) => {
  const { service, run } = await setProcess(context, tls && { tls });

  const inputs = { ...anyId, 'base-url': service.baseUrl.replace(/^\w+/, scheme) };
  const result = await run(inputs, { env: trusting, nodeArgs: shortPauses });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(reason);
  expect(service.requests).toEqual([]);
});

/** For a step that meets a certificate of an unknown authority. */
const careless = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_EXTRA_CA_CERTS: undefined };

/** Runs such a step. Returns its error, and whether a server saw a request of it. */
type Encounter = (context: TestContext) => Promise<readonly [error: string, wasSent: boolean]>;

const encounters: Readonly<Record<string, Encounter>> = {
  'of the service': async (context) => {
    const { service, run } = await setProcess(context, { tls: good });
    const result = await run(anyId, { env: careless, nodeArgs: shortPauses });
    expect(result.stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    return [errorOf(result), service.requests.length > 0];
  },
  'of the service behind a proxy': async (context) => {
    const { service, proxy, run } = await setSecureStage(context);
    const result = await run(anyId, { env: careless, nodeArgs: shortPauses });
    expect(proxy.asked).not.toEqual([]);
    return [errorOf(result), service.requests.length > 0];
  },
  'of a proxy': async (context) => {
    const { port, run } = await setSecureStage(context);
    const proxy = await startProxy(context, port, { kind: 'tunnel' }, { tls: good });
    const https_proxy = `https://user:secret-word@127.0.0.1:${proxy.port}`;
    const result = await run(anyId, { env: { ...careless, https_proxy }, nodeArgs: shortPauses });
    return [errorOf(result), proxy.asked.length > 0];
  },
  'of the service in post': async (context) => {
    const stage = await setProcess(context, { tls: good });
    const main = await stage.runMode('create-key', {}, { env: trusting });
    const post = await stage.runPost(main, { env: careless, nodeArgs: [...shortPauses, ...lateStart] });
    expectNotRevoked(stage, main, post, unknownAuthority);
    return [warningsOf(post).join(), stage.service.requests.length > 1];
  },
};

test.concurrent.for(Object.entries(encounters))(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 makes no step accept the unknown certificate %s',
  async ([, meet], context) => {
    const [error, wasSent] = await meet(context);

    expect(error).toMatch(unknownAuthority);
    expect(wasSent).toBe(false);
  },
);

test.concurrent.for(['directly', 'through a proxy'])(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 makes no sweep accept an unknown certificate of GitHub %s',
  async (way, context) => {
    const stage = await setSweep(context, { overSockets: true });
    const [old, young] = addOldAndYoung(stage);
    const github = await startControlPlane({ tls: good });
    context.onTestFinished(() => github.close());
    const { port } = new URL(github.baseUrl);
    const proxy = await startProxy(context, Number(port));

    const url =
      way === 'directly'
        ? { GITHUB_API_URL: `https://127.0.0.1:${port}` }
        : { GITHUB_API_URL: 'https://control.test', https_proxy: proxyUrl(proxy) };
    const result = await stage.sweep({}, { env: { ...careless, ...url }, nodeArgs: shortPauses });

    expectWarned(result, [old], [young], /GitHub could not be reached/);
    expect(proxy.asked.length > 0).toBe(way !== 'directly');
    expect(github.requests).toEqual([]);
  },
);
