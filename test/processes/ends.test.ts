import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import { listen } from '../kit/listen.js';
import { preload, withDefect } from '../kit/preload.js';
import { reach } from '../kit/reach.js';
import { setSecureStage } from '../kit/secure-stage.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';
import { anyId, forever, setProcess } from './process-stage.js';

/** Waits for one operation that has ended. The response comes later than a defect right after the request. */
async function waitForEnded(context: TestContext, options: Omit<StepOptions, 'inputs'>, outcome = 'finished') {
  const { operation, run } = await setProcess(context, { faults: [{ fault: { kind: 'delay', ms: 2_000 } }] });
  return run({ 'operation-id': operation({ lengthMs: 0, outcome }).id }, options);
}

test.concurrent.for([
  ['the event loop runs empty', /nothing left to run/],
  ['two timers throw', /defect in a timer/],
  ['a promise rejects', /defect in a promise/],
  ['the report of the result is interrupted', /defect at the end/],
] as const)('the step fails and says why if %s', async ([defect, said], context) => {
  const result = await waitForEnded(context, withDefect(defect));

  expect(result.exitCode).toBe(1);
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(said);
  expect(result.summary).toMatch(said);
});

test.concurrent.for([
  ['finished', 0, /^1 operation finished\./],
  ['failed', 1, /^::error::1 operation/],
] as const)(
  'after the operation %s, the step prints its last line and exits despite a slow stdout and an open handle',
  async ([outcome, exitCode, lastLine], context) => {
    const nodeArgs = [...preload('slow-stdout'), ...preload('handle-stays-open')];
    const result = await waitForEnded(context, { nodeArgs }, outcome);

    expect(result).toMatchObject({ exitCode, overran: false, outputs: { status: outcome } });
    expect(result.lines.at(-1)?.text).toMatch(lastLine);
  },
);

test.concurrent.for([
  ['names a missing file', '/no/such/summary'],
  ['is not set', undefined],
] as const)('the step succeeds with a warning if GITHUB_STEP_SUMMARY %s', async ([, path], context) => {
  const result = await waitForEnded(context, { env: { GITHUB_STEP_SUMMARY: path } });

  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'finished' } });
  expect(warningsOf(result)).toEqual([expect.stringMatching(/summary/i)]);
});

test.concurrent.for([
  ['GITHUB_OUTPUT', '/no/such/file', /no\/such\/file/],
  ['RUNNER_TEMP', '/no/such/folder', /RUNNER_TEMP/],
] as const)('the step fails and says why if %s is %s', async ([variable, path, said], context) => {
  const result = await waitForEnded(context, { env: { [variable]: path } });

  expect(result).toMatchObject({ exitCode: 1, overran: false });
  if (variable === 'RUNNER_TEMP') expect(result.outputs).toMatchObject({ status: 'error' });
  expect(errorOf(result)).toMatch(said);
});

/** Starts a step with these inputs, and resolves when its process is held in this way. */
type Hold = (context: TestContext, inputs?: StepOptions['inputs']) => Promise<StepHandle>;

function holdWith(fault: Fault): Hold {
  return async (context, inputs) => {
    const { service, start } = await setProcess(context, { faults: [{ fault }] });
    const step = start({ ...anyId, ...inputs });
    await reach(step, service.arrived());
    return step;
  };
}

const holds: Readonly<Record<string, Hold>> = {
  'a response body drips': holdWith({ kind: 'drip', intervalMs: 50 }),
  'a TLS server stays silent': async (context, inputs) => {
    const { start } = await setProcess(context);
    const server = createServer();
    const baseUrl = `https://127.0.0.1:${await listen(context, server)}/v2`;
    const step = start({ ...anyId, 'base-url': baseUrl, ...inputs });
    await reach(step, once(server, 'connection'));
    return step;
  },
  'a proxy accepts CONNECT and stays silent': async (context, inputs) => {
    const { proxy, start } = await setSecureStage(context, { behaviour: { kind: 'silent' } });
    const step = start({ ...anyId, ...inputs });
    await reach(step, proxy.firstAsked);
    return step;
  },
  'no poll is due, and a handle is open': async (context, inputs) => {
    const { service, operation, start } = await setProcess(context);
    const pause = { 'operation-id': operation(forever).id, 'poll-interval': '1h', timeout: '2h' };
    const step = start({ ...pause, ...inputs }, { nodeArgs: preload('handle-stays-open') });
    await reach(step, service.ended());
    return step;
  },
};

describe.for(Object.entries(holds))('while %s,', ([, hold]) => {
  test.concurrent('SIGTERM ends the step as cancelled, without an error', async (context) => {
    const step = await hold(context);

    step.kill('SIGTERM');

    expectCancelled(await step.done);
  });

  test.concurrent('the deadline ends the step with status timeout', async (context) => {
    const step = await hold(context, { timeout: '3s' });
    const result = await step.done;

    expect(result).toMatchObject({ exitCode: 1, overran: false, outputs: { status: 'timeout' } });
    errorOf(result);
    // By its own clock. Virtual time proves the 2 s of the contract; a busy machine is late, but not by as long as a socket
    // that hangs.
    expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(3_000);
    expect(Number(result.outputs['duration-ms'])).toBeLessThan(13_000);
  });
});

test.concurrent.for([
  ['a signal comes while a long body is parsed', 'cancelled', /^### 🚫 list-projects: Cancelled/],
  ['a signal comes while the result is printed', 'cancelled', /^### 🚫 list-projects: Cancelled/],
  ['the deadline of 5 s passes while the result is printed', 'error', /Timed out after 5s/],
] as const)('the step does not succeed if %s', async ([defect, status, summary], context) => {
  const { runMode } = await setProcess(context);
  const server = createHttpServer((_, response) => {
    response.end(JSON.stringify({ projects: [{ id: 'p', name: 'x'.repeat(2 ** 20) }] }));
  });
  const baseUrl = `http://127.0.0.1:${await listen(context, server)}/v2`;
  const result = await runMode('list-projects', { 'base-url': baseUrl, timeout: '5s' }, withDefect(defect));

  expect(result).toMatchObject({ exitCode: 1, signal: null, overran: false, outputs: { status } });
  expect(result.summary).toMatch(summary);
});

test.concurrent('a final poll that shows success is believed even if the result takes long to print', async (context) => {
  const { operation, run } = await setProcess(context);
  const inputs = { 'operation-id': operation({ lengthMs: 1_500 }).id, timeout: '2s', 'poll-interval': '1h' };
  const result = await run(inputs, withDefect('the result takes long to print'));

  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'finished' } });
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThan(2_200);
});

test.concurrent('SIGBREAK ends the step as cancelled', async (context) => {
  const { run } = await setProcess(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });

  expectCancelled(await run(anyId, withDefect('SIGBREAK')));
});

test.concurrent("while a request hangs, the step ends at the first signal of the runner's cancel", async (context) => {
  const step = await holdWith({ kind: 'hang-before-headers' })(context);

  const result = await step.cancel();

  expectCancelled(result);
  expect(result.signals.map(({ signal }) => signal)).toEqual(['SIGINT']);
});

test.concurrent('a step that gets two signals at once still writes its results so far', async (context) => {
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
  expect(result).toMatchObject({ exitCode: 1, signal: null, overran: false, outputs: { status: 'cancelled' } });
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({ status: 'cancelled' });
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action')).toEqual([]);
}
