import { describe, expect, type TestContext, test } from 'vitest';
import type { FaultRule, Operation, OperationPlan } from '../../control-plane/index.js';
import { hang, retryAfter, status } from '../kit/fault.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { errorOf, noticesOf, type Stage, type StageOptions, setStage } from '../kit/stage.js';
import { all, ended, failedAtOnce, forever, gaps, minute, second, tookOf, waitFor } from '../kit/wait.js';
import type { StepOptions, StepResult } from '../runner/step.js';

function waitForAll(stage: Stage, inputs: StepOptions['inputs'] = {}): Promise<StepResult> {
  return stage.run({ ...all, ...inputs });
}

/** Starts so many operations. */
function start(stage: Stage, count: number, plan: OperationPlan): Operation[] {
  return Array.from({ length: count }, () => stage.operation(plan));
}

function expectNothing(result: StepResult): void {
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' });
  expect(result.conclusion).toBe('success');
}

function idsOf({ outputs }: StepResult): string[] {
  return JSON.parse(outputs['operation-ids'] ?? '');
}

describe('what counts', () => {
  test('every unfinished operation of the project counts, and every one that begins meanwhile', async (context) => {
    const stage = await setStage(context, { projects: 2, operations: 30 });
    const first = stage.operation({ lengthMs: 10 * second });
    stage.operation({ ...failedAtOnce, ageMs: 10 * second });
    stage.operation({ ...forever, projectId: stage.service.projectIds[1] ?? '' });
    let later: Operation | undefined;
    stage.after(8 * second, () => {
      later = stage.operation({ lengthMs: 20 * second });
    });
    const result = await waitForAll(stage);
    expect(result.outputs).toMatchObject({ status: 'finished', count: '2', 'operation-id': later?.id });
    expect(idsOf(result).sort()).toEqual([first.id, later?.id].sort());
    expect(tookOf(result)).toBeGreaterThanOrEqual(28 * second);
  });

  test('only operations that the filter admits count', async (context) => {
    const stage = await setStage(context);
    const started = (action: string, branchId: string, lengthMs: number) =>
      stage.operation({ lengthMs, action, branchId }).id;
    const ours = [started('create_branch', 'br-ours-1', second), started('create_timeline', 'br-ours-2', 2 * second)];
    started('create_branch', 'br-theirs-1', Number.POSITIVE_INFINITY);
    started('apply_config', 'br-ours-1', Number.POSITIVE_INFINITY);
    const result = await waitForAll(stage, { filter: 'action=create_*\nbranch_id!=br-theirs-?' });
    expect(result.conclusion).toBe('success');
    expect(idsOf(result).sort()).toEqual(ours.sort());
  });

  test.for([
    ['no filter', undefined, 0],
    ['a filter of another field', 'branch_id=*', 0],
    ['a filter that names action', 'action=suspend_compute', 1],
    ['a filter that excludes an action', 'action!=start_compute', 2],
  ] as const)('what the service starts counts only by a filter of action: %s', async ([, filter, count], context) => {
    const stage = await setStage(context);
    for (const action of ['suspend_compute', 'check_availability']) stage.operation({ ...forever, action });
    const result = await waitForAll(stage, { filter, timeout: '0' });
    expect(result.outputs).toMatchObject({ status: count === 0 ? 'finished' : 'timeout', count: String(count) });
  });

  const listedLate = { ageMs: 2 * second, lengthMs: second, outcome: 'failed' };
  test.for<[what: string, at: number, appearing: OperationPlan, otherLengthMs: number]>([
    ['appeared and failed between two polls', 25 * second, failedAtOnce, minute],
    ['failed after the other had ended', 29.9 * second, failedAtOnce, 29 * second],
    ['is listed late, after it failed,', 21 * second, listedLate, minute],
  ])('one that %s counts as failed', async ([, at, appearing, lengthMs], context) => {
    const stage = await setStage(context);
    stage.operation({ lengthMs });
    let failed: Operation | undefined;
    stage.after(at, () => {
      failed = stage.operation(appearing);
    });
    const result = await waitForAll(stage, { 'poll-interval': '10s' });
    expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': failed?.id });
    expect(errorOf(result)).toContain(failed?.id);
    expect(tookOf(result)).toBe(30 * second);
  });

  test.for(['finished', 'failed'])('one that left the newest 200 is followed until it %s', async (outcome, context) => {
    const before = (stage: Stage) => stage.after(20 * second, () => start(stage, 250, ended));
    const { result, took, paths, ids } = await waitFor(context, [{ lengthMs: minute, outcome }], all, { before });
    expect(result.outputs['status']).toBe(outcome);
    expect(took).toBeGreaterThanOrEqual(minute);
    expect(paths().at(-1)).toContain(ids[0]);
  });

  test('old operations that move into the newest 200 when others are deleted do not count', async (context) => {
    const stage = await setStage(context);
    start(stage, 20, { ...failedAtOnce, ageMs: 120 * minute });
    const later = start(stage, 199, { ...ended, ageMs: 60 * minute });
    stage.operation({ lengthMs: minute });
    stage.after(20 * second, () => {
      for (const operation of later.slice(0, 50)) stage.service.plane.removeOperation(operation);
    });
    expect((await waitForAll(stage)).outputs).toMatchObject({ status: 'finished', count: '1' });
  });

  test('an id from the list is shown as text of the service, also when it is no longer found', async (context) => {
    const id = `x\u202E\u200B\u2028::error::${'long '.repeat(500)}`;
    const faults = [{ endpoint: 'get-operation', fault: status(404) } as const];
    const plan = { ...forever, vanishesAfterMs: 400, fields: { id } };
    const { result } = await waitFor(context, [plan], all, { faults });
    expect(errorOf(result)).toMatch(/no longer has operation/);
    expect(errorOf(result)).not.toMatch(/[\p{Cf}\p{Zl}]/u);
  });
});

