import { test } from 'vitest';
import { errorOf, noticesOf, setStage } from './stage.js';

const minute = 60_000;
const never = Number.POSITIVE_INFINITY;

test.concurrent('all waits for every unfinished operation that the filter admits', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const started = (action: string, branchId: string) =>
    service.plane.startOperation({ projectId, lengthMs: never, action, branchId });
  const ours = [started('create_branch', 'br-ours-1'), started('create_timeline', 'br-ours-2')];
  started('create_branch', 'br-theirs-1');
  started('apply_config', 'br-ours-1');
  const step = start({ 'operation-id': 'all', filter: 'action=create_*\nbranch_id!=br-theirs-?' });
  await Promise.all(ours.map(({ id }) => step.waitForLine(id)));
  for (const operation of ours) service.plane.endOperation(operation);

  const result = await step.done;

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '2' });
  expect(JSON.parse(result.outputs['operation-ids'] ?? '').sort()).toEqual(ours.map(({ id }) => id).sort());
});

test.concurrent('nothing unfinished is success, and the notice names what failed in the last 5 minutes', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const failed = (ageMs: number, lengthMs: number, more = {}) =>
    service.plane.startOperation({ projectId, ageMs, lengthMs, outcome: 'failed', branchId: 'br-ours', ...more });
  const justNow = failed(minute, 1_000);
  const longOne = failed(60 * minute, 57 * minute);
  const hidden = [
    failed(10 * minute, minute),
    failed(minute, 1_000, { branchId: 'br-theirs' }),
    failed(minute, 1_000, { action: 'suspend_compute' }),
    failed(minute, 1_000, { outcome: 'finished' }),
  ];

  const result = await run({ 'operation-id': 'all', filter: 'branch_id=br-ours' });

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' });
  const notices = noticesOf(result);
  expect(notices).toHaveLength(1);
  for (const { id } of [justNow, longOne]) expect(notices[0]).toContain(id);
  for (const { id } of hidden) expect(notices[0]).not.toContain(id);
});

test.concurrent('fail-on: empty makes nothing to wait for an error', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context);
  const result = await run({ 'operation-id': 'all', 'fail-on': 'empty' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'empty', count: '0', 'operation-ids': '[]' });
  expect(errorOf(result)).toMatch(/fail-on: empty/);
  expect(service.requests.length).toBeGreaterThan(0);
});

test.concurrent('fail-on: empty has no say where there was something', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const operation = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': 'all', 'fail-on': 'empty' });
  await step.waitForLine(operation.id);
  service.plane.endOperation(operation);
  const result = await step.done;
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
});

test.concurrent('one that appeared and failed between two looks counts as failed', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const first = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': 'all' });
  await step.waitForLine(first.id);
  await service.ended({ endpoint: 'list-operations', n: 2 });
  const second = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed' });

  const result = await step.done;

  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': second.id });
  expect(errorOf(result)).toContain(second.id);
});

test.concurrent('one that is shown late, after it failed, counts as failed though others are newer', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const first = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': 'all', 'fail-fast': 'false' });
  await step.waitForLine(first.id);
  await service.ended({ endpoint: 'list-operations', n: 2 });
  const late = service.plane.startOperation({ projectId, ageMs: 2_000, lengthMs: 1_000, outcome: 'failed' });
  // What is awaited goes on for a while, so that the late one is seen before all has ended.
  await service.ended({ endpoint: 'list-operations', n: 6 });
  service.plane.endOperation(first);

  const result = await step.done;

  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': late.id });
});

test.concurrent('one of long ago that moves up into the newest 200 is no news', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context, { operations: 0 });
  service.plane.startOperation({ projectId, ageMs: 60 * minute, lengthMs: 0, outcome: 'failed' });
  const old = Array.from({ length: 199 }, () =>
    service.plane.startOperation({ projectId, ageMs: 30 * minute, lengthMs: 0 }),
  );
  const ours = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': 'all' });
  await step.waitForLine(ours.id);
  await service.ended({ endpoint: 'list-operations', n: 2 });
  for (const operation of old.slice(0, 5)) service.plane.removeOperation(operation);
  await service.ended({ endpoint: 'list-operations', n: 6 });
  service.plane.endOperation(ours);

  const result = await step.done;

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': ours.id });
});

test.concurrent('one that appears while another is awaited is awaited too', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const first = service.plane.startOperation({ projectId, lengthMs: never });
  const step = start({ 'operation-id': 'all' });
  await step.waitForLine(first.id);
  const second = service.plane.startOperation({ projectId, lengthMs: never });
  await step.waitForLine(second.id);
  service.plane.endOperation(first);
  await step.waitForLine(new RegExp(`${first.id}.*finished`));
  service.plane.endOperation(second);

  const result = await step.done;

  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '2', 'operation-id': second.id });
});

