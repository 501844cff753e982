import { dirname, join } from 'node:path';
import { test } from 'vitest';
import { errorOf, setStage, warningsOf } from './stage.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const never = Number.POSITIVE_INFINITY;

test.concurrent('a wait that succeeds sets all outputs, and masks no id', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const older = service.plane.startOperation({ projectId, ageMs: 60_000, lengthMs: 0 });
  const newer = service.plane.startOperation({ projectId, lengthMs: 0 });
  const oldest = service.plane.startOperation({ projectId, ageMs: 120_000, lengthMs: 0 });
  const ids = [older.id, newer.id, oldest.id];

  const result = await run({ 'operation-id': ids.join(',') });

  expect(result.outputs).toEqual({
    status: 'finished',
    count: '3',
    'operation-id': newer.id,
    'operation-ids': JSON.stringify(ids),
    operations: expect.any(String),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^[1-9]\d*$/),
  });
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject(ids.map((one) => ({ id: one })));
  expect(result.masks).toEqual([service.apiKey]);
  expect(result.state).toEqual({ key: 'nothing-to-revoke' });
  expect(result.env).toEqual({});

  const path = result.outputs['result-file'] ?? '';
  expect(dirname(path)).toBe(result.job.temp);
  expect(JSON.parse(result.readFile(path))).toMatchObject({
    mode: 'wait-operation',
    status: 'finished',
    operation_ids: ids,
    operations: ids.map((one) => ({ id: one })),
  });
});

test.concurrent('outputs are set when the step fails, too', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const pending = service.plane.startOperation({ projectId, lengthMs: never });
  const result = await run({ 'operation-id': pending.id, timeout: '700ms' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({
    status: 'timeout',
    count: '1',
    'operation-id': pending.id,
    'operation-ids': JSON.stringify([pending.id]),
  });
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ id: pending.id }]);
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({ status: 'timeout' });
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(700);
});

test.concurrent('an operation that nobody saw has no record, and is not counted', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  service.faults.add({ fault: { kind: 'status', status: 403 } });
  const result = await run({ 'operation-id': id });
  expect(result.outputs).toMatchObject({
    status: 'error',
    count: '0',
    'operation-id': id,
    'operation-ids': JSON.stringify([id]),
    operations: '[]',
  });
});

test.concurrent('integers of any size keep their digits, and unknown fields come along', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const record = `{"id":"${id}","project_id":"${projectId}","status":"finished","failures_count":90071992547409931234,"of_tomorrow":{"deep":[9007199254740993]}}`;
  service.faults.add({ fault: { kind: 'status', status: 200, body: `{"operation":${record},"more":1}` } });
  const result = await run({ 'operation-id': id });
  expect(result.conclusion).toBe('success');
  expect(result.outputs['operations']).toBe(`[${record}]`);
  expect(result.readFile(result.outputs['result-file'] ?? '')).toContain(record);
  expect(result.summary).toContain('90071992547409931234');
});

test.concurrent.for([
  ['one byte below 100 KiB is set', 100 * 1024 - 1, true],
  ['of 100 KiB is left empty, with one warning in the log and in the summary', 100 * 1024, false],
] as const)('an array of records %s', async ([, bytes, fits], context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const recordOf = (padding: string) =>
    JSON.stringify({ id, project_id: projectId, status: 'finished', note: `ä${padding}` });
  const record = recordOf('x'.repeat(bytes - Buffer.byteLength(`[${recordOf('')}]`)));
  service.faults.add({ fault: { kind: 'status', status: 200, body: `{"operation":${record}}` } });

  const result = await run({ 'operation-id': id });

  expect(result.conclusion).toBe('success');
  expect(Buffer.byteLength(`[${record}]`)).toBe(bytes);
  expect(result.outputs['operations']).toBe(fits ? `[${record}]` : '');
  expect(result.outputs).toMatchObject({ count: '1', 'operation-ids': JSON.stringify([id]) });
  expect(result.readFile(result.outputs['result-file'] ?? '')).toContain(record);
  const warnings = warningsOf(result);
  expect(warnings).toHaveLength(fits ? 0 : 1);
  for (const text of fits ? [] : [warnings[0], result.summary])
    expect(text).toMatch(/left empty because they are too large: operations\..*result-file/);
});

test.concurrent('text of records cannot break out of its output', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const note = 'x\nghadelimiter\r\nstatus=finished\nstatus<<EOF\nhacked\nEOF\n';
  const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', fields: { note } });
  const result = await run({ 'operation-id': operation.id });
  expect(result.invalid).toEqual([]);
  expect(result.outputs).toMatchObject({ status: 'failed' });
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ note }]);
});

test.concurrent.for(['GITHUB_OUTPUT', 'RUNNER_TEMP'])(
  'where %s cannot be written, nothing ends green',
  async (name, context) => {
    const { expect } = context;
    const { service, projectId, folder, run } = await setStage(context);
    const operation = service.plane.startOperation({ projectId, lengthMs: 0 });
    const result = await run({ 'operation-id': operation.id }, { env: { [name]: join(folder, 'nowhere', 'x') } });
    expect(result.conclusion).toBe('failure');
    expect(errorOf(result)).toMatch(/nowhere|output|file/i);
  },
);