describe('an empty list', () => {
  test('it is believed only by a poll 5 s after the first, which reads pages of 100', async (context) => {
    const stage = await setStage(context, { operations: 3 });
    const result = await waitForAll(stage);
    expectNothing(result);
    expect(stage.times().at(-1)).toBe(5 * second);
    expect(stage.times().length).toBeGreaterThan(3);
    expect(noticesOf(result)).toEqual([`Found no unfinished operation to wait for in project ${stage.projectId}.`]);
    for (const { path } of stage.service.requests) expect(path).toMatch(/\/operations\?limit=100(&|$)/);
  });

  test.for<[when: string, inputs: StepOptions['inputs'], polls: number[], ...faults: FaultRule[]]>([
    ['after 5 s also with a longer poll-interval', { 'poll-interval': '1m' }, [0, 5]],
    ['after the next poll that succeeds', { 'poll-interval': '5s' }, [0, 5, 10], { nth: 2, fault: status(503) }],
    ['at once with timeout: 0', { timeout: '0' }, [0]],
  ])('it is believed %s', async ([, inputs, polls, ...faults], context) => {
    const { result, times } = await waitFor(context, [], { ...all, ...inputs }, { faults });
    expectNothing(result);
    expect(times()).toEqual(polls.map((time) => time * second));
    expect(result.log.includes('Polling for 5s more')).toBe(polls.length > 1);
  });

  test('an operation that is listed 1.5 s late does not slip through the gate', async (context) => {
    const plan = { lengthMs: minute, appearsAfterMs: 1_500, outcome: 'failed' };
    const { result, ids } = await waitFor(context, [plan], all);
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[0] });
  });

  test.for([
    ['failed', 4],
    ['finished', 5],
  ] as const)('one that appears meanwhile and has already %s ends the 5 s', async ([outcome, within], context) => {
    const before = (stage: Stage) => stage.after(2.2 * second, () => stage.operation({ lengthMs: 0, outcome }));
    const { result, took } = await waitFor(context, [], { ...all, 'fail-on': 'empty' }, { before });
    expect(result.outputs).toMatchObject({ status: outcome, count: '1' });
    expect(took).toBeLessThan(within * second);
  });

  test.for(['empty', undefined])('a deadline that comes first is a timeout (fail-on: %s)', async (failOn, context) => {
    const { result } = await waitFor(context, [], { ...all, timeout: '4s', 'fail-on': failOn });
    expect(result.outputs['status']).toBe('timeout');
    expect(errorOf(result)).toMatch(/an empty list is trusted only if it is still empty 5s later/);
  });

  test.for(['all', '[]'])('fail-on: empty makes it fail the step (operation-id: %s)', async (ids, context) => {
    const stage = await setStage(context);
    const result = await stage.run({ 'operation-id': ids, 'fail-on': 'empty' });
    expect(result.outputs).toMatchObject({ status: 'empty', count: '0', 'operation-ids': '[]' });
    expect(result.conclusion).toBe('failure');
    expect(errorOf(result)).toMatch(/fail-on: empty/);
    expect(tookOf(result)).toBe(ids === 'all' ? 5 * second : 0);
  });

  test('it does not make a throttled wait poll faster', async (context) => {
    const { result, times } = await waitFor(context, [], all, { faults: [{ nth: 1, fault: retryAfter(429, 20) }] });
    expectNothing(result);
    const [first, ...rest] = gaps(times());
    expect(first).toBeGreaterThanOrEqual(20 * second);
    for (const pause of rest) expect(pause).toBeGreaterThan(5 * second);
  });

  test('the notice names what failed in the last 5 minutes of the service, whatever the clock of the runner says', async (context) => {
    for (const clockAheadMs of [-60 * minute, 0, 60 * minute]) {
      const stage = await setStage(context, { clockAheadMs });
      const failed = (ageMs: number, more = {}) =>
        stage.operation({ ageMs, lengthMs: second, outcome: 'failed', branchId: 'br-ours', ...more }).id;
      const named = [failed(4 * minute), failed(60 * minute, { lengthMs: 57 * minute })];
      const hidden = [
        failed(6 * minute),
        failed(minute, { branchId: 'br-theirs' }),
        failed(minute, { action: 'suspend_compute' }),
        failed(minute, { outcome: 'finished' }),
      ];
      const [notice] = noticesOf(await waitForAll(stage, { filter: 'branch_id=br-ours' }));
      for (const id of named) expect(notice).toContain(id);
      for (const id of hidden) expect(notice).not.toContain(id);
    }
  });

  test('the notice says how many unfinished operations the filter excluded', async (context) => {
    const plans = [forever, forever, forever, { ...forever, action: 'suspend_compute' }];
    const { result } = await waitFor(context, plans, { ...all, filter: 'branch_id=other' });
    expectNothing(result);
    expect(noticesOf(result)[0]).toMatch(
      /The filter excluded 3 unfinished operations\. Ignored 1 unfinished operation that the service itself started\./,
    );
  });
});

