import { expect, test } from 'vitest';
import { reach } from './reach.js';
import { errorOf, setStage } from './stage.js';

const nobody = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';

test.concurrent('an operation that appears within 5 s is waited for', async (context) => {
  const { service, projectId, start } = await setStage(context);

  const step = start({ 'operation-id': nobody, timeout: '30s' });
  await reach(step, service.ended({ n: 3 }));
  const operation = service.plane.startOperation({ projectId, id: nobody, lengthMs: 700 });
  const result = await step.done;

  expect(service.requests[2]?.status).toBe(404);
  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': operation.id });
  expect(result.conclusion).toBe('success');
});

for (const [name, ids, what] of [
  ['one operation', nobody, nobody],
  ['one of several operations', undefined, nobody],
] as const) {
  test.concurrent(`${name} that stays unknown is an error after 5 s`, async (context) => {
    const { service, projectId, run } = await setStage(context);
    const known = service.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });

    const result = await run({ 'operation-id': ids ?? `${known.id},${nobody}`, timeout: '30s' });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.conclusion).toBe('failure');
    // By the clock of the step: that of the service is late where the machine is busy.
    expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(5_000);
    expect(service.requests.length).toBeGreaterThan(3);
    expect(errorOf(result)).toContain(what);
    expect(errorOf(result)).toContain('There is no such operation.');
    expect(errorOf(result)).toMatch(/key without access gets 404/);
  });
}

test.concurrent('a project that stays unknown is an error after 5 s, and no empty list', async (context) => {
  const { run } = await setStage(context);

  const result = await run({ 'operation-id': 'all', 'project-id': 'no-such-project', timeout: '30s' });

  expect(result.outputs).toMatchObject({ status: 'error' });
  expect(result.conclusion).toBe('failure');
  expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(5_000);
  expect(errorOf(result)).toContain('no-such-project');
  expect(errorOf(result)).toMatch(/key without access gets 404/);
});

for (const [name, inputs] of Object.entries({
  'an operation': { 'operation-id': nobody },
  'a project': { 'operation-id': 'all', 'project-id': 'no-such-project' },
})) {
  test.concurrent(`with timeout: 0 ${name} that is not found is an error at once`, async (context) => {
    const { service, run } = await setStage(context);

    const result = await run({ ...inputs, timeout: '0' });

    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(result.conclusion).toBe('failure');
    expect(service.requests).toHaveLength(1);
    expect(errorOf(result)).toMatch(/key without access gets 404/);
  });

  test.concurrent(`where the deadline comes first, ${name} that is not found is a timeout`, async (context) => {
    const { run } = await setStage(context);

    const result = await run({ ...inputs, timeout: '3s' });

    expect(result.outputs).toMatchObject({ status: 'timeout' });
    expect(result.conclusion).toBe('failure');
    expect(errorOf(result)).toMatch(/key without access gets 404/);
  });
}
