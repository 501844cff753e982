import { test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { errorOf, setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('timeout: 0 looks once: what has finished is green', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id, timeout: '0' });
  expect(result.conclusion).toBe('success');
  expect(service.requests).toHaveLength(1);
});

test.concurrent('timeout: 0 looks once: what has not finished is late', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  const result = await run({ 'operation-id': operation.id, timeout: '0s' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'timeout', count: '1', 'operation-id': operation.id });
  expect(errorOf(result)).toContain(operation.id);
  expect(errorOf(result)).toMatch(/timeout: 0/);
  expect(service.requests).toHaveLength(1);
});

test.concurrent('timeout: 0 with all looks at the newest 200 once', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context, { notShown: { lastPageCursor: 'absent' } });
  service.plane.startOperation({ projectId, lengthMs: never });
  const result = await run({ 'operation-id': 'all', timeout: '0' });
  expect(result.outputs).toMatchObject({ status: 'timeout', count: '1' });
  expect(service.requests).toHaveLength(1);
});

const faults: [name: string, fault: Fault][] = [
  ['a status that is retried else', { kind: 'status', status: 503 }],
  ['a 429 that says when', { kind: 'status', status: 429, retryAfter: { seconds: 1 } }],
  ['a 404 that may be too new', { kind: 'status', status: 404 }],
  ['a cut connection', { kind: 'cut-before-headers' }],
  ['a cut body', { kind: 'cut-mid-body' }],
  ['a body that is no JSON', { kind: 'bad-json' }],
  ['an answer that does not come', { kind: 'hang-before-headers' }],
  ['a body that does not end', { kind: 'hang-mid-body' }],
  ['a body that drips', { kind: 'drip', intervalMs: 100 }],
];

test.concurrent.for(faults)('timeout: 0 repeats nothing: %s', async ([, fault], context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  service.faults.add({ fault });
  const result = await run({ 'operation-id': operation.id, timeout: '0', 'request-timeout': '500ms' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs['status']).toMatch(/^(error|timeout)$/);
  expect(errorOf(result)).not.toBe('');
  expect(service.requests).toHaveLength(1);
  expect(result.ms).toBeLessThan(5_000);
});