describe('the reads of the list', () => {
  test.for(['finished', 'failed'])('nothing that has %s is taken for new in any order', async (outcome, context) => {
    const listed = (word: string, ms: string): OperationPlan => {
      return { ...ended, ageMs: minute, outcome: word, fields: { created_at: `2023-12-31T09:00:00.${ms}Z` } };
    };
    const plans = [listed(outcome, '001'), listed('finished', '000')];
    const { result, took } = await waitFor(context, plans, { ...all, 'fail-on': 'empty' });
    expect(result.outputs).toMatchObject({ status: 'empty', count: '0' });
    expect(took).toBe(5 * second);
  });

  test('the first poll reads the newest 1,000, later ones the newest 200 and, singly, what was seen unfinished', async (context) => {
    const stage = await setStage(context, { operations: 0 });
    stage.operation(forever);
    start(stage, 100, ended);
    const long = stage.operation({ lengthMs: 50 * second });
    start(stage, 950, ended);
    const result = await waitForAll(stage, { 'poll-interval': '30s' });
    expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': long.id });
    const polls = [...Array(10).fill(0), ...Array(3).fill(30 * second), ...Array(3).fill(minute)];
    expect(stage.times()).toEqual(polls);
  });

  test.for<[what: string, rule: FaultRule]>([
    ['a list that never comes', { fault: hang }],
    ['a list that is throttled', { fault: status(429) }],
    ['a second page that never comes', { path: 'cursor=', fault: { kind: 'hang-mid-body' } }],
    ['a second page that is locked', { path: 'cursor=', fault: status(423) }],
    ['a second page that is not found', { path: 'cursor=', fault: status(404) }],
  ])('%s never opens the gate', async ([, rule], context) => {
    const stage = await setStage(context, { faults: [rule] });
    stage.operation({ ...forever, ageMs: minute });
    start(stage, 150, ended);
    const { outputs } = await waitForAll(stage, { timeout: '20s' });
    expect(['timeout', 'error']).toContain(outputs['status']);
  });

  test('a poll that read one page of two proves nothing, even after one that read both', async (context) => {
    const faults = [{ endpoint: 'list-operations', nth: 5, fault: status(404) } as const];
    const stage = await setStage(context, { operations: 0, faults });
    start(stage, 150, ended);
    stage.operation({ lengthMs: second });
    expect((await waitForAll(stage, { 'poll-interval': '2s' })).outputs['status']).toBe('finished');
    expect(stage.times()).toEqual([0, 0, 0, 2, 2, 4, 4, 4].map((time) => time * second));
  });

  test('one that appears and fails behind a first poll that was interrupted counts as failed', async (context) => {
    const faults = [{ endpoint: 'list-operations', from: 2, count: 2, fault: status(500) } as const];
    const notShown = { maximumPageSize: 1, overMaximum: 'clamp' } as const;
    const before = (stage: Stage) => stage.after(300, () => stage.operation({ lengthMs: 50, outcome: 'failed' }));
    const { result } = await waitFor(context, [ended, ended], all, { faults, notShown, before });
    expect(result.outputs['status']).toBe('failed');
  });
});

