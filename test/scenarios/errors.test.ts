import { test } from 'vitest';
import type { Fault, NotShown } from '../control-plane/index.js';
import { errorOf, setStage } from './stage.js';

const id = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const never = Number.POSITIVE_INFINITY;

const final: [what: string, fault: Fault, said: RegExp[]][] = [
  [
    '401',
    { kind: 'status', status: 401 },
    [/401/, /The service says 401\./, /code FAULT/, /req-\d+/, /mistyped|revoked/],
  ],
  ['403', { kind: 'status', status: 403 }, [/403/, /code FAULT/, /req-\d+/, /account that owns/]],
  ['400', { kind: 'status', status: 400 }, [/400/, /code FAULT/, /req-\d+/, /inputs of this step/]],
  [
    '404',
    { kind: 'status', status: 404 },
    [/404/, /code FAULT/, /req-\d+/, /key without access gets 404/i, /project-id/],
  ],
  ['500', { kind: 'status', status: 500 }, [/500/, /code FAULT/, /req-\d+/, /status page/]],
  ['a login page', { kind: 'html' }, [/HTML page “Sign in”/, /proxy|login/, /base-url/]],
  ['a login page with an error', { kind: 'html', status: 403 }, [/403/, /HTML page “Sign in”/]],
  [
    'a redirect',
    { kind: 'redirect', location: 'https://elsewhere.example/v2?token=1' },
    [/elsewhere\.example\/v2/, /base-url/],
  ],
  ['an empty body', { kind: 'empty-body' }, [/empty body/]],
  ['no JSON', { kind: 'bad-json' }, [/not JSON/]],
  ['a cut connection', { kind: 'cut-before-headers' }, [/connection|socket/i, /network/]],
  ['no answer', { kind: 'hang-before-headers' }, [/within 2s \(request-timeout\)/, /network/]],
  [
    'a record without status',
    { kind: 'status', status: 200, body: `{"operation":{"id":"${id}"}}` },
    [/operation\.status/, /missing/],
  ],
  [
    'another operation than was asked for',
    {
      kind: 'status',
      status: 200,
      body: '{"operation":{"id":"b07f8772-1877-4da9-a939-3a3ae62d1d8d","status":"finished"}}',
    },
    [/operation\.id/],
  ],
  [
    'an operation of another project',
    { kind: 'status', status: 200, body: `{"operation":{"id":"${id}","project_id":"other","status":"finished"}}` },
    [/operation\.project_id/, /other/],
  ],
];

test.concurrent.for(final)(
  '%s: one error says what happened, to which id, and what to do',
  async ([, fault, said], context) => {
    const { expect } = context;
    const { service, projectId, run } = await setStage(context);
    service.plane.startOperation({ id, projectId, lengthMs: never });
    service.faults.add({ fault });
    const result = await run({ 'operation-id': id, timeout: '0', 'request-timeout': '2s' });
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': id });
    const error = errorOf(result);
    expect(error).toContain(id);
    for (const part of said) expect(error).toMatch(part);
    expect(error, 'one sentence after the other').not.toMatch(/\.\.|\?\.|undefined|\[object/);
    expect(error).not.toContain('token=1');
    expect(result.summary).toMatch(/^### ❌/);
  },
);

test.concurrent.for(['nested', 'text', 'empty'] satisfies NotShown['errorBody'][])(
  'an error body that is %s',
  async (errorBody, context) => {
    const { expect } = context;
    const { service, run } = await setStage(context, { notShown: { errorBody } });
    service.faults.add({ fault: { kind: 'status', status: 403 } });
    const result = await run({ 'operation-id': id });
    expect(errorOf(result)).toMatch(/403/);
    expect(errorOf(result)).toMatch(/req-\d+/);
    if (errorBody !== 'empty') expect(errorOf(result)).toMatch(/The service says 403/);
  },
);

test.concurrent('what is not found is looked at again for some seconds, then the error says why that may be', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': id, timeout: '2s' });
  // The deadline comes before the 5 seconds that it may be new.
  expect(result.outputs).toMatchObject({ status: 'timeout', 'operation-id': id });
  expect(service.requests.length).toBeGreaterThan(1);
  const error = errorOf(result);
  expect(error).toContain(id);
  expect(error).toMatch(/404/);
  expect(error).toMatch(/key without access|account that owns/i);
});

test.concurrent('a deadline that strikes says so, to which id, and what to do', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, ageMs: 60_000, lengthMs: never, branchId: 'br-slow-1' });
  const result = await run({ 'operation-id': operation.id, timeout: '800ms' });
  expect(result.outputs).toMatchObject({ status: 'timeout' });
  const error = errorOf(result);
  expect(error).toMatch(/Timed out after 800ms\. 1 operation in project \S+ had not finished/);
  expect(error).toContain(`create_branch on br-slow-1 [${operation.id}] running for 1m`);
  expect(error).toMatch(/raise timeout/);
});

