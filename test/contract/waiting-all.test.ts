import { describe, expect, test } from 'vitest';
import type { Fault, FaultRule, OperationPlan } from '../../control-plane/index.js';
import { hang, retryAfter, status } from '../kit/fault.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { errorOf, noticesOf, type Stage } from '../kit/stage.js';
import { all, ended, failedAtOnce, forever, gaps, many, minute, second, type WaitPlan, waitFor } from '../kit/wait.js';
import type { StepOptions, StepResult } from '../runner/step.js';

/** Milliseconds by which the clock of the runner is ahead. */
const clocks = [-60 * minute, 0, 60 * minute];

function expectNothing(result: StepResult): void {
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' });
  expect(result.conclusion).toBe('success');
}

function idsOf({ outputs }: StepResult): string[] {
  return JSON.parse(outputs['operation-ids'] ?? '');
}

describe('what counts', () => {
  test('every unfinished operation counts, and every one that begins meanwhile', async (context) => {
    const later = { startsAfterMs: 8 * second, lengthMs: 20 * second };
    const plans = [{ ...failedAtOnce, ageMs: 10 * second }, ...many(30, ended), { lengthMs: 10 * second }, later];
    const { result, ids, took } = await waitFor(context, plans, all);
    expect(result.outputs).toMatchObject({ status: 'finished', count: '2', 'operation-id': ids[32] });
    expect(idsOf(result).sort()).toEqual(ids.slice(31).sort());
    expect(took).toBeGreaterThanOrEqual(28 * second);
  });

  test.for([
    ['no filter', undefined, 0],
    ['a filter of another field', 'branch_id=*', 0],
    ['a filter that names action', 'action=suspend_compute', 1],
    ['a filter that excludes an action', 'action!=start_compute', 2],
  ] as const)('what the service starts counts only by a filter of action: %s', async ([, filter, count], context) => {
    const plans = ['suspend_compute', 'check_availability'].map((action) => ({ ...forever, action }));
    const { result } = await waitFor(context, plans, { ...all, filter, timeout: '0' });
    expect(result.outputs).toMatchObject({ status: count === 0 ? 'finished' : 'timeout', count: String(count) });
  });

  const listedLate = { ageMs: 2 * second, lengthMs: second, outcome: 'failed' };
  test.for<[what: string, startsAfterMs: number, appearing: OperationPlan, otherLengthMs: number]>([
    ['appeared and failed between two polls', 25 * second, failedAtOnce, minute],
    ['failed after the other had ended', 29.9 * second, failedAtOnce, 29 * second],
    ['is listed late, after it failed,', 21 * second, listedLate, minute],
  ])('one that %s counts as failed', async ([, startsAfterMs, appearing, lengthMs], context) => {
    const plans = [{ lengthMs }, { ...appearing, startsAfterMs }];
    const { result, ids, took } = await waitFor(context, plans, { ...all, 'poll-interval': '10s' });
    expect(result.outputs).toMatchObject({ status: 'failed', count: '2', 'operation-id': ids[1] });
    expect(errorOf(result)).toContain(ids[1]);
    expect(took).toBe(30 * second);
  });

  test.for(['finished', 'failed'])('one that left the newest 200 is followed until it %s', async (outcome, context) => {
    const plans = [{ lengthMs: minute, outcome }, ...many(250, { ...ended, startsAfterMs: 20 * second })];
    const { result, took, paths, ids } = await waitFor(context, plans, all);
    expect(result.outputs['status']).toBe(outcome);
    expect(took).toBeGreaterThanOrEqual(minute);
    expect(paths().at(-1)).toContain(ids[0]);
  });

  test('old operations that move into the newest 200 when others are deleted do not count', async (context) => {
    const old = [...many(20, { ...failedAtOnce, ageMs: 120 * minute }), ...many(199, { ...ended, ageMs: 60 * minute })];
    const { result } = await waitFor(context, [...old, { lengthMs: minute }], all, {
      before: ({ after, service }, operations) =>
        after(20 * second, () => {
          for (const operation of operations.slice(20, 70)) service.plane.removeOperation(operation);
        }),
    });
    expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
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
    const { result, times, paths, projectId } = await waitFor(context, many(3, ended), all);
    expectNothing(result);
    expect(times().at(-1)).toBe(5 * second);
    expect(times().length).toBeGreaterThan(3);
    expect(noticesOf(result)).toEqual([`Found no unfinished operation to wait for in project ${projectId}.`]);
    for (const path of paths()) expect(path).toMatch(/\/operations\?limit=100(&|$)/);
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

  test.for<[what: string, plan: WaitPlan, outcome: string, within: number]>([
    ['listed 1.5 s late does not slip through the gate', { lengthMs: minute, appearsAfterMs: 1_500 }, 'failed', 75],
    ['that appears meanwhile and has already failed ends the 5 s', { ...ended, startsAfterMs: 2_200 }, 'failed', 4],
    ['that appears meanwhile and has already finished ends the 5 s', { ...ended, startsAfterMs: 2_200 }, 'finished', 5],
  ])('an operation %s', async ([, plan, outcome, within], context) => {
    const { result, took, ids } = await waitFor(context, [{ ...plan, outcome }], { ...all, 'fail-on': 'empty' });
    expect(result.outputs).toMatchObject({ status: outcome, count: '1', 'operation-id': ids[0] });
    expect(took).toBeLessThan(within * second);
  });

  test.for(['empty', undefined])('a deadline that comes first is a timeout (fail-on: %s)', async (failOn, context) => {
    const { result } = await waitFor(context, [], { ...all, timeout: '4s', 'fail-on': failOn });
    expect(result.outputs['status']).toBe('timeout');
    expect(errorOf(result)).toMatch(/an empty list is trusted only if it is still empty 5s later/);
  });

  test.for(['all', '[]'])('fail-on: empty makes it fail the step (operation-id: %s)', async (ids, context) => {
    const { result, took } = await waitFor(context, [], { 'operation-id': ids, 'fail-on': 'empty' });
    expect(result.outputs).toMatchObject({ status: 'empty', count: '0', 'operation-ids': '[]' });
    expect(errorOf(result)).toMatch(/fail-on: empty/);
    expect(took).toBe(ids === 'all' ? 5 * second : 0);
  });

  test('it does not make a throttled wait poll faster', async (context) => {
    const { result, times } = await waitFor(context, [], all, { faults: [{ nth: 1, fault: retryAfter(429, 20) }] });
    expectNothing(result);
    const [first, ...rest] = gaps(times());
    expect(first).toBeGreaterThanOrEqual(20 * second);
    for (const pause of rest) expect(pause).toBeGreaterThan(5 * second);
  });

  test.for(clocks)(
    'the notice names what failed in the last 5 minutes of the service, and counts what the filter excluded (clock of the runner ahead by %i ms)',
    async (clockAheadMs, context) => {
      const failed = { ageMs: 4 * minute, lengthMs: second, outcome: 'failed', branchId: 'br-ours' };
      const named = [failed, { ...failed, ageMs: 60 * minute, lengthMs: 57 * minute }];
      const hidden = [
        { ageMs: 6 * minute },
        { branchId: 'br-theirs' },
        { action: 'suspend_compute' },
        { outcome: 'finished' },
      ];
      const excluded = [...many(3, { branchId: 'br-theirs' }), { action: 'suspend_compute' }];
      const plans = [
        ...named,
        ...hidden.map((one) => ({ ...failed, ...one })),
        ...excluded.map((one) => ({ ...forever, ...one })),
      ];
      const inputs = { ...all, filter: 'branch_id=br-ours' };
      const { result, ids } = await waitFor(context, plans, inputs, { clockAheadMs });
      expectNothing(result);
      const [notice] = noticesOf(result);
      expect(ids.filter((id) => notice?.includes(id))).toEqual(ids.slice(0, 2));
      expect(notice).toMatch(
        /The filter excluded 3 unfinished operations\. Ignored 1 unfinished operation that the service itself started\./,
      );
      expect(result.summary).toMatch(/^### ✅ wait-operation: Nothing to wait for\n/);
      expect(result.summary).toContain(ids[0]);
      expect(result.summary).not.toMatch(/<table>|mermaid/);
    },
  );
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
    const plans = [forever, ...many(100, ended), { lengthMs: 50 * second }, ...many(950, ended)];
    const { result, ids, times } = await waitFor(context, plans, { ...all, 'poll-interval': '30s' });
    expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': ids[101] });
    expect(times()).toEqual([...Array(10).fill(0), ...Array(3).fill(30 * second), ...Array(3).fill(minute)]);
  });

  test.for<[what: string, rule: FaultRule]>([
    ['a second page that never comes', { path: 'cursor=', fault: { kind: 'hang-mid-body' } }],
    ['a second page that is locked', { path: 'cursor=', fault: status(423) }],
    ['a second page that is not found', { path: 'cursor=', fault: status(404) }],
  ])('%s never opens the gate', async ([, rule], context) => {
    const plans = [{ ...forever, ageMs: minute }, ...many(150, ended)];
    const { result } = await waitFor(context, plans, { ...all, timeout: '20s' }, { faults: [rule] });
    expect(['timeout', 'error']).toContain(result.outputs['status']);
  });

  test('a poll that read one page of two proves nothing, even after one that read both', async (context) => {
    const faults = [{ endpoint: 'list-operations', nth: 5, fault: status(404) } as const];
    const plans = [...many(150, ended), { lengthMs: second }];
    const { result, times } = await waitFor(context, plans, { ...all, 'poll-interval': '2s' }, { faults });
    expect(result.outputs['status']).toBe('finished');
    expect(times()).toEqual([0, 0, 0, 2, 2, 4, 4, 4].map((time) => time * second));
  });

  test('one that appears and fails behind a first poll that was interrupted counts as failed', async (context) => {
    const faults = [{ endpoint: 'list-operations', from: 2, count: 2, fault: status(500) } as const];
    const notShown = { maximumPageSize: 1, overMaximum: 'clamp' } as const;
    const plans = [ended, ended, { startsAfterMs: 300, lengthMs: 50, outcome: 'failed' }];
    const { result } = await waitFor(context, plans, all, { faults, notShown });
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
    for (const clockAheadMs of clocks) {
      const { result, took, ids } = await waitFor(context, plans, inputs, { clockAheadMs });
      expect(result.outputs['status']).toBe(verdict ?? 'empty');
      expect(idsOf(result)).toEqual(verdict === undefined ? [] : ids);
      expect(took).toBe(verdict === undefined ? 5 * second : 0);
    }
  });

  test('the first poll reads back to it, behind the newest 1,000, and no further', async (context) => {
    const old = many(500, { ...ended, ageMs: 60 * minute });
    const recent = many(1_150, { ...ended, ageMs: 5 * minute, action: 'suspend_compute' });
    const plans = [...old, { ...failedAtOnce, ageMs: 9 * minute }, ...recent];
    const { result, times, ids } = await waitFor(context, plans, { ...since, timeout: '0' });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[500] });
    expect(times()).toHaveLength(12);
  });
});

