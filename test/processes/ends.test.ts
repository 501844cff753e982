import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { startMuteServer } from '../kit/peers.js';
import { preload } from '../kit/preload.js';
import { reach } from '../kit/reach.js';
import { setSecureStage } from '../kit/secure-stage.js';
import { errorOf, setStage, warningsOf } from '../kit/stage.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';

const overSockets = true;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const anyId = { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11' };

/** Waits for one operation that has ended. */
async function waitForEnded(context: TestContext, options: Omit<StepOptions, 'inputs'>, outcome = 'finished') {
  const { operation, run } = await setStage(context, { overSockets });
  return run({ 'operation-id': operation({ lengthMs: 0, outcome }).id }, options);
}

function lastLineOf(result: StepResult): string {
  return result.lines.at(-1)?.text ?? '';
}

for (const [name, fixture, said] of [
  ['the event loop runs empty', 'event-loop-runs-empty', /event loop ran empty/],
  ['a timer throws', 'defect', /defect in a timer/],
  ['two timers throw', 'defect', /defect in a timer/],
  ['a promise rejects', 'defect', /defect in a promise/],
] as const) {
  test.concurrent(`the step fails and says why when ${name}`, async (context) => {
    const { operation, run } = await setStage(context, {
      overSockets,
      faults: [{ fault: { kind: 'delay', ms: 3_000 } }],
    });

    const inputs = { 'operation-id': operation({ lengthMs: 0 }).id };
    const result = await run(inputs, { nodeArgs: preload(fixture), env: { DEFECT: name } });

    expect(result.exitCode).toBe(1);
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(said);
    expect(result.summary).toMatch(said);
  });
}

test.concurrent('a crash while the result is reported makes the step fail', async (context) => {
  const result = await waitForEnded(context, { nodeArgs: preload('body-ends-in-a-throw') });

  expect(result.exitCode).toBe(1);
  expect(errorOf(result)).toMatch(/defect at the end/);
});

test.concurrent('a slow stdout loses no line', async (context) => {
  const result = await waitForEnded(context, { nodeArgs: preload('slow-stdout') });

  expect(result.conclusion).toBe('success');
  expect(lastLineOf(result)).toMatch(/1 operation finished\./);
});

for (const outcome of ['finished', 'failed']) {
  test.concurrent(`a missing file for outputs makes the step fail, if the operation ${outcome}`, async (context) => {
    const result = await waitForEnded(context, { env: { GITHUB_OUTPUT: join('no', 'such', 'output') } }, outcome);

    expect(result.exitCode).toBe(1);
    expect(result.overran).toBe(false);
    expect(errorOf(result)).toMatch(/output/i);
  });

  test.concurrent(`an open handle does not delay the end, if the operation ${outcome}`, async (context) => {
    const result = await waitForEnded(context, { nodeArgs: preload('handle-stays-open') }, outcome);

    expect(result.overran).toBe(false);
    expect(result.exitCode).toBe(outcome === 'finished' ? 0 : 1);
    expect(result.outputs).toMatchObject({ status: outcome });
    expect(lastLineOf(result)).toMatch(outcome === 'finished' ? /1 operation finished\./ : /^::error::1 operation/);
  });
}

for (const [name, GITHUB_STEP_SUMMARY] of [
  ['whose file is missing', join('no', 'such', 'summary')],
  ['without a file', undefined],
] as const) {
  test.concurrent(`a summary ${name} is a warning, and the result stays`, async (context) => {
    const result = await waitForEnded(context, { env: { GITHUB_STEP_SUMMARY } });

    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'finished' });
    expect(warningsOf(result).join('\n')).toMatch(/summary/i);
  });
}

for (const name of ['a missing folder', 'a file']) {
  test.concurrent(`the step fails and names RUNNER_TEMP if that is ${name}`, async (context) => {
    const { operation, folder, run } = await setStage(context, { overSockets });
    const place = join(folder, 'temp');
    if (name === 'a file') writeFileSync(place, '');

    const inputs = { 'operation-id': operation({ lengthMs: 0 }).id };
    const result = await run(inputs, { env: { RUNNER_TEMP: place } });

    expect(result.exitCode).toBe(1);
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/RUNNER_TEMP/);
  });
}