test.concurrent.for([
  ['no filter', undefined, 0],
  ['a filter of something else', 'branch_id=*', 0],
  ['a filter that names action', 'action=suspend_compute', 1],
  ['a filter that names action to leave others out', 'action!=start_compute', 2],
] as const)('what the service starts by itself, with %s', async ([, filter, count], context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  for (const action of ['suspend_compute', 'check_availability'])
    service.plane.startOperation({ projectId, lengthMs: never, action });
  const result = await run({ 'operation-id': 'all', filter, timeout: '0' });
  expect(result.outputs).toMatchObject({ status: count === 0 ? 'finished' : 'timeout', count: String(count) });
});

test.concurrent('one that was seen unfinished is followed to its end when the newest 200 show it no more', async (context) => {
  const { expect } = context;
  const { service, projectId, start } = await setStage(context);
  const ours = service.plane.startOperation({ projectId, lengthMs: never, branchId: 'br-ours' });
  const step = start({ 'operation-id': 'all', filter: 'branch_id=br-ours' });
  await step.waitForLine(ours.id);
  for (let left = 200; left > 0; left--)
    service.plane.startOperation({ projectId, lengthMs: 0, branchId: 'br-theirs' });
  const asked = await service.arrived({ endpoint: 'get-operation', n: 1 });
  service.plane.endOperation(ours, 'failed');

  const result = await step.done;

  expect(asked.path).toContain(ours.id);
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', count: '1', 'operation-id': ours.id });
});

test.concurrent('an empty list is believed only after 5 s, and its pages are 100 long', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  for (let left = 250; left > 0; left--) service.plane.startOperation({ projectId, lengthMs: 0 });
  const result = await run({ 'operation-id': 'all', 'poll-interval': '1h' });
  expect(result.conclusion).toBe('success');
  expect(result.outputs).toMatchObject({ count: '0' });
  expect(noticesOf(result)[0]).toMatch(/Found no unfinished operation/);
  expect(service.requests).toHaveLength(4 + 2);
  for (const { endpoint, path } of service.requests) {
    expect(endpoint).toBe('list-operations');
    expect(path).toMatch(/[?&]limit=100(&|$)/);
  }
  expect((service.requests[4]?.at ?? 0) - (service.requests[0]?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
});

test.concurrent('an operation that is listed 1.5 s late does not slip through the gate', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context, { operations: 0 });
  // The step starts within it, however slow the machine is.
  const late = service.plane.startOperation({ projectId, lengthMs: 0, outcome: 'failed', appearsAfterMs: 2_500 });
  const result = await run({ 'operation-id': 'all' });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': late.id });
});

test.concurrent('with since an operation that failed before the step fails it', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  const failed = service.plane.startOperation({ projectId, ageMs: minute, lengthMs: 0, outcome: 'failed' });
  const result = await run({ 'operation-id': 'all', since: '10m' });
  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failed.id });
});

test.concurrent('a batch of list-projects can be waited for in one step, and the error names the project', async (context) => {
  const { expect } = context;
  const { service, run } = await setStage(context, { projects: 3, operations: 0 });
  const [first = '', second = ''] = service.projectIds;
  for (const projectId of [first, second]) service.plane.startOperation({ projectId, lengthMs: 0, ageMs: 1_000 });
  const failing = service.plane.startOperation({ projectId: second, lengthMs: 0, outcome: 'failed', ageMs: 1_000 });
  const input = { 'operation-id': 'all', 'project-id': JSON.stringify([first, second]), since: '5m' };
  const result = await run(input);
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failing.id });
  expect(errorOf(result)).toContain(`in project ${second}`);
  expect(new Set(service.requests.map(({ path }) => path.split('/')[3]))).toEqual(new Set([first, second]));
});

test.concurrent('a filter that leaves out all that is unfinished is named in the notice', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context);
  for (let left = 3; left > 0; left--) service.plane.startOperation({ projectId, lengthMs: never });
  const result = await run({ 'operation-id': 'all', filter: 'branch_id=br-none', timeout: '0' });
  expect(result.conclusion).toBe('success');
  expect(noticesOf(result)[0]).toMatch(/filter excluded 3 unfinished operations/);
});

test.concurrent('operations of other projects are no concern', async (context) => {
  const { expect } = context;
  const { service, projectId, run } = await setStage(context, { projects: 2 });
  const other = service.projectIds.find((id) => id !== projectId);
  service.plane.startOperation({ lengthMs: never, ...(other === undefined ? {} : { projectId: other }) });
  const result = await run({ 'operation-id': 'all' });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0' });
});
