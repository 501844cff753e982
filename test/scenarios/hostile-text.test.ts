import { test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { harm } from '../hostile/harm.js';
import { attacks } from '../hostile/texts.js';
import { serve } from './service-of-own.js';
import { errorOf, setStage } from './stage.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';

test.concurrent.for(Object.entries(attacks))('%s in every text of a record is text', async ([, text], context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const fields = { action: text, branch_id: text, endpoint_id: text, failures_count: text, extra: { [text]: text } };
  const failed = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', fields });
  const odd = service.plane.startOperation({ projectId, lengthMs: 0, fields: { ...fields, status: text } });
  const timeless = service.plane.startOperation({
    projectId,
    lengthMs: 0,
    fields: { ...fields, status: 'skipped', created_at: text, updated_at: text },
  });
  const result = await run(
    { 'operation-id': [odd.id, failed.id, timeless.id].join(','), timeout: '0', 'fail-fast': 'false' },
    { debug: true },
  );
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '3', 'operation-id': failed.id });
  expect(harm(result, false)).toEqual([]);
});

test.concurrent.for(Object.entries(attacks))('%s in an error is text', async ([, text], context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const body = JSON.stringify({ message: text, code: text });
  const header = text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
  service.faults.add({ fault: { kind: 'status', status: 422, body, headers: { 'x-request-id': header } } });
  const result = await run({ 'operation-id': id }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(harm(result, false)).toEqual([]);
});

test.concurrent('all of it in other places where a service can put text', async (context) => {
  const { expect } = context;
  const all = Object.values(attacks).join('\n');
  const inHeader = (text: string) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, ' ');
  const faults: Fault[] = [
    { kind: 'status', status: 400, body: all },
    { kind: 'html', status: 403, body: `<html><head><title>${all.replaceAll('<', ' ')}</title></head></html>` },
    { kind: 'redirect', location: `https://evil.example/${inHeader(all)}` },
    { kind: 'redirect', location: inHeader(all) },
    { kind: 'redirect', location: `data:text/html,${inHeader(all)}` },
    { kind: 'redirect', location: 'javascript:%0A::error::HACKED' },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: { id, status: [all] } }) },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: { id: all, status: 'finished' } }) },
    { kind: 'status', status: 200, body: JSON.stringify({ operation: all }) },
  ];
  for (const fault of faults) {
    const { service, run } = await setStage(context);
    service.faults.add({ fault });
    const result = await run({ 'operation-id': id, timeout: '0' }, { debug: true });
    expect(result.outputs, fault.kind).toMatchObject({ status: 'error' });
    expect(harm(result, false), JSON.stringify(fault)).toEqual([]);
  }
});

test.concurrent('ids of a list are text of the service, too', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const isUsable = (text: string) =>
    text.length <= 4_096 && !/[\p{Cs}\p{Cc}]/u.test(text) && !text.startsWith('::') && !text.includes('##[');
  const ids = Object.values(attacks).filter(isUsable);
  for (const text of ids)
    service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY, fields: { id: text } });
  const result = await run({ 'operation-id': 'all', timeout: '0' }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'timeout', count: String(ids.length) });
  expect(harm(result, false)).toEqual([]);
});

test.concurrent('an id that a later step could print as a command, or that cannot be asked for, is an error', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  for (const text of ['::error::HACKED', '##[error]HACKED', 'a\n::error::HACKED', 'a\u0000b', 'a\uD800b']) {
    const { baseUrl } = await serve(context, JSON.stringify({ operations: [{ id: text, status: 'finished' }] }));
    const result = await runMode('list-operations', { 'base-url': baseUrl, 'project-id': 'p' }, { debug: true });
    expect(errorOf(result)).toContain('`operations[0].id` should be the id of an operation');
    expect(result.outputs).not.toHaveProperty('operation-id');
    expect(harm(result, false)).toEqual([]);
  }
});

test.concurrent('##[ in a record is escaped in outputs and in the file, and says the same', async (context) => {
  const { expect } = context;
  const { runMode } = await setStage(context);
  const projects = [{ id: 'p ##[error]x', name: '###[group]', ['##[debug]']: ['##[set-output name=status]x'] }];
  const { baseUrl } = await serve(context, JSON.stringify({ projects }));
  const result = await runMode('list-projects', { 'base-url': baseUrl }, { debug: true });
  const file = result.readFile(result.outputs['result-file'] ?? '');
  for (const text of [...Object.values(result.outputs), file]) expect(text).not.toContain('##[');
  expect(JSON.parse(result.outputs['projects'] ?? '')).toEqual(projects);
  expect(JSON.parse(result.outputs['batches'] ?? '')).toEqual([['p ##[error]x']]);
  expect(JSON.parse(file)).toMatchObject({ project_ids: ['p ##[error]x'], projects });
  expect(harm(result, true)).toEqual([]);
});

test.concurrent('text of megabytes is cut to a sane length', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const huge = 'HACKED '.repeat(500_000);
  service.faults.add({ fault: { kind: 'status', status: 400, body: JSON.stringify({ message: huge, code: huge }) } });
  const result = await run({ 'operation-id': id }, { debug: true });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.output.length).toBeLessThan(5_000);
  expect(result.summary.length).toBeLessThan(5_000);
});
