import { test } from 'vitest';
import { setStage } from './stage.js';

const never = Number.POSITIVE_INFINITY;

test.concurrent('the log says what is awaited and for how long, then a line a change, and how it ended', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, ageMs: 90_000, lengthMs: never, branchId: 'br-mine-1' });
  const step = start({ 'operation-id': operation.id, timeout: '1h30m', 'poll-interval': '100ms' });
  await service.ended({ endpoint: 'get-operation', n: 5 });
  service.plane.endOperation(operation);
  const result = await step.done;

  const lines = result.log.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[0]).toContain(`Waiting for 1 operation in project ${projectId} (timeout 1h 30m).`);
  expect(lines[1]).toMatch(
    new RegExp(`create_branch on br-mine-1 \\[${operation.id}\\]: running, created 1m 3\\ds ago`),
  );
  expect(lines[2]).toMatch(new RegExp(`create_branch on br-mine-1 \\[${operation.id}\\]: running → finished`));
  expect(lines[3]).toMatch(/1 operation finished\./);
});

test.concurrent('with step debug on there is a line an exchange, and never a header or a body', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 300, fields: { note: 'only-in-the-body' } });
  service.faults.add({ nth: 1, fault: { kind: 'status', status: 503, headers: { 'x-other': 'only-in-a-header' } } });
  service.faults.add({ nth: 2, fault: { kind: 'cut-before-headers' } });
  const result = await run({ 'operation-id': operation.id, 'project-id': projectId }, { debug: true });

  expect(result.conclusion).toBe('success');
  const told = result.commands.filter(({ name }) => name === 'debug').map(({ data }) => data);
  expect(told).toHaveLength(service.requests.length);
  const path = service.requests[0]?.path ?? '';
  expect(told[0]).toMatch(/^GET /);
  for (const line of told) expect(line).toMatch(/\b\d+ ms\b/);
  for (const line of told) expect(line).toContain(path);
  expect(told[0]).toMatch(/\b503\b.*req-\d+/);
  expect(told[1]).toMatch(/connection|socket/i);
  expect(told.at(-1)).toMatch(/\b200\b.*req-\d+/);
  expect(result.stdout).not.toMatch(/only-in|Bearer|authorization/i);
});

test.concurrent('with step debug off there is none of it', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  expect(result.commands.map(({ name }) => name)).toEqual(['add-mask']);
  expect(result.stdout).not.toMatch(/GET|req-\d/);
  expect(result.stderr).toBe('');
});

test.concurrent('a look that fails is told once, and so is that the service answers again', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  const remove = service.faults.add({ from: 2, fault: { kind: 'status', status: 502 } });
  const step = start({ 'operation-id': operation.id, 'poll-interval': '50ms' });
  await service.ended({ endpoint: 'get-operation', n: 5 });
  remove();
  await step.waitForLine(/responds again/);
  service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(result.log.match(/responds again/g)).toHaveLength(1);
  // The request id differs from one failure to the next: telling them all would drown the log.
  expect(result.log.match(/Poll failed/g)).toHaveLength(1);
});

test.concurrent('a request that is tried again says why, and when', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context, {
    faults: [{ nth: 1, fault: { kind: 'status', status: 503, retryAfter: { seconds: 1 } } }],
  });

  const result = await runMode('list-projects');

  expect(result.conclusion).toBe('success');
  expect(result.log).toMatch(/GET \/v2\/projects: status 503.*\. Retrying in 1s\./);
});
