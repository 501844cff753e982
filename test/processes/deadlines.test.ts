import { expect, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { startMuteServer } from '../kit/peers.js';
import { reach } from '../kit/reach.js';
import { setSecureStage } from '../kit/secure-stage.js';
import { errorOf, setStage } from '../kit/stage.js';
import type { StepResult } from '../runner/step.js';

const overSockets = true;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

const holding: Readonly<Record<string, Fault>> = {
  'hangs before the headers': { kind: 'hang-before-headers' },
  'hangs mid-body': { kind: 'hang-mid-body' },
  'drips its body': { kind: 'drip', intervalMs: 100 },
  'never ends its body': { kind: 'endless-body' },
  'responds far too late': { kind: 'delay', ms: 60_000 },
};

for (const [name, fault] of Object.entries(holding)) {
  for (const id of ['one id', 'all'] as const) {
    test.concurrent(`a service that ${name} from the first poll on does not move the deadline of a wait for ${id}`, async (context) => {
      const { operation, run } = await setStage(context, { overSockets, faults: [{ fault }] });
      const operationId = id === 'all' ? id : operation(forever).id;

      const result = await run({ 'operation-id': operationId, timeout: '2s' });

      // A body of more than 256 MiB is rejected, which may happen first.
      const isRejected = fault.kind === 'endless-body' && result.outputs['status'] === 'error';
      expectInTime(result, 2_000, isRejected ? { status: 'error', from: 0 } : {});
    });
  }

  test.concurrent(`a service that ${name} after the first poll does not move the deadline`, async (context) => {
    const { operation, run } = await setStage(context, { overSockets, faults: [{ from: 2, fault }] });

    const result = await run({ 'operation-id': operation(forever).id, timeout: '4s' });

    expectInTime(result, 4_000);
  });
}

for (const scheme of ['http', 'https']) {
  test.concurrent(`a ${scheme} server that accepts connections and stays silent does not move the deadline`, async (context) => {
    const { run } = await setStage(context, { overSockets });
    const { port } = await startMuteServer(context);

    const result = await run({ ...anyId, 'base-url': `${scheme}://127.0.0.1:${port}/v2`, timeout: '2s' });

    expectInTime(result, 2_000);
  });
}

test.concurrent('a proxy that accepts CONNECT and stays silent does not move the deadline', async (context) => {
  const { run, proxy } = await setSecureStage(context, { behaviour: { kind: 'silent' } });

  const result = await run({ ...anyId, timeout: '2s' });

  expect(proxy.asked.length).toBeGreaterThan(0);
  expectInTime(result, 2_000);
});

test.concurrent('the final poll sees an end although the service closes its idle connection then', async (context) => {
  const faults = [{ nth: 1, fault: { kind: 'close-on-next-request' } }] as const;
  const { service, operation, start } = await setStage(context, { overSockets, faults });
  const pending = operation(forever);

  const step = start({ 'operation-id': pending.id, timeout: '8s', 'poll-interval': '1h' });
  await reach(step, service.ended());
  service.plane.endOperation(pending);
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': pending.id });
  expect(result.conclusion).toBe('success');
  expect(service.requests).toHaveLength(3);
});

/** The wait ends after its deadline, by the clock of the step. Virtual time proves the 2 s of the contract. */
function expectInTime(result: StepResult, deadline: number, { status = 'timeout', from = deadline } = {}): void {
  expect(result.overran).toBe(false);
  expect(result.outputs).toMatchObject({ status });
  expect(result.exitCode).not.toBe(0);
  errorOf(result);
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(from);
  // A busy machine is late, but not by as long as a socket that hangs.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(deadline + 10_000);
}
