import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { expect, type TestContext, test } from 'vitest';
import { delay, hang } from '../kit/fault.js';
import { needs } from '../kit/host.js';
import { listen } from '../kit/listen.js';
import { preload, withDefect } from '../kit/preload.js';
import { anyId, errorOf, resultFileOf, setProcess, warningsOf } from '../kit/stage.js';
import { forever } from '../kit/wait.js';
import type { StepHandle, StepOptions, StepResult } from '../runner/step.js';

/** Waits for one operation that has ended. The response comes later than a defect right after the request. */
async function waitForEnded(context: TestContext, options: Omit<StepOptions, 'inputs'>, outcome = 'finished') {
  const { operation, run } = await setProcess(context, { faults: [{ fault: delay(2_000) }] });
  return run({ 'operation-id': operation({ lengthMs: 0, outcome }).id }, options);
}

test.concurrent.for<[what: string, said: RegExp, environment?: StepOptions['env']]>([
  ['the event loop runs empty', /nothing left to run/],
  ['two timers throw', /defect in a timer.*the post step revokes that key/],
  ['a promise rejects', /defect in a promise/],
  ['the report of the result is interrupted', /defect at the end/],
  ['a timer throws after the status is written', /defect after the status/],
  ['RUNNER_TEMP names a missing folder', /RUNNER_TEMP/, { RUNNER_TEMP: '/no/such/folder' }],
  ['GITHUB_OUTPUT names a missing file', /no[\\/]such[\\/]file/, { GITHUB_OUTPUT: '/no/such/file' }],
])('a step fails with an error that says why if %s', async ([what, said, env], context) => {
  const result = await waitForEnded(context, env === undefined ? withDefect(what) : { env });
  expect(result).toMatchObject({ exitCode: 1, overran: false });
  expect(errorOf(result)).toMatch(said);
  if (env?.['GITHUB_OUTPUT'] !== undefined)
    return expect(errorOf(result)).toMatch(
      /The step could not report this: .*Check the runner's disk, then re-run the job/,
    );
  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.summary).toMatch(said);
});

test.concurrent.for([
  ['finished', 0, /^1 operation finished\./],
  ['failed', 1, /^::error::1 operation/],
] as const)('a %s step prints its last line even if stdout is slow', async ([outcome, exitCode, line], context) => {
  const nodeArgs = [...preload('slow-stdout'), ...preload('handle-stays-open')];
  const result = await waitForEnded(context, { nodeArgs }, outcome);
  expect(result).toMatchObject({ exitCode, overran: false, outputs: { status: outcome } });
  expect(result.lines.at(-1)).toMatch(line);
});

test.concurrent('a step succeeds with a warning if GITHUB_STEP_SUMMARY names a missing file', async (context) => {
  const result = await waitForEnded(context, { env: { GITHUB_STEP_SUMMARY: '/no/such/summary' } });
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'finished' } });
  expect(warningsOf(result)).toEqual([expect.stringMatching(/summary/i)]);
});

test.concurrent('a step fails with status error if its stdout is closed early', async (context) => {
  const { service, operation, start } = await setProcess(context);
  const running = operation(forever);
  const step = start({ 'operation-id': running.id, 'poll-interval': '100ms' });
  await step.reach(service.ended());
  await step.closeStdout();
  service.plane.endOperation(running);
  expect(await step.done).toMatchObject({ exitCode: 1, signal: null, overran: false, outputs: { status: 'error' } });
});

/** Starts a step with these inputs. Its process is held in this way from the event on. */
type Hold = (context: TestContext, inputs?: StepOptions['inputs']) => Promise<[StepHandle, event: Promise<unknown>]>;

