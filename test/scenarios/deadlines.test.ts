import { expect, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { startMuteServer } from './mute-server.js';
import { reach } from './reach.js';
import { setSecureStage } from './secure-stage.js';
import { errorOf, setStage } from './stage.js';

const forever = { lengthMs: Number.POSITIVE_INFINITY };

const holding: Readonly<Record<string, Fault>> = {
  'hangs before the headers': { kind: 'hang-before-headers' },
  'hangs mid-body': { kind: 'hang-mid-body' },
  'drips its body': { kind: 'drip', intervalMs: 100 },
  'never ends its body': { kind: 'endless-body' },
  'answers far too late': { kind: 'delay', ms: 60_000 },
};

for (const [name, fault] of Object.entries(holding)) {
  for (const what of ['one id', 'all'] as const) {
    test.concurrent(`a service that ${name} from the first look at ${what} on does not move the deadline`, async (context) => {
      const { service, projectId, run } = await setStage(context, { faults: [{ fault }] });
      const operation = service.plane.startOperation({ projectId, ...forever });

      const result = await run({ 'operation-id': what === 'all' ? what : operation.id, timeout: '2s' });

      // A body of more than 256 MiB is refused, which may happen before.
      const refused = fault.kind === 'endless-body' && result.outputs['status'] === 'error';
      expectInTime(result, 2_000, refused ? { status: 'error', from: 0 } : {});
    });
  }

  test.concurrent(`a service that ${name} after a good look does not move the deadline`, async (context) => {
    const { service, projectId, run } = await setStage(context, { faults: [{ from: 2, fault }] });
    const operation = service.plane.startOperation({ projectId, ...forever });

    const result = await run({ 'operation-id': operation.id, timeout: '4s' });

    expectInTime(result, 4_000);
    expect(result.outputs['operations']).toContain(operation.id);
  });
}

test.concurrent('a server that takes connections and says nothing does not move the deadline', async (context) => {
  const { run } = await setStage(context);
  const { port } = await startMuteServer(context);

  const result = await run({ ...anyId, 'base-url': `http://127.0.0.1:${port}/v2`, timeout: '2s' });

  expectInTime(result, 2_000);
});

test.concurrent('nor does one that should speak TLS and says nothing', async (context) => {
  const { run } = await setStage(context);
  const { port } = await startMuteServer(context);

  const result = await run({ ...anyId, 'base-url': `https://127.0.0.1:${port}/v2`, timeout: '2s' });

  expectInTime(result, 2_000);
});

test.concurrent('a proxy that takes CONNECT and says nothing does not move the deadline', async (context) => {
  const { runBehindProxy, proxy } = await setSecureStage(context, { kind: 'silent' });

  const result = await runBehindProxy({ ...anyId, timeout: '2s' });

  expect(proxy.asked.length).toBeGreaterThan(0);
  expectInTime(result, 2_000);
});

test.concurrent('what finished a moment ago is seen at the deadline, and not called late', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, ...forever });

  const step = start({ 'operation-id': operation.id, timeout: '8s', 'poll-interval': '1h' });
  await reach(step, service.ended());
  service.plane.endOperation(operation);
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  // The interval is an hour, so the second request is the one at the deadline.
  expect(service.requests).toHaveLength(2);
});

test.concurrent('nor is it where the connection was closed while it was idle', async (context) => {
  const { service, projectId, start } = await setStage(context, {
    faults: [{ nth: 1, fault: { kind: 'close-on-next-request' } }],
  });
  const operation = service.plane.startOperation({ projectId, ...forever });

  const step = start({ 'operation-id': operation.id, timeout: '8s', 'poll-interval': '1h' });
  await reach(step, service.ended());
  service.plane.endOperation(operation);
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
  expect(service.requests).toHaveLength(3);
});

test.concurrent('what failed a moment ago is not called late either', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, ...forever });

  const step = start({ 'operation-id': 'all', timeout: '8s', 'poll-interval': '1h' });
  await reach(step, service.ended({ n: 2 }));
  service.plane.endOperation(operation, 'failed');
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': operation.id });
  expect(errorOf(result)).toContain(operation.id);
});

for (const status of [423, 429]) {
  for (const [name, nth] of Object.entries({ 'at the first look': 1, 'after a good look': 2 })) {
    test.concurrent(`${status} with a Retry-After beyond the deadline ${name} ends the step at once`, async (context) => {
      const { service, projectId, run } = await setStage(context, {
        faults: [{ nth, fault: { kind: 'status', status, retryAfter: { seconds: 90 } } }],
      });
      const operation = service.plane.startOperation({ projectId, ...forever });

      const result = await run({ 'operation-id': operation.id, timeout: '1m' });

      expect(result.outputs).toMatchObject({ status: 'timeout' });
      expect(result.conclusion).toBe('failure');
      expect(result.ms).toBeLessThan(10_000);
      expect(service.requests).toHaveLength(nth);
      expect(errorOf(result)).toMatch(/1m 30s/);
      expect(errorOf(result)).toContain(`The service says ${status}.`);
    });
  }
}

