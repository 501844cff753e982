import { expect, type TestContext, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import type { StepHandle, StepResult } from '../runner/step.js';
import { startMuteServer } from './mute-server.js';
import { reach } from './reach.js';
import { setSecureStage } from './secure-stage.js';
import { setStage } from './stage.js';

const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

/** Brings a step into the phase, and says when it is there. */
type Phase = (context: TestContext) => Promise<StepHandle>;

const phases: Readonly<Record<string, Phase>> = {
  'the first request hangs': (context) => atFault(context, { kind: 'hang-before-headers' }),
  'a body stands still': (context) => atFault(context, { kind: 'hang-mid-body' }),
  'a body drips': (context) => atFault(context, { kind: 'drip', intervalMs: 50 }),
  'a look at the list hangs': async (context) => {
    const { service, start } = await setStage(context, {
      faults: [{ nth: 2, fault: { kind: 'hang-before-headers' } }],
    });
    service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
    const step = start({ 'operation-id': 'all' });
    await reach(step, service.arrived({ n: 2 }));
    return step;
  },
  'it sleeps between two looks': async (context) => {
    const { service, start } = await setStage(context);
    const operation = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
    const step = start({ 'operation-id': operation.id, 'poll-interval': '1h', timeout: '2h' });
    await step.waitForLine(/scheduling|running/);
    return step;
  },
  'it backs off before the first good answer': (context) =>
    whileItPauses(context, { kind: 'status', status: 503, retryAfter: { seconds: 60 } }, 1),
  'it backs off after a good look': (context) =>
    whileItPauses(context, { kind: 'status', status: 503, retryAfter: { seconds: 60 } }, 2),
  'it is asked for patience': (context) =>
    whileItPauses(context, { kind: 'status', status: 429, retryAfter: { seconds: 60 } }, 1),
  'it looks for the last time': async (context) => {
    const { service, start } = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
    const step = start({ ...anyId, timeout: '2s' });
    await reach(step, service.arrived({ n: 2 }));
    return step;
  },
  'a server takes the connection and says nothing': async (context) => {
    const { start } = await setStage(context);
    const { port, asked } = await startMuteServer(context);
    const step = start({ ...anyId, 'base-url': `http://127.0.0.1:${port}/v2` });
    await reach(step, asked);
    return step;
  },
  'a server should speak TLS and says nothing': async (context) => {
    const { start } = await setStage(context);
    const { port, asked } = await startMuteServer(context);
    const step = start({ ...anyId, 'base-url': `https://127.0.0.1:${port}/v2` });
    await reach(step, asked);
    return step;
  },
  'a proxy takes CONNECT and says nothing': async (context) => {
    const { proxy, startBehindProxy } = await setSecureStage(context, { kind: 'silent' });
    const step = startBehindProxy(anyId);
    await reach(step, proxy.firstAsked);
    return step;
  },
};

for (const [name, phase] of Object.entries(phases)) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test.concurrent(`${signal} while ${name} ends the step at once, red and without an error`, async (context) => {
      const step = await phase(context);

      step.kill(signal);
      const result = await step.done;

      expectCancelled(result);
    });
  }
}

test.concurrent("the runner's own cancel needs no second signal", async (context) => {
  const step = await atFault(context, { kind: 'hang-before-headers' });

  const result = await step.cancel();

  expectCancelled(result);
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
});

test.concurrent('a second signal right after the first takes nothing away', async (context) => {
  const step = await atFault(context, { kind: 'hang-mid-body' });

  step.kill('SIGINT');
  step.kill('SIGTERM');
  const result = await step.done;

  expectCancelled(result);
});

test.concurrent('what was seen until then is told', async (context) => {
  const { service, start } = await setStage(context);
  const ended = service.plane.startOperation({ lengthMs: 0 });
  const running = service.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
  const step = start({ 'operation-id': `${ended.id} ${running.id}`, 'poll-interval': '1h', timeout: '2h' });
  await step.waitForLine(running.id);

  step.kill('SIGTERM');
  const result = await step.done;

  expectCancelled(result);
  expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual([ended.id, running.id]);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'finished' }, { id: running.id }]);
  expect(result.summary).toContain(running.id);
});

async function atFault(context: TestContext, fault: Fault): Promise<StepHandle> {
  const { service, projectId, start } = await setStage(context, { faults: [{ fault }] });
  const operation = service.plane.startOperation({ projectId });
  const step = start({ 'operation-id': operation.id });
  await reach(step, service.arrived());
  return step;
}

async function whileItPauses(context: TestContext, fault: Fault, nth: number): Promise<StepHandle> {
  const { service, projectId, start } = await setStage(context, { faults: [{ nth, fault }] });
  const operation = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });
  const step = start({ 'operation-id': operation.id });
  await step.waitForLine(/Poll failed|is busy, will retry later/);
  return step;
}

function expectCancelled(result: StepResult): void {
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({ status: 'cancelled' });
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action')).toEqual([]);
  expect(result.signal).toBe(null);
  expect(result.exitCode).not.toBe(0);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
}