const holds: Readonly<Record<string, Hold>> = {
  'a response body comes slowly': async (context, inputs) => {
    const fault = { kind: 'drip', intervalMs: 50 } as const;
    const { service, start } = await setProcess(context, { faults: [{ fault }] });
    return [start({ ...anyId, ...inputs }), service.arrived()];
  },
  'a TLS server does not respond': async (context, inputs) => {
    const { start } = await setProcess(context);
    const server = createServer();
    const baseUrl = `https://127.0.0.1:${await listen(context, server)}/v2`;
    return [start({ ...anyId, 'base-url': baseUrl, ...inputs }), once(server, 'connection')];
  },
  'it pauses between two polls': async (context, inputs) => {
    const { service, operation, start } = await setProcess(context);
    const pause = { 'operation-id': operation(forever).id, 'poll-interval': '2900ms' };
    return [start({ ...pause, ...inputs }, { nodeArgs: preload('handle-stays-open') }), service.ended()];
  },
};

test.concurrent.for(Object.entries(holds))(
  'SIGINT cancels a step without an error annotation while %s',
  async ([, hold], context) => {
    needs(context, 'signals');
    const [step, event] = await hold(context);
    await step.reach(event);
    step.kill('SIGINT');
    expectCancelled(await step.done);
  },
);

test.concurrent.for(Object.entries(holds))(
  'a step ends with status timeout at its deadline while %s',
  async ([, hold], context) => {
    const [step] = await hold(context, { timeout: '3s' });
    const result = await step.done;
    expect(result).toMatchObject({ exitCode: 1, overran: false, outputs: { status: 'timeout' } });
    errorOf(result);
  },
);

const long = 'x'.repeat(2 ** 20);
const bodies = { usable: { projects: [{ id: 'p', name: long }] }, unusable: [long] };
const inParse = 'a signal comes while a long body is parsed';
test.concurrent.for([
  ['list-projects', 'usable'],
  ['wait-operation', 'unusable'],
] as const)(
  '%s ends as cancelled if a signal arrives while it parses a response that is %s',
  async ([mode, body], context) => {
    const { runMode } = await setProcess(context);
    const server = createHttpServer((_, response) => response.end(JSON.stringify(bodies[body])));
    const baseUrl = `http://127.0.0.1:${await listen(context, server)}/v2`;
    const ofWait = mode === 'wait-operation' ? { 'project-id': 'p', ...anyId } : {};
    const result = await runMode(mode, { 'base-url': baseUrl, timeout: '1m', ...ofWait }, withDefect(inParse));
    expect(result.summary).toMatch(new RegExp(`^### 🚫 ${mode}: Cancelled`));
    expectCancelledEnd(result);
  },
);

test.concurrent.for(['SIGBREAK', 'SIGTERM'])('a step that gets %s ends as cancelled', async (signal, context) => {
  const { run } = await setProcess(context, { faults: [{ fault: hang }] });
  expectCancelled(await run(anyId, withDefect(signal)));
});

test.concurrent('wait-operation that gets two signals at once still writes the results that it has', async (context) => {
  needs(context, 'signals');
  const { service, operation, start } = await setProcess(context);
  const ended = operation({ lengthMs: 0 });
  const running = operation(forever);
  const step = start({ 'operation-id': `${ended.id} ${running.id}`, 'poll-interval': '100ms' });
  await step.reach(service.arrived({ n: 3 }));
  step.kill('SIGINT');
  step.kill('SIGTERM');
  const result = await step.done;
  expectCancelled(result);
  expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual([ended.id, running.id]);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'finished' }, { id: running.id }]);
  expect(result.summary).toContain(running.id);
});

function expectCancelled(result: StepResult): void {
  expectCancelledEnd(result);
  expect(JSON.parse(resultFileOf(result))).toMatchObject({ status: 'cancelled' });
}

function expectCancelledEnd(result: StepResult): void {
  expect(result).toMatchObject({ exitCode: 1, signal: null, overran: false, outputs: { status: 'cancelled' } });
  expect(result.summary).toMatch(/cancelled/i);
  expect(result.annotations.filter(({ kind, source }) => kind === 'error' && source === 'action')).toEqual([]);
}
