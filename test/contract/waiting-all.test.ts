import { describe, expect, test } from 'vitest';
import type { Fault, FaultRule, Operation } from '../control-plane/index.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { errorOf, noticesOf, type Stage, setStage } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';

const second = 1_000;
const minute = 60 * second;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const ended = { lengthMs: 0 };
const failedAtOnce = { lengthMs: 0, outcome: 'failed' };

function waitForAll(stage: Stage, inputs: StepOptions['inputs'] = {}): Promise<StepResult> {
  return stage.run({ 'operation-id': 'all', ...inputs });
}

function expectNothing(result: StepResult): void {
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' });
  expect(result.conclusion).toBe('success');
}

function tookOf({ outputs }: StepResult): number {
  return Number(outputs['duration-ms']);
}

function idsOf({ outputs }: StepResult): string[] {
  return JSON.parse(outputs['operation-ids'] ?? '');
}

describe('what counts', () => {
  test('every unfinished operation counts, and every one that begins meanwhile', async (context) => {
    const stage = await setStage(context, { operations: 30 });
    const first = stage.operation({ lengthMs: 10 * second });
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
  ] as const)(
    'what the service starts by itself counts only if the filter names action: %s',
    async ([, filter, count], context) => {
      const stage = await setStage(context);
      for (const action of ['suspend_compute', 'check_availability']) stage.operation({ ...forever, action });
      const result = await waitForAll(stage, { filter, timeout: '0' });
      expect(result.outputs).toMatchObject({ status: count === 0 ? 'finished' : 'timeout', count: String(count) });
    },
  );

  test('operations of other projects do not count', async (context) => {
    const stage = await setStage(context, { projects: 2 });
    stage.operation({ ...forever, projectId: stage.service.projectIds[1] ?? '' });
    expectNothing(await waitForAll(stage));
  });

  test('an operation that failed before the first poll does not count', async (context) => {
    const stage = await setStage(context);
    stage.operation({ ...failedAtOnce, ageMs: 10 * second });
    stage.operation({ lengthMs: 10 * second });
    expect((await waitForAll(stage)).outputs).toMatchObject({ status: 'finished', count: '1' });
  });

  test.for([25, 29.9])(
    'one that appeared and failed after %i s, between two polls, counts as failed',
    async (at, context) => {
      const stage = await setStage(context);
      // Of the two, the second ends before the poll that shows the failed one.
      stage.operation({ lengthMs: at === 25 ? minute : 29 * second });
      let failed: Operation | undefined;
      stage.after(at * second, () => {
        failed = stage.operation(failedAtOnce);
      });
      const result = await waitForAll(stage, { 'poll-interval': '10s' });
      expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': failed?.id });
      expect(errorOf(result)).toContain(failed?.id);
      expect(tookOf(result)).toBe(30 * second);
    },
  );

  test('one that is listed late, after it failed, counts though newer ones were listed before', async (context) => {
    const stage = await setStage(context);
    stage.operation({ lengthMs: minute });
    let late: Operation | undefined;
    stage.after(20 * second, () => {
      late = stage.operation({ ageMs: 2 * second, lengthMs: second, outcome: 'failed' });
    });
    const result = await waitForAll(stage);
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': late?.id });
  });

  test.for(['finished', 'failed'])(
    'one that has left the newest 200 is followed until it is %s',
    async (outcome, context) => {
      const stage = await setStage(context);
      const operation = stage.operation({ lengthMs: minute, outcome });
      stage.after(20 * second, () => {
        for (let n = 0; n < 250; n++) stage.operation(ended);
      });
      const result = await waitForAll(stage);
      expect(result.outputs['status']).toBe(outcome);
      expect(tookOf(result)).toBeGreaterThanOrEqual(minute);
      expect(stage.service.requests.at(-1)?.path).toContain(operation.id);
    },
  );

  test('old operations that move into the newest 200 when others are deleted do not count', async (context) => {
    const stage = await setStage(context);
    for (let n = 0; n < 20; n++) stage.operation({ ...failedAtOnce, ageMs: 120 * minute });
    const later = Array.from({ length: 199 }, () => stage.operation({ ...ended, ageMs: 60 * minute }));
    stage.operation({ lengthMs: minute });
    stage.after(20 * second, () => {
      for (const operation of later.slice(0, 50)) stage.service.plane.removeOperation(operation);
    });
    expect((await waitForAll(stage)).outputs).toMatchObject({ status: 'finished', count: '1' });
  });

  test('an id from the list is shown as text of the service, also when it is no longer found', async (context) => {
    const stage = await setStage(context);
    const id = `x\u202E\u200B\u2028::error::${'long '.repeat(500)}`;
    stage.operation({ ...forever, vanishesAfterMs: 400, fields: { id } });
    stage.service.faults.add({ endpoint: 'get-operation', fault: { kind: 'status', status: 404 } });
    const result = await waitForAll(stage);
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
    expect(noticesOf(result)).toEqual([expect.stringMatching(/^Found no unfinished operation/)]);
    for (const { path } of stage.service.requests) expect(path).toMatch(/\/operations\?limit=100(&|$)/);
  });

  test('it is polled after 5 s also with a longer poll-interval', async (context) => {
    const stage = await setStage(context, { operations: 0 });
    expectNothing(await waitForAll(stage, { 'poll-interval': '1m' }));
    expect(stage.times()).toEqual([0, 5 * second]);
  });

  test('an operation that is listed 1.5 s late does not slip through the gate', async (context) => {
    const stage = await setStage(context);
    const late = stage.operation({ lengthMs: minute, appearsAfterMs: 1_500, outcome: 'failed' });
    const result = await waitForAll(stage);
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': late.id });
  });

  test.for([
    ['failed', 4],
    ['finished', 5],
  ] as const)(
    'an operation that appears meanwhile and has already %s ends the 5 s',
    async ([outcome, within], context) => {
      const stage = await setStage(context);
      stage.after(2.2 * second, () => stage.operation({ lengthMs: 0, outcome }));
      const result = await waitForAll(stage, { 'fail-on': 'empty' });
      expect(result.outputs).toMatchObject({ status: outcome, count: '1' });
      expect(tookOf(result)).toBeLessThan(within * second);
    },
  );

  test('the one poll of timeout: 0 believes it at once', async (context) => {
    const stage = await setStage(context, { operations: 0 });
    const result = await waitForAll(stage, { timeout: '0' });
    expectNothing(result);
    expect(stage.times()).toEqual([0]);
    expect(result.log).not.toContain('Polling for 5s more');
  });

  test.for(['empty', undefined])('a deadline that comes first is a timeout (fail-on: %s)', async (failOn, context) => {
    const stage = await setStage(context);
    const result = await waitForAll(stage, { timeout: '4s', 'fail-on': failOn });
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

  test('fail-on: empty does not matter if an operation counts', async (context) => {
    const stage = await setStage(context);
    stage.operation({ lengthMs: minute });
    expect((await waitForAll(stage, { 'fail-on': 'empty' })).outputs).toMatchObject({ status: 'finished', count: '1' });
  });

  test('it is not believed while the poll that would confirm it fails', async (context) => {
    const faults: FaultRule[] = [{ nth: 2, fault: { kind: 'status', status: 503 } }];
    const stage = await setStage(context, { operations: 0, faults });
    expectNothing(await waitForAll(stage, { 'poll-interval': '5s' }));
    expect(stage.times()).toEqual([0, 5 * second, 10 * second]);
  });

  test('it does not make a throttled wait poll faster', async (context) => {
    const fault: Fault = { kind: 'status', status: 429, retryAfter: { seconds: 20 } };
    const stage = await setStage(context, { operations: 0, faults: [{ nth: 1, fault }] });
    expectNothing(await waitForAll(stage));
    const [, first = 0, ...rest] = stage.times();
    expect(first).toBeGreaterThanOrEqual(20 * second);
    for (const [n, time] of rest.entries()) expect(time - ([first, ...rest][n] ?? 0)).toBeGreaterThan(5 * second);
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

  test('the notice says how many unfinished operations the filter excluded, and how many the service itself started', async (context) => {
    const stage = await setStage(context);
    for (let n = 0; n < 3; n++) stage.operation(forever);
    stage.operation({ ...forever, action: 'suspend_compute' });
    const result = await waitForAll(stage, { filter: 'branch_id=other' });
    expectNothing(result);
    expect(noticesOf(result)[0]).toMatch(
      /The filter excluded 3 unfinished operations\. Ignored 1 unfinished operation that the service itself started\./,
    );
  });
});

describe('the reads of the list', () => {
  test.for(['finished', 'failed'])(
    'nothing that has %s is taken for new, in whatever order the service lists it',
    async (outcome, context) => {
      const stage = await setStage(context, { operations: 0 });
      for (const [word, at] of [
        [outcome, '001'],
        ['finished', '000'],
      ] as const)
        stage.operation({
          ...ended,
          ageMs: minute,
          outcome: word,
          fields: { created_at: `2023-12-31T09:00:00.${at}Z` },
        });
      const result = await waitForAll(stage, { 'fail-on': 'empty' });
      expect(result.outputs).toMatchObject({ status: 'empty', count: '0' });
      expect(tookOf(result)).toBe(5 * second);
    },
  );

  test('the first poll finds a long operation behind 900 newer ones', async (context) => {
    const stage = await setStage(context);
    const long = stage.operation({ lengthMs: minute });
    for (let n = 0; n < 900; n++) stage.operation({ ...ended, action: 'suspend_compute' });
    const result = await waitForAll(stage);
    expect(result.outputs).toMatchObject({ status: 'finished', 'operation-id': long.id });
    expect(tookOf(result)).toBeGreaterThanOrEqual(minute);
  });

  test('the first poll reads the newest 1,000, later ones the newest 200', async (context) => {
    const stage = await setStage(context);
    stage.operation(forever);
    for (let n = 0; n < 1_050; n++) stage.operation(ended);
    expectNothing(await waitForAll(stage, { 'poll-interval': '5s' }));
    expect(stage.times()).toEqual([...Array(10).fill(0), 5 * second, 5 * second]);
  });

  const partly: Readonly<Record<string, FaultRule>> = {
    'a list that never comes': { fault: { kind: 'hang-before-headers' } },
    'a list that is throttled': { fault: { kind: 'status', status: 429 } },
    'a second page that never comes': { path: 'cursor=', fault: { kind: 'hang-mid-body' } },
    'a second page that is locked': { path: 'cursor=', fault: { kind: 'status', status: 423 } },
    'a second page that is not found': { path: 'cursor=', fault: { kind: 'status', status: 404 } },
  };
  test.for(Object.entries(partly))('an incomplete list never opens the gate: %s', async ([, rule], context) => {
    const stage = await setStage(context, { faults: [rule] });
    stage.operation({ ...forever, ageMs: minute });
    for (let n = 0; n < 150; n++) stage.operation(ended);
    const { outputs } = await waitForAll(stage, { timeout: '20s' });
    expect(['timeout', 'error']).toContain(outputs['status']);
  });

  test('a poll that read one page of two proves nothing, even after one that read both', async (context) => {
    const faults: FaultRule[] = [{ endpoint: 'list-operations', nth: 5, fault: { kind: 'status', status: 404 } }];
    const stage = await setStage(context, { operations: 0, faults });
    for (let n = 0; n < 150; n++) stage.operation(ended);
    stage.operation({ lengthMs: second });
    expect((await waitForAll(stage, { 'poll-interval': '2s' })).outputs['status']).toBe('finished');
    expect(stage.times()).toEqual([0, 0, 0, 2, 2, 4, 4, 4].map((time) => time * second));
  });

  test('one that appears and fails behind a first poll that was interrupted counts as failed', async (context) => {
    const faults: FaultRule[] = [
      { endpoint: 'list-operations', from: 2, count: 2, fault: { kind: 'status', status: 500 } },
    ];
    const stage = await setStage(context, {
      operations: 2,
      notShown: { maximumPageSize: 1, overMaximum: 'clamp' },
      faults,
    });
    stage.after(300, () => stage.operation({ lengthMs: 50, outcome: 'failed' }));
    expect((await waitForAll(stage)).outputs['status']).toBe('failed');
  });

  test('a project id is one segment of the path', async (context) => {
    const stage = await setStage(context);
    await waitForAll(stage, { 'project-id': 'a?b#c%d', timeout: '0' });
    expect(stage.service.requests[0]?.path).toMatch(/^\/v2\/projects\/a%3Fb%23c%25d\/operations/);
  });
});

describe('since', () => {
  const since = { since: '10m' };

  test('an operation that failed within it, before the first poll, fails the step at once', async (context) => {
    const stage = await setStage(context);
    const failed = stage.operation({ ...failedAtOnce, ageMs: 9 * minute });
    const result = await waitForAll(stage, since);
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failed.id });
    expect(tookOf(result)).toBe(0);
  });

  test('an operation that finished within it is in the result, so the list is not empty', async (context) => {
    const stage = await setStage(context);
    const finished = stage.operation({ ...ended, ageMs: 9 * minute });
    const result = await waitForAll(stage, { ...since, 'fail-on': 'empty' });
    expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': finished.id });
    expect(tookOf(result)).toBe(0);
  });

  test.for([
    { ageMs: 11 * minute },
    { ageMs: minute, action: 'check_availability' },
    { ageMs: minute, branchId: 'br-theirs' },
  ])('what is older, started by the service or excluded does not count: %o', async (plan, context) => {
    const stage = await setStage(context, { operations: 0 });
    stage.operation({ ...failedAtOnce, ...plan });
    expectNothing(await waitForAll(stage, { ...since, filter: 'branch_id!=br-theirs' }));
  });

  test('the first poll reads back to it, behind the newest 1,000', async (context) => {
    const stage = await setStage(context);
    const failed = stage.operation({ ...failedAtOnce, ageMs: 9 * minute });
    for (let n = 0; n < 1_150; n++) stage.operation({ ...ended, ageMs: 5 * minute, action: 'suspend_compute' });
    expect((await waitForAll(stage, since)).outputs).toMatchObject({ status: 'failed', 'operation-id': failed.id });
  });

  test('the first poll reads no further than it must', async (context) => {
    const stage = await setStage(context);
    for (let n = 0; n < 1_500; n++) stage.operation({ ...ended, ageMs: 60 * minute });
    await waitForAll(stage, { ...since, timeout: '0' });
    expect(stage.times()).toHaveLength(10);
  });

  test.for([-60, 60])(
    "it is measured on the service's clock, also if that of the runner is off by %i minutes",
    async (ahead, context) => {
      const stage = await setStage(context, { clockAheadMs: ahead * minute });
      stage.operation({ ...failedAtOnce, ageMs: 11 * minute });
      const recent = stage.operation({ ...failedAtOnce, ageMs: 9 * minute });
      expect(idsOf(await waitForAll(stage, since))).toEqual([recent.id]);
    },
  );
});

describe('several projects', () => {
  function projectsOf({ service }: Stage): { 'project-id': string } {
    return { 'project-id': JSON.stringify(service.projectIds) };
  }

  test('all of them must be idle, and the result names each project', async (context) => {
    const stage = await setStage(context, { projects: 3 });
    const lengths = [20 * second, 40 * second, 60 * second];
    for (const [n, projectId] of stage.service.projectIds.entries())
      stage.operation({ projectId, lengthMs: lengths[n] ?? 0 });
    const result = await waitForAll(stage, projectsOf(stage));
    expect(result.outputs).toMatchObject({ status: 'finished', count: '3' });
    expect(tookOf(result)).toBeGreaterThanOrEqual(minute);
    for (const id of stage.service.projectIds) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
  });

  test('a project id is text in the summary, never HTML', async (context) => {
    const stage = await setStage(context);
    const result = await waitForAll(stage, { 'project-id': '<b>&amp;', timeout: '0' });
    expect(result.summary).toContain('<code>&lt;b&gt;&amp;amp;</code>');
  });

  test('the error names the project of each operation', async (context) => {
    const stage = await setStage(context, { projects: 2 });
    for (const projectId of stage.service.projectIds) stage.operation({ ...forever, projectId });
    const result = await waitForAll(stage, { ...projectsOf(stage), timeout: '10s' });
    for (const id of stage.service.projectIds) expect(errorOf(result)).toContain(`in project ${id}`);
  });

  test('each of them has its own 5 s, and the log says so once', async (context) => {
    const stage = await setStage(context, { projects: 3 });
    const [busy = '', idle = ''] = stage.service.projectIds;
    stage.operation({ projectId: busy, lengthMs: second });
    stage.after(3 * second, () => stage.operation({ ...failedAtOnce, projectId: idle }));
    const result = await waitForAll(stage, projectsOf(stage));
    expect(result.outputs['status']).toBe('failed');
    expect(
      result.log.match(/At least one project has no unfinished operation yet\. Polling for 5s more/g),
    ).toHaveLength(1);
  });

  test('an unknown one is an error after 5 s that names it', async (context) => {
    const stage = await setStage(context, { projects: 2 });
    for (const projectId of stage.service.projectIds) stage.operation({ ...forever, projectId });
    const ids = [...stage.service.projectIds, 'no-such-project'];
    const result = await waitForAll(stage, { 'project-id': ids.join() });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toContain('no-such-project');
    expect(errorOf(result)).toMatch(/key without access gets 404/);
    expect(tookOf(result)).toBeGreaterThanOrEqual(5 * second);
  });

  test('one that goes away is looked for during 30 s', async (context) => {
    const stage = await setStage(context);
    stage.operation(forever);
    stage.after(20 * second, () => stage.service.plane.removeProject(stage.projectId));
    expect((await waitForAll(stage)).outputs['status']).toBe('error');
    expect(stage.times().at(-1)).toBeGreaterThanOrEqual(50 * second);
    expect(stage.times().at(-1)).toBeLessThan(62 * second);
  });

  test('one that keeps failing is given up after 5 attempts, though others respond', async (context) => {
    const stage = await setStage(context, { projects: 2 });
    for (const projectId of stage.service.projectIds) stage.operation({ ...forever, projectId });
    const path = `/projects/${stage.service.projectIds[1]}/`;
    stage.service.faults.add({ path, fault: { kind: 'status', status: 503 } });
    const result = await waitForAll(stage, projectsOf(stage));
    expect(result.outputs['status']).toBe('error');
    expect(stage.service.requests.filter((one) => one.path.includes(path))).toHaveLength(5);
  });

  test('one that hangs does not hide that another failed', async (context) => {
    const stage = await setStage(context, { projects: 2 });
    const [hanging, failing = ''] = stage.service.projectIds;
    stage.service.faults.add({ path: `/projects/${hanging}/`, fault: { kind: 'hang-before-headers' } });
    stage.operation({ projectId: failing, lengthMs: 10 * second, outcome: 'failed' });
    const result = await waitForAll(stage, { ...projectsOf(stage), 'request-timeout': '5m' });
    expect(result.outputs['status']).toBe('failed');
    expect(tookOf(result)).toBeLessThan(14 * second);
  });

  test('a hundred send at most 12 requests at once, and one read each a poll', async (context) => {
    const stage = await setStage(context, {
      projects: 100,
      operations: 0,
      faults: [{ fault: { kind: 'delay', ms: 150 } }],
    });
    for (const projectId of stage.service.projectIds) stage.operation({ projectId, lengthMs: 20 * second });
    const result = await waitForAll(stage, { ...projectsOf(stage), 'poll-interval': '5s' });
    const { requests } = stage.service;
    expect(result.outputs).toMatchObject({ status: 'finished', count: '100' });
    expect(maxConcurrent(requests)).toBe(12);
    expect(requests.length % 100).toBe(0);
  });
});