const anHour = 3_600_000;
const asks: Readonly<Record<string, () => Fault>> = {
  '429 in seconds': () => ({ kind: 'status', status: 429, retryAfter: { seconds: 3 } }),
  '423 in seconds': () => ({ kind: 'status', status: 423, retryAfter: { seconds: 3 } }),
  '503 in seconds': () => ({ kind: 'status', status: 503, retryAfter: { seconds: 3 } }),
  // The clock of the service may go wrong: only the two dates of one answer tell how long to wait.
  '429 as a date of a service that lives in the past': () => dated(429, Date.now() - anHour),
  '503 as a date of a service that lives in the future': () => dated(503, Date.now() + anHour),
};

for (const [name, fault] of Object.entries(asks)) {
  for (const [when, nth] of Object.entries({ 'at the first look': 1, 'after a good look': 2 })) {
    test.concurrent(`Retry-After of ${name} is honoured ${when}`, async (context) => {
      const { service, projectId, start } = await setStage(context, { faults: [{ nth, fault: fault() }] });
      const operation = service.plane.startOperation({ projectId, ...forever });

      const step = start({ 'operation-id': operation.id, timeout: '30s' });
      await reach(step, service.ended({ n: nth }));
      service.plane.endOperation(operation);
      const result = await step.done;

      expect(result.outputs).toMatchObject({ status: 'finished' });
      const pause = sinceFirst(service.requests, nth) - sinceFirst(service.requests, nth - 1);
      expect(pause).toBeGreaterThanOrEqual(2_990);
      // One who was refused once hears of the end within 10 s.
      expect(pause).toBeLessThan(12_000);
    });
  }
}

test.concurrent('503 with a Retry-After beyond the deadline is looked at once more at the deadline', async (context) => {
  const { service, projectId, run } = await setStage(context, {
    faults: [{ nth: 1, fault: { kind: 'status', status: 503, retryAfter: { seconds: 90 } } }],
  });
  const operation = service.plane.startOperation({ projectId, lengthMs: 500 });

  const result = await run({ 'operation-id': operation.id, timeout: '3s' });

  expect(result.outputs).toMatchObject({ status: 'finished' });
  expect(service.requests).toHaveLength(2);
});

test.concurrent('timeout: 0 looks once, and not for longer than request-timeout', async (context) => {
  const { service, projectId, run } = await setStage(context, {
    faults: [{ fault: { kind: 'hang-before-headers' } }],
  });
  const operation = service.plane.startOperation({ projectId });

  const result = await run({ 'operation-id': operation.id, timeout: '0', 'request-timeout': '1s' });

  expectInTime(result, 1_000, { status: 'error' });
  expect(service.requests).toHaveLength(1);
  expect(errorOf(result)).toContain('request-timeout');
});

test.concurrent('timeout: 0 repeats nothing', async (context) => {
  const { service, projectId, run } = await setStage(context, {
    faults: [{ nth: 1, fault: { kind: 'status', status: 503 } }],
  });
  const operation = service.plane.startOperation({ projectId });

  const result = await run({ 'operation-id': operation.id, timeout: '0' });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(service.requests).toHaveLength(1);
});

test.concurrent('timeout: 0 says timeout of what runs, and finished of what has finished', async (context) => {
  const { service, projectId, run } = await setStage(context);
  const running = service.plane.startOperation({ projectId, ...forever });
  const finished = service.plane.startOperation({ projectId, ageMs: 5_000 });

  const ofRunning = await run({ 'operation-id': running.id, timeout: '0' });
  const ofFinished = await run({ 'operation-id': finished.id, timeout: '0' });

  expect(ofRunning.outputs).toMatchObject({ status: 'timeout' });
  expect(ofRunning.conclusion).toBe('failure');
  expect(ofFinished.outputs).toMatchObject({ status: 'finished' });
  expect(ofFinished.conclusion).toBe('success');
  expect(service.requests).toHaveLength(2);
});

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

/** By the step's own clock within the promised 2 s; the end of the process may take a busy machine somewhat longer. */
function expectInTime(result: StepResult, deadline: number, { status = 'timeout', from = deadline } = {}): void {
  expect(result.overran).toBe(false);
  expect(result.outputs).toMatchObject({ status });
  expect(result.conclusion).toBe('failure');
  expect(result.exitCode).not.toBe(0);
  errorOf(result);
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(from);
  // Tests in virtual time hold the 2 s of the contract. A busy machine is late, but not by as long as a socket that hangs.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(deadline + 10_000);
}

function sinceFirst(requests: readonly { readonly at: number }[], index: number): number {
  return (requests[index]?.at ?? Number.NaN) - (requests[0]?.at ?? Number.NaN);
}

function dated(status: number, date: number): Fault {
  const headers = { date: httpDate(date), 'retry-after': httpDate(date + 3_000) };
  return { kind: 'status', status, headers };
}

function httpDate(date: number): string {
  return new Date(date).toUTCString();
}