describe('since', () => {
  const since = { ...all, since: '10m' };

  test.for<[what: string, plan: OperationPlan, verdict?: string]>([
    ['what failed within it counts', { outcome: 'failed', ageMs: 9 * minute }, 'failed'],
    ['what finished within it counts', { ageMs: 9 * minute }, 'finished'],
    ['what is older does not count', { outcome: 'failed', ageMs: 11 * minute }],
    ['what the service started by itself does not count', { outcome: 'failed', action: 'check_availability' }],
    ['what the filter excludes does not count', { outcome: 'failed', branchId: 'br-theirs' }],
  ])('%s, whatever the clock of the runner says', async ([, plan, verdict], context) => {
    const inputs = { ...since, filter: 'branch_id!=br-theirs', 'fail-on': 'empty' };
    const plans = [{ ...ended, ageMs: minute, ...plan }];
    for (const clockAheadMs of [-60 * minute, 0, 60 * minute]) {
      const { result, took, ids } = await waitFor(context, plans, inputs, { clockAheadMs });
      expect(result.outputs['status']).toBe(verdict ?? 'empty');
      expect(idsOf(result)).toEqual(verdict === undefined ? [] : ids);
      expect(took).toBe(verdict === undefined ? 5 * second : 0);
    }
  });

  test('the first poll reads back to it, behind the newest 1,000', async (context) => {
    const stage = await setStage(context);
    const failed = stage.operation({ ...failedAtOnce, ageMs: 9 * minute });
    start(stage, 1_150, { ...ended, ageMs: 5 * minute, action: 'suspend_compute' });
    expect((await waitForAll(stage, since)).outputs).toMatchObject({ status: 'failed', 'operation-id': failed.id });
  });

  test('the first poll reads no further than it must', async (context) => {
    const stage = await setStage(context);
    start(stage, 1_500, { ...ended, ageMs: 60 * minute });
    await waitForAll(stage, { ...since, timeout: '0' });
    expect(stage.times()).toHaveLength(10);
  });
});

