import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { sabotage } from './sabotage.js';
import { errorOf, setStage, warningsOf } from './stage.js';

for (const [fixture, said] of [
  ['event-loop-runs-empty', /event loop ran empty/],
  ['timer-throws', /sabotage in a timer/],
  ['timer-throws-twice', /sabotage in a timer/],
  ['promise-rejects', /sabotage in a promise/],
] as const) {
  test.concurrent(`${fixture}: the step ends red, and says so`, async (context) => {
    const { service, projectId, run } = await setStage(context, { faults: [{ fault: { kind: 'delay', ms: 3_000 } }] });
    const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

    const result = await run({ 'operation-id': operation.id }, { nodeArgs: sabotage(fixture) });

    expect(result.exitCode).toBe(1);
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(said);
    expect(result.summary).toMatch(said);
    expect(result.ms).toBeLessThan(10_000);
  });
}

test.concurrent('requests that nothing comes of end at request-timeout and deadline', async (context) => {
  const { run } = await setStage(context);

  const result = await run(
    { 'operation-id': '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11', timeout: '3s', 'request-timeout': '1s' },
    { nodeArgs: sabotage('no-request-ever-ends') },
  );

  expect(result.outputs).toMatchObject({ status: 'timeout' });
  expect(errorOf(result)).toMatch(/request-timeout/);
  expect(Number(result.outputs['duration-ms'])).toBeLessThan(5_000);
});

for (const outcome of ['finished', 'failed']) {
  test.concurrent(`a file for outputs that is not there makes the end of what ${outcome} red`, async (context) => {
    const { service, projectId, run } = await setStage(context);
    const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome });

    const result = await run(
      { 'operation-id': operation.id },
      { env: { GITHUB_OUTPUT: join('no', 'such', 'folder', 'output') } },
    );

    expect(result.exitCode).toBe(1);
    expect(result.overran).toBe(false);
    expect(errorOf(result)).toMatch(/output/i);
  });
}

for (const [name, GITHUB_STEP_SUMMARY] of [
  ['not there', join('no', 'such', 'folder', 'summary')],
  ['not named', undefined],
] as const) {
  test.concurrent(`a summary that is ${name} costs a warning, and not the result`, async (context) => {
    const { service, projectId, run } = await setStage(context);
    const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

    const result = await run({ 'operation-id': operation.id }, { env: { GITHUB_STEP_SUMMARY } });

    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'finished' });
    expect(warningsOf(result).join('\n')).toMatch(/summary/i);
  });
}

for (const [name, place] of Object.entries({
  'a folder that is not there': (folder: string) => join(folder, 'no', 'such', 'folder'),
  'no folder': (folder: string) => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    return file;
  },
})) {
  test.concurrent(`where RUNNER_TEMP is ${name}, the step ends red in clear words`, async (context) => {
    const { service, projectId, folder, run } = await setStage(context);
    const operation = service.plane.startOperation({ projectId, lengthMs: 0 });

    const result = await run({ 'operation-id': operation.id }, { env: { RUNNER_TEMP: place(folder) } });

    expect(result.exitCode).toBe(1);
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/RUNNER_TEMP/);
  });
}

for (const outcome of ['finished', 'failed']) {
  test.concurrent(`a handle that stays open holds up nothing where the operation ${outcome}`, async (context) => {
    const { service, projectId, run } = await setStage(context);
    const operation = service.plane.startOperation({ projectId, lengthMs: 0, outcome });

    const result = await run({ 'operation-id': operation.id }, { nodeArgs: sabotage('handle-stays-open') });

    expect(result.overran).toBe(false);
    expect(result.exitCode).toBe(outcome === 'finished' ? 0 : 1);
    expect(result.outputs).toMatchObject({ status: outcome });
    expect(lastLineOf(result)).toMatch(outcome === 'finished' ? /1 operation finished\./ : /^::error::1 operation/);
    expect(result.ms - (result.lines.at(-1)?.ms ?? Number.NaN)).toBeLessThan(2_000);
  });
}

test.concurrent('a handle that stays open holds up no cancelled step', async (context) => {
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });
  const step = start({ 'operation-id': operation.id }, { nodeArgs: sabotage('handle-stays-open') });
  await reach(step, service.arrived());

  step.kill('SIGTERM');
  const result = await step.done;

  expect(result.outputs).toMatchObject({ status: 'cancelled' });
  expect(result.exitCode).toBe(1);
  expect(lastLineOf(result)).toMatch(/^Cancelled/);
  expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
});

function lastLineOf(result: StepResult): string {
  return result.lines.at(-1)?.text ?? '';
}