describe('several projects', () => {
  /** An operation in each of so many projects. */
  const oneEach = (count: number, plan: OperationPlan): WaitPlan[] =>
    Array.from({ length: count }, (_, project) => ({ ...plan, project }));

  /** All requests for the second project fail like this. */
  const failSecond = (fault: Fault) => (stage: Stage) =>
    stage.service.faults.add({ path: `/${stage.service.projectIds[1]}/`, fault });

  test('all of them must be idle, and summary and error name the project of each operation', async (context) => {
    const plans = [...oneEach(3, { lengthMs: 20 * second }), { ...forever, project: 2 }, { ...forever, project: 1 }];
    const { result, service } = await waitFor(context, plans, { ...all, timeout: '1m' }, { projects: 3 });
    expect(result.outputs).toMatchObject({ status: 'timeout', count: '5' });
    expect(result.summary).toContain('<th>Project</th>');
    const [idle, ...busy] = service.projectIds;
    for (const id of service.projectIds) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
    for (const id of busy) expect(errorOf(result)).toContain(`] running for 1m in project ${id}`);
    expect(errorOf(result)).not.toContain(`in project ${idle}`);
  });

  test('each of them has its own 5 s, and the log says so once', async (context) => {
    const later = { ...failedAtOnce, project: 1, startsAfterMs: 3 * second };
    const plans = [...oneEach(3, ended), { lengthMs: second, project: 0 }, later];
    const { result } = await waitFor(context, plans, all, { projects: 3 });
    expect(result.outputs['status']).toBe('failed');
    const announced = /At least one project has no unfinished operation yet\. Polling for 5s more/g;
    expect(result.log.match(announced)).toHaveLength(1);
  });

  test.for([
    ['is not found is an error after 5 s', 404, 5, /was not found.*key without access gets 404/],
    ['keeps failing is an error after 5 attempts', 503, 0, /status 503/],
  ] as const)('one that %s, though others respond', async ([, code, seconds, says], context) => {
    const wait = await waitFor(context, oneEach(2, forever), all, { projects: 2, before: failSecond(status(code)) });
    const [, failing] = wait.service.projectIds;
    expect(wait.result.outputs['status']).toBe('error');
    expect(errorOf(wait.result)).toMatch(says);
    expect(errorOf(wait.result)).toContain(failing);
    expect(wait.took).toBeGreaterThanOrEqual(seconds * second);
    if (code === 503) expect(wait.paths().filter((path) => path.includes(`/${failing}/`))).toHaveLength(5);
  });

  test('one that hangs does not hide that another failed', async (context) => {
    const plans = oneEach(2, { lengthMs: 10 * second, outcome: 'failed' });
    const inputs = { ...all, 'request-timeout': '5m' };
    const { result, took } = await waitFor(context, plans, inputs, { projects: 2, before: failSecond(hang) });
    expect(result.outputs['status']).toBe('failed');
    expect(took).toBeLessThan(14 * second);
  });

  test('a hundred send at most 12 requests at once, and one read each a poll', async (context) => {
    const options = { projects: 100, faults: [{ fault: { kind: 'delay', ms: 150 } as const }] };
    const inputs = { ...all, 'poll-interval': '5s' };
    const { result, service } = await waitFor(context, oneEach(100, { lengthMs: 20 * second }), inputs, options);
    expect(result.outputs).toMatchObject({ status: 'finished', count: '100' });
    expect(maxConcurrent(service.requests)).toBe(12);
    expect(service.requests.length % 100).toBe(0);
  });
});
