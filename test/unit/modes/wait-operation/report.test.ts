import { expect, it } from 'vitest';
import { ControlApi } from '../../../../src/api/control-api.js';
import { silent } from '../../../../src/api/log.js';
import { noRetry } from '../../../../src/http/retry.js';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { waitReport } from '../../../../src/modes/wait-operation/report.js';
import type { WaitResult, WaitSettings } from '../../../../src/modes/wait-operation/waiter.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';
import { World } from '../../../virtual/world.js';

const second = 1_000;

it('a look that saw one page of two proves nothing, even after one that saw both', async () => {
  const world = new World({
    faults: [{ endpoint: 'list-operations', nth: 5, fault: { kind: 'status', status: 404 } }],
  });
  for (let n = 0; n < 150; n++) world.plane.startOperation({ lengthMs: 0 });
  world.plane.startOperation({ lengthMs: second });
  const waited = await world.wait('all', { pollInterval: 2 * second });
  expect(waited.verdict).toBe('finished');
  expect(world.times).toEqual([0, 0, 0, 2, 2, 4, 4, 4].map((time) => time * second));
});

it('a project id is one segment of the path, whatever it holds', async () => {
  const paths: string[] = [];
  const exchange = async ({ url }: { url: URL }) => {
    paths.push(url.pathname);
    return { status: 200, headers: {}, body: '{"operations":[]}' };
  };
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-key', requestTimeout: second };
  const limit = new Deadline(new VirtualClock(), 10 * second, new Cancellation());
  for await (const _ of new ControlApi(exchange, access, silent).operations('a?b#c d', 200, {
    deadline: limit,
    retry: noRetry,
  }));
  expect(paths).toEqual(['/v2/projects/a%3Fb%23c%20d/operations']);
});

it('the report of several projects names the project of each operation', async () => {
  const world = new World({ projects: 2 });
  const { projectIds } = world.plane;
  for (const projectId of projectIds) world.plane.startOperation({ projectId, lengthMs: Number.POSITIVE_INFINITY });
  const target = { all: parseFilter('', []) };
  const waited = await world.wait('all', { projectIds, target, timeout: second });
  const settings = { projectIds, target, pollInterval: 'auto', failFast: true, failOnEmpty: false } as const;
  const { details = '', error = '' } = waitReport(waited, settings, { timeout: second, nowMs: world.clock.epochMs() });
  for (const id of projectIds) {
    expect(details).toContain(`<td><code>${id}</code></td>`);
    expect(error).toContain(`in project ${id}`);
  }
});

it('the report names what is still awaited, and takes no text for HTML', async () => {
  const world = new World();
  const running = world.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
  await world.clock.run(new Promise<void>((resolve) => world.clock.schedule(second, resolve)));
  const ended = world.plane.startOperation({ lengthMs: 0 });
  const waited = await world.wait([ended.id, running.id], { timeout: 0 });
  const settings = {
    projectIds: ['<b>&amp;'],
    target: { ids: [ended.id, running.id] },
    pollInterval: 'auto',
    failFast: true,
    failOnEmpty: false,
  } as const;
  const { outputs, details } = waitReport(waited, settings, { timeout: 0, nowMs: world.clock.epochMs() });
  expect(outputs).toContainEqual({ name: 'operation-id', value: running.id });
  expect(details).toContain('<code>&lt;b&gt;&amp;amp;</code>');
});

function errorOf(world: World, waited: WaitResult): string {
  const target = { ids: waited.operations.map(({ id }) => id) };
  const settings = { projectIds: [world.projectId], target, pollInterval: 'auto', failFast: true, failOnEmpty: false };
  return (
    waitReport(waited, settings as WaitSettings, { timeout: 20 * second, nowMs: world.clock.epochMs() }).error ?? ''
  );
}

it('a control API that never responded is not said to need a longer timeout', async () => {
  const world = new World({ faults: [{ fault: { kind: 'hang-before-headers' } }] });
  const { id } = world.plane.startOperation({ lengthMs: 0 });
  const error = errorOf(world, await world.wait([id], { timeout: 20 * second }));
  expect(error).toMatch(/The control API never responded\. Check base-url and the network and proxy/);
  expect(error).not.toMatch(/raise timeout|may still finish/);
});

it('operations that no response showed are counted, though others were shown', async () => {
  const world = new World();
  const ids = [1, 2].map(() => world.plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY }).id);
  world.faults.add({ path: ids[0] ?? '', fault: { kind: 'hang-before-headers' } });
  const error = errorOf(world, await world.wait(ids, { timeout: 20 * second }));
  expect(error).toMatch(/The control API never reported the status of 1 of them\. Check base-url/);
});

it('an id that the project does not have may belong to another project, or the key may have no access', async () => {
  const world = new World();
  const id = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
  const error = errorOf(world, await world.wait([id]));
  expect(error).toMatch(new RegExp(`Project ${world.projectId} has no operation ${id} .*404`));
  expect(error).toMatch(
    /Does it belong to another project\? Check base-url and project-id\. A key without access gets 404 too/,
  );
});
