import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { Fault } from '../control-plane/index.js';
import { startMuteServer } from '../kit/peers.js';
import { preload } from '../kit/preload.js';
import { reach } from '../kit/reach.js';
import { setSecureStage } from '../kit/secure-stage.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { anyId, forever, setProcess } from './process-stage.js';

type Inputs = NonNullable<StepOptions['inputs']>;

/** Waits for one operation that has ended. */
async function waitForEnded(context: TestContext, options: Omit<StepOptions, 'inputs'>, outcome = 'finished') {
  const { operation, run } = await setProcess(context);
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
    const { operation, run } = await setProcess(context, { faults: [{ fault: { kind: 'delay', ms: 3_000 } }] });

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

test.concurrent('a missing file for outputs makes the step fail', async (context) => {
  const result = await waitForEnded(context, { env: { GITHUB_OUTPUT: join('no', 'such', 'output') } });

  expect(result.exitCode).toBe(1);
  expect(result.overran).toBe(false);
  expect(errorOf(result)).toMatch(/output/i);
});

for (const outcome of ['finished', 'failed']) {
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
    const { operation, folder, run } = await setProcess(context);
    const place = join(folder, 'temp');
    if (name === 'a file') writeFileSync(place, '');

    const inputs = { 'operation-id': operation({ lengthMs: 0 }).id };
    const result = await run(inputs, { env: { RUNNER_TEMP: place } });

    expect(result.exitCode).toBe(1);
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/RUNNER_TEMP/);
  });
}

/** Starts a step with these inputs, and resolves when its process is held in this way. */
type Hold = (context: TestContext, inputs: Inputs) => Promise<StepHandle>;

/** Holds that last longer than any deadline. */
const endless: Readonly<Record<string, Hold>> = {
  'a request hangs': holdWith({ kind: 'hang-before-headers' }),
  'a body hangs': holdWith({ kind: 'hang-mid-body' }),
  'a body drips': holdWith({ kind: 'drip', intervalMs: 50 }),
  'a response is far too late': holdWith({ kind: 'delay', ms: 60_000 }),
  'a server stays silent': holdWithSilence('http'),
  'a TLS server stays silent': holdWithSilence('https'),
  'a proxy accepts CONNECT and stays silent': async (context, inputs) => {
    const { proxy, start } = await setSecureStage(context, { behaviour: { kind: 'silent' } });
    const step = start({ ...anyId, ...inputs });
    await reach(step, proxy.firstAsked);
    return step;
  },
};

const holds: Readonly<Record<string, Hold>> = {
  ...endless,
  'a retry is pending': async (context) => {
    const fault: Fault = { kind: 'status', status: 503, retryAfter: { seconds: 60 } };
    const { start } = await setProcess(context, { faults: [{ fault }] });
    const step = start(anyId);
    await step.waitForLine(/Poll failed/);
    return step;
  },
  'no poll is due, and a handle is open': async (context) => {
    const { service, operation, start } = await setProcess(context);
    const inputs = { 'operation-id': operation(forever).id, 'poll-interval': '1h', timeout: '2h' };
    const step = start(inputs, { nodeArgs: preload('handle-stays-open') });
    await reach(step, service.ended());
    return step;
  },
};

function holdWith(fault: Fault): Hold {
  return async (context, inputs) => {
    const { service, operation, start } = await setProcess(context, { faults: [{ fault }] });
    const step = start({ 'operation-id': operation(forever).id, ...inputs });
    await reach(step, service.arrived());
    return step;
  };
}

function holdWithSilence(scheme: string): Hold {
  return async (context, inputs) => {
    const { start } = await setProcess(context);
    const { port, asked } = await startMuteServer(context);
    const step = start({ ...anyId, 'base-url': `${scheme}://127.0.0.1:${port}/v2`, ...inputs });
    await reach(step, asked);
    return step;
  };
}

for (const [n, [name, hold]] of Object.entries(holds).entries()) {
  const signal = n % 2 === 0 ? 'SIGINT' : 'SIGTERM';
  test.concurrent(`${signal} ends the step as cancelled, without an error, while ${name}`, async (context) => {
    const step = await hold(context, {});

    step.kill(signal);

    expectCancelled(await step.done);
  });
}

test.concurrent.for(Object.entries(endless))('the deadline ends the step while %s', async ([, hold], context) => {
  const step = await hold(context, { timeout: '3s' });

  expectTimeout(await step.done, 3_000);
});

test.concurrent('a body that never ends does not move the deadline', async (context) => {
  const { operation, run } = await setProcess(context, { faults: [{ from: 2, fault: { kind: 'endless-body' } }] });

  expectTimeout(await run({ 'operation-id': operation(forever).id, timeout: '2s' }), 2_000);
});

test.concurrent('SIGBREAK ends the step as cancelled', async (context) => {
  const { operation, run } = await setProcess(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });

  const options = { nodeArgs: preload('defect'), env: { DEFECT: 'SIGBREAK' } };
  const result = await run({ 'operation-id': operation().id }, options);

  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.exitCode).toBe(1);
});

test.concurrent("the runner's cancel needs only its first signal", async (context) => {
  const step = await holdWith({ kind: 'hang-before-headers' })(context, {});

  const result = await step.cancel();

  expectCancelled(result);
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
});

test.concurrent('a second signal right after the first takes nothing away from the result so far', async (context) => {
  const { operation, start } = await setProcess(context);
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

/** The step ends at its deadline, by its own clock. Virtual time proves the 2 s of the contract. */
function expectTimeout(result: StepResult, deadline: number): void {
  expect(result.overran).toBe(false);
  expect(result.outputs).toMatchObject({ status: 'timeout' });
  expect(result.exitCode).toBe(1);
  errorOf(result);
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(deadline);
  // A busy machine is late, but not by as long as a socket that hangs.
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(deadline + 10_000);
}