describe('several projects', () => {
  /** A stage with an operation in each of the projects, and a wait for all of them. */
  async function setProjects(context: TestContext, count: number, plan: OperationPlan, options: StageOptions = {}) {
    const stage = await setStage(context, { projects: count, operations: 0, ...options });
    const ids = stage.service.projectIds;
    for (const projectId of ids) stage.operation({ projectId, ...plan });
    const wait = (inputs: StepOptions['inputs'] = {}) =>
      waitForAll(stage, { 'project-id': JSON.stringify(ids), ...inputs });
    return { ...stage, ids, wait };
  }

  test('all of them must be idle, and the summary names each project', async (context) => {
    const { ids, operation, wait } = await setProjects(context, 3, { lengthMs: 20 * second });
    operation({ projectId: ids[2] ?? '', lengthMs: minute });
    const result = await wait();
    expect(result.outputs).toMatchObject({ status: 'finished', count: '4' });
    expect(tookOf(result)).toBeGreaterThanOrEqual(minute);
    expect(result.summary).toContain('<th>Project</th>');
    for (const id of ids) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
  });

  test('the error names the project of each operation', async (context) => {
    const { ids, wait } = await setProjects(context, 2, forever);
    const error = errorOf(await wait({ timeout: '10s' }));
    for (const id of ids) expect(error).toContain(`in project ${id}`);
  });

  test('each of them has its own 5 s, and the log says so once', async (context) => {
    const { ids, after, operation, wait } = await setProjects(context, 3, ended);
    operation({ projectId: ids[0] ?? '', lengthMs: second });
    after(3 * second, () => operation({ ...failedAtOnce, projectId: ids[1] ?? '' }));
    const result = await wait();
    expect(result.outputs['status']).toBe('failed');
    const announced = /At least one project has no unfinished operation yet\. Polling for 5s more/g;
    expect(result.log.match(announced)).toHaveLength(1);
  });

  test('an unknown one is an error after 5 s that names it', async (context) => {
    const { ids, wait } = await setProjects(context, 2, forever);
    const result = await wait({ 'project-id': [...ids, 'no-such-project'].join() });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toMatch(/no-such-project.*key without access gets 404/);
    expect(tookOf(result)).toBeGreaterThanOrEqual(5 * second);
  });

  test('one that keeps failing is given up after 5 attempts, though others respond', async (context) => {
    const { ids, service, paths, wait } = await setProjects(context, 2, forever);
    const path = `projects/${ids[1]}/`;
    service.faults.add({ path, fault: status(503) });
    expect((await wait()).outputs['status']).toBe('error');
    expect(paths().filter((one) => one.includes(path))).toHaveLength(5);
  });

  test('one that hangs does not hide that another failed', async (context) => {
    const { ids, service, wait } = await setProjects(context, 2, { lengthMs: 10 * second, outcome: 'failed' });
    service.faults.add({ path: `/projects/${ids[0]}/`, fault: hang });
    const result = await wait({ 'request-timeout': '5m' });
    expect(result.outputs['status']).toBe('failed');
    expect(tookOf(result)).toBeLessThan(14 * second);
  });

  test('a hundred send at most 12 requests at once, and one read each a poll', async (context) => {
    const options = { faults: [{ fault: { kind: 'delay', ms: 150 } as const }] };
    const { service, wait } = await setProjects(context, 100, { lengthMs: 20 * second }, options);
    const { outputs } = await wait({ 'poll-interval': '5s' });
    expect(outputs).toMatchObject({ status: 'finished', count: '100' });
    expect(maxConcurrent(service.requests)).toBe(12);
    expect(service.requests.length % 100).toBe(0);
  });
});
