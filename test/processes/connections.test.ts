import { expect, test } from 'vitest';
import { hasIpv6 } from '../kit/listen.js';
import { startRelay } from '../kit/peers.js';
import { preload } from '../kit/preload.js';
import { expectRevoked, setSecureStage } from '../kit/secure-stage.js';
import { setProcess, warningsOf } from '../kit/stage.js';
import { authorityFile, good } from '../kit/tls/certificates.js';
import { forever } from '../kit/wait.js';

test.concurrent('wait-operation polls over one connection, and opens another only after a request without a response', async (context) => {
  const { service, operation, start } = await setProcess(context);
  const relay = await startRelay(context, Number(new URL(service.baseUrl).port));
  const pending = operation(forever);
  const url = `http://127.0.0.1:${relay.port}/v2`;
  const inputs = { 'base-url': url, 'poll-interval': '100ms' };
  const step = start({ 'operation-id': pending.id, ...inputs });
  await step.reach(service.ended({ endpoint: 'get-operation', n: 4 }));
  expect(relay.connections()).toBe(1);
  relay.silence();
  service.plane.endOperation(pending);
  const result = await step.done;
  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': pending.id });
  expect(relay.connections()).toBe(2);
});

test.concurrent('create-key and post reach a host in NO_PROXY directly although only one of its addresses responds', async (context) => {
  const stage = await setSecureStage(context);
  // The addresses of the documentation never respond; the other one accepts a connection late.
  const ADDRESSES = '192.0.2.1,127.0.0.1,2001:db8::1,192.0.2.2';
  const options = { env: { NO_PROXY: 'else.test,control.test', ADDRESSES }, nodeArgs: preload('control-test-is-here') };
  const main = await stage.runMode('create-key', { 'base-url': `https://control.test:${stage.port}/v2` }, options);
  const post = await stage.runPost(main);
  expectRevoked(stage, main, post);
  expect(warningsOf(main)).toEqual([]);
  expect(stage.service.requests).toHaveLength(3);
  expect(stage.proxy.asked).toEqual([]);
});

test.runIf(hasIpv6).concurrent('create-key and post reach an IPv6 address in base-url', async (context) => {
  const stage = await setProcess(context, { host: '::1', tls: good });
  const main = await stage.runMode('create-key', {}, { env: { NODE_EXTRA_CA_CERTS: authorityFile } });
  expectRevoked(stage, main, await stage.runPost(main));
  expect(stage.service.baseUrl).toContain('[::1]');
});
