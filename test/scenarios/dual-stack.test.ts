import { expect, test } from 'vitest';
import type { StepOptions } from '../runner/step.js';
import { sabotage } from './sabotage.js';
import { hiddenUrl, setSecureStage } from './secure-stage.js';
import { warningsOf } from './stage.js';
import { authorityFile } from './tls/certificates.js';

/** Each with one that answers late; the others never answer. */
const addresses = ['2001:db8::1,127.0.0.1', '127.0.0.1,2001:db8::1', '192.0.2.1,127.0.0.1,2001:db8::1,192.0.2.2'];

function reachedAt(list: string, env: StepOptions['env'] = {}): StepOptions {
  return {
    env: { ADDRESSES: list, NODE_EXTRA_CA_CERTS: authorityFile, ...env },
    nodeArgs: sabotage('two-addresses'),
  };
}

for (const list of addresses) {
  test.concurrent(`a host at ${list} is reached where only one address answers, and late`, async (context) => {
    const { service, port, start } = await setSecureStage(context);
    const operation = service.plane.startOperation({ lengthMs: 0 });

    const inputs = { 'operation-id': operation.id, 'base-url': `https://control.test:${port}/v2` };
    const result = await start(inputs, reachedAt(list)).done;

    expect(result.outputs).toMatchObject({ status: 'finished' });
    expect(warningsOf(result)).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  test.concurrent(`a proxy at ${list} is reached where only one address answers, and late`, async (context) => {
    const { service, proxy, start } = await setSecureStage(context);
    const operation = service.plane.startOperation({ lengthMs: 0 });

    const inputs = { 'operation-id': operation.id, 'base-url': hiddenUrl };
    const result = await start(inputs, reachedAt(list, { https_proxy: `http://control.test:${proxy.port}` })).done;

    expect(result.outputs).toMatchObject({ status: 'finished' });
    expect(proxy.asked).toHaveLength(1);
  });
}

test.concurrent('post reaches such a host, too', async (context) => {
  const { service, port, runMode, runPost } = await setSecureStage(context);
  const options = reachedAt('127.0.0.1,2001:db8::1');

  const main = await runMode('create-key', { 'base-url': `https://control.test:${port}/v2` }, options);
  const post = await runPost(main);

  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive(main.outputs['key-id'] ?? '')).toBe(false);
  expect(warningsOf(post)).toEqual([]);
});
