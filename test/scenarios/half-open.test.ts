import { expect, test } from 'vitest';
import { reach } from './reach.js';
import { startRelay } from './relay.js';
import { errorOf, setStage, warningsOf } from './stage.js';

const forever = { lengthMs: Number.POSITIVE_INFINITY };

test.concurrent('a connection whose other end is gone without a word is given up, and the wait goes on by another', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const relay = await startRelay(context, portOf(service.baseUrl));
  const operation = service.plane.startOperation({ projectId, ...forever });

  const step = start({
    'operation-id': operation.id,
    'base-url': `http://127.0.0.1:${relay.port}/v2`,
    'request-timeout': '1s',
  });
  await reach(step, service.ended());
  relay.vanish();
  service.plane.endOperation(operation);
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': operation.id });
  expect(relay.connections).toBe(2);
  expect(service.requests).toHaveLength(2);
});

test.concurrent('it does not move the deadline', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const relay = await startRelay(context, portOf(service.baseUrl));
  const operation = service.plane.startOperation({ projectId, ...forever });

  const step = start({
    'operation-id': operation.id,
    'base-url': `http://127.0.0.1:${relay.port}/v2`,
    timeout: '3s',
  });
  await reach(step, service.ended());
  relay.vanish();
  const result = await step.done;

  expect(result.overran).toBe(false);
  expect(result.outputs).toMatchObject({ status: 'timeout' });
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(3_000 + 2_000);
  expect(errorOf(result)).toContain(operation.id);
});

test.concurrent('post leaves such a connection, and revokes by another', async (context) => {
  const { service, runMode, startPost } = await setStage(context);
  const relay = await startRelay(context, portOf(service.baseUrl));
  const main = await runMode('create-key', { 'base-url': `http://127.0.0.1:${relay.port}/v2` });
  const id = main.outputs['key-id'] ?? '';
  // Kept by the service until the other end is gone.
  service.faults.add({ endpoint: 'revoke-key', nth: 1, fault: { kind: 'hang-before-headers', done: 'never' } });

  const step = startPost(main);
  await reach(step, service.arrived({ endpoint: 'revoke-key' }));
  relay.vanish();
  const post = await step.done;

  expect(main.conclusion).toBe('success');
  expect(service.plane.isAlive(id)).toBe(false);
  expect(post.conclusion).toBe('success');
  expect(warningsOf(post)).toEqual([]);
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}
