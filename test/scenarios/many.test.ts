import { test } from 'vitest';
import type { RunningControlPlane } from '../control-plane/index.js';
import { setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

function counts({ requests }: RunningControlPlane): Record<string, number> {
  const number = (endpoint: string) => requests.filter((request) => request.endpoint === endpoint).length;
  return { lists: number('list-operations'), gets: number('get-operation') };
}

test.concurrent('two are asked for singly', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const ids = [300, 300].map((lengthMs) => service.plane.startOperation({ projectId, lengthMs }).id);
  const result = await run({ 'operation-id': ids.join(',') });
  expect(result.conclusion).toBe('success');
  expect(counts(service)['lists']).toBe(0);
});

test.concurrent('three are read from the list, as long as they are three', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operations = [1, 2, 3].map(() => service.plane.startOperation({ projectId, lengthMs: never }));
  const step = start({ 'operation-id': operations.map(({ id }) => id).join(','), 'poll-interval': '100ms' });
  await service.ended({ endpoint: 'list-operations', n: 3 });
  expect(counts(service)).toEqual({ lists: service.requests.length, gets: 0 });
  for (const operation of operations) service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(counts(service)['gets']).toBe(0);
});

test.concurrent('only those that the newest 200 do not show are asked for singly', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const buried = service.plane.startOperation({ projectId, lengthMs: never });
  for (let left = 200; left > 0; left--) service.plane.startOperation({ projectId, lengthMs: 0 });
  const shown = [1, 2, 3].map(() => service.plane.startOperation({ projectId, lengthMs: never }));
  const all = [buried, ...shown];
  const step = start({ 'operation-id': JSON.stringify(all.map(({ id }) => id)) });
  await service.ended({ endpoint: 'get-operation', n: 2 });
  for (const operation of all) service.plane.endOperation(operation);

  const result = await step.done;

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '4' });
  const gets = service.requests.filter(({ endpoint }) => endpoint === 'get-operation');
  expect(gets.filter(({ path }) => !path.includes(buried.id))).toEqual([]);
});

test.concurrent('a look at 100 operations takes two requests at most', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const ids = Array.from({ length: 100 }, () => service.plane.startOperation({ projectId, lengthMs: 0 }).id);
  const result = await run({ 'operation-id': ids.join('\n') });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '100' });
  expect(service.requests.length).toBeLessThanOrEqual(2);
  expect(counts(service)['gets']).toBe(0);
});

test.concurrent('one failed among many that are read from the list is found', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const ids = Array.from({ length: 20 }, (_, n) =>
    service.plane.startOperation({ projectId, lengthMs: 0, outcome: n === 13 ? 'failed' : 'finished' }),
  ).map(({ id }) => id);
  const result = await run({ 'operation-id': ids.join('\n') });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[13], count: '20' });
});