/** Starts a step, and resolves when its process is held in this way. */
type Hold = (context: TestContext) => Promise<StepHandle>;

const holds: Readonly<Record<string, Hold>> = {
  'a request hangs': (context) => holdWith(context, { kind: 'hang-before-headers' }),
  'a body hangs': (context) => holdWith(context, { kind: 'hang-mid-body' }),
  'a body drips': (context) => holdWith(context, { kind: 'drip', intervalMs: 50 }),
  'a retry is pending': async (context) => {
    const fault: Fault = { kind: 'status', status: 503, retryAfter: { seconds: 60 } };
    const { start } = await setStage(context, { overSockets, faults: [{ fault }] });
    const step = start(anyId);
    await step.waitForLine(/Poll failed/);
    return step;
  },
  'no poll is due, and a handle is open': async (context) => {
    const { service, operation, start } = await setStage(context, { overSockets });
    const inputs = { 'operation-id': operation(forever).id, 'poll-interval': '1h', timeout: '2h' };
    const step = start(inputs, { nodeArgs: preload('handle-stays-open') });
    await reach(step, service.ended());
    return step;
  },
  'a server stays silent': (context) => holdWithSilence(context, 'http'),
  'a TLS server stays silent': (context) => holdWithSilence(context, 'https'),
  'a proxy accepts CONNECT and stays silent': async (context) => {
    const { proxy, start } = await setSecureStage(context, { behaviour: { kind: 'silent' } });
    const step = start(anyId);
    await reach(step, proxy.firstAsked);
    return step;
  },
};

async function holdWith(context: TestContext, fault: Fault): Promise<StepHandle> {
  const { service, operation, start } = await setStage(context, { overSockets, faults: [{ fault }] });
  const step = start({ 'operation-id': operation().id });
  await reach(step, service.arrived());
  return step;
}

async function holdWithSilence(context: TestContext, scheme: string): Promise<StepHandle> {
  const { start } = await setStage(context, { overSockets });
  const { port, asked } = await startMuteServer(context);
  const step = start({ ...anyId, 'base-url': `${scheme}://127.0.0.1:${port}/v2` });
  await reach(step, asked);
  return step;
}

for (const [n, [name, hold]] of Object.entries(holds).entries()) {
  const signal = n % 2 === 0 ? 'SIGINT' : 'SIGTERM';
  test.concurrent(`${signal} ends the step as cancelled, without an error, while ${name}`, async (context) => {
    const step = await hold(context);

    step.kill(signal);

    expectCancelled(await step.done);
  });
}

test.concurrent('SIGBREAK ends the step as cancelled', async (context) => {
  const { operation, run } = await setStage(context, {
    overSockets,
    faults: [{ fault: { kind: 'hang-before-headers' } }],
  });

  const options = { nodeArgs: preload('defect'), env: { DEFECT: 'SIGBREAK' } };
  const result = await run({ 'operation-id': operation().id }, options);

  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.exitCode).toBe(1);
});

test.concurrent("the runner's cancel needs only its first signal", async (context) => {
  const step = await holdWith(context, { kind: 'hang-before-headers' });

  const result = await step.cancel();

  expectCancelled(result);
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
});

test.concurrent('a second signal right after the first takes nothing away from the result so far', async (context) => {
  const { operation, start } = await setStage(context, { overSockets });
  const ended = operation({ lengthMs: 0 });
  const running = operation(forever);
  const step = start({ 'operation-id': `${ended.id} ${running.id}`, 'poll-interval': '1h', timeout: '2h' });
  await step.waitForLine(running.id);

  step.kill('SIGINT');
  step.kill('SIGTERM');
  const result = await step.done;

  expectCancelled(result);
  expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual([ended.id, running.id]);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'finished' }, { id: running.id }]);
  expect(result.summary).toContain(running.id);
});

function expectCancelled(result: StepResult): void {
  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({ status: 'cancelled' });
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action')).toEqual([]);
  expect([result.exitCode, result.signal]).toEqual([1, null]);
  expect(result.overran).toBe(false);
}