test.concurrent('what failed last is told when the deadline strikes', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  service.faults.add({ from: 2, fault: { kind: 'status', status: 503 } });
  const result = await run({ 'operation-id': operation.id, timeout: '2s', 'poll-interval': '100ms' });
  expect(result.outputs).toMatchObject({ status: 'timeout' });
  expect(errorOf(result)).toMatch(/Last error: .*503.*code FAULT.*req-\d+/);
});

test.concurrent('a service that asks for more time than there is ends the step at once, and is named', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  service.faults.add({ from: 2, fault: { kind: 'status', status: 429, retryAfter: { seconds: 120 } } });
  const result = await run({ 'operation-id': operation.id, timeout: '1m' });
  expect(result.outputs).toMatchObject({ status: 'timeout' });
  expect(result.ms).toBeLessThan(10_000);
  expect(service.requests).toHaveLength(2);
  expect(errorOf(result)).toMatch(/429/);
  expect(errorOf(result)).toMatch(/asks to wait 2m/);
  // The timeout has not ended yet.
  expect(errorOf(result)).not.toMatch(/Timed out/);
});

test.concurrent('how many had ended is told where several are awaited', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const done = service.plane.startOperation({ projectId, lengthMs: 0 });
  const other = service.plane.startOperation({ projectId, lengthMs: never });
  service.faults.add({ path: other.id, fault: { kind: 'status', status: 403 } });
  const result = await run({ 'operation-id': `${done.id},${other.id}` });
  expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': other.id });
  expect(errorOf(result)).toMatch(/1 of 2 operations had ended/);
});

test.concurrent('of all, the error names the project and what the service said', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  service.faults.add({ fault: { kind: 'status', status: 403 } });
  const result = await run({ 'operation-id': 'all' });
  expect(result.outputs).toMatchObject({ status: 'error', count: '0', 'operation-id': '', 'operation-ids': '[]' });
  expect(errorOf(result)).toMatch(/403.*code FAULT.*req-\d+.*account that owns/);
  expect(errorOf(result)).toContain(projectId);
});

test.concurrent('of a project that is not there, the error says so', async (context) => {
  const { expect } = context;
  const { run } = await setStage(context);
  const result = await run({ 'operation-id': 'all', 'project-id': 'no-such-project', timeout: '0' });
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(/no-such-project.*404.*There is no such project.*key without access gets 404/is);
});

test.concurrent('of many that failed, some are named and the others counted', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const ids = Array.from(
    { length: 40 },
    () => service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' }).id,
  );
  const result = await run({ 'operation-id': ids.join(','), 'fail-fast': 'false' });
  const error = errorOf(result);
  expect(error).toMatch(/^40 operations in project \S+ failed/);
  const named = ids.filter((one) => error.includes(one));
  expect(named.length).toBeGreaterThan(0);
  expect(error).toContain(`and ${40 - named.length} more`);
  expect(error.length).toBeLessThan(4_096);
});
