import { expect, test } from 'vitest';
import type { Fault, FaultRule, OperationPlan } from '../../control-plane/index.js';
import type { HttpResponse } from '../../src/http/exchange.js';
import { delay, hang, onOperation, onOperations, retryAfter, status } from '../kit/fault.js';
import { type Inputs, operationId as id } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, warningsOf } from '../kit/stage.js';
import { atLeast, between, gaps, maxConcurrent, minute, second } from '../kit/times.js';
import { ended, every, failed, forever, many, patient, type WaitPlan, waitForAll } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';
import { VirtualClock } from '../virtual/clock.js';

/** Milliseconds by which the clock of the runner is ahead. */
const clocks = [-60 * minute, 0, 60 * minute];

function expectNothing(result: StepResult): void {
  const outputs = { status: 'finished', count: '0', 'operation-ids': '[]', operations: '[]' };
  expect(result).toMatchObject({ conclusion: 'success', outputs });
}

/** An operation in each of so many projects. */
function oneEach(count: number, plan: OperationPlan): WaitPlan[] {
  return Array.from({ length: count }, (_, project) => ({ ...plan, project }));
}

type Rule = Omit<FaultRule, 'path'>;

/** So many projects. The requests for each one have faults of their own. */
function withFaults(projects: number, faultsOf: (project: number) => Rule | readonly Rule[]) {
  const before = ({ service }: Stage) => {
    for (const [n, id] of service.projectIds.entries())
      for (const rule of [faultsOf(n)].flat()) service.faults.add({ path: `/${id}/`, ...rule });
  };
  return { projects, before };
}

/** Two projects. The requests for the second one fail like this. */
const failSecond = (fault: Fault, which: Partial<Rule> = {}) =>
  withFaults(2, (project) => (project === 1 ? { fault, ...which } : []));

/** As `failSecond`, after so long. */
function failSecondLater(ms: number, fault: Fault) {
  return { projects: 2, before: (stage: Stage) => stage.after(ms, () => failSecond(fault).before(stage)) };
}

const idsOf = ({ outputs }: StepResult): string[] => JSON.parse(outputs['operation-ids'] ?? '');
const idleOf = ({ outputs }: StepResult): string[] => JSON.parse(outputs['idle-project-ids'] ?? '');

/** How many requests each poll took. */
function requestsOfPolls({ times }: Stage): number[] {
  return [...new Set(times())].map((time) => times().filter((other) => other === time).length);
}

test('the step waits for every unfinished operation, and for those that start during the wait', async (context) => {
  const later = { startsAfterMs: 8 * second, lengthMs: 20 * second };
  const plans = [{ ...failed, ageMs: 10 * second }, ...many(30, ended), { lengthMs: 10 * second }, later];
  const { result, ids } = await waitForAll(context, plans);
  expect(result.outputs).toMatchObject({ status: 'finished', count: '2', 'operation-id': ids[32] });
  expect(idsOf(result).sort()).toEqual(ids.slice(31).sort());
  expect(result.ms).toBeGreaterThanOrEqual(28 * second);
});

test.for([
  ['no filter', 0, undefined],
  ['a filter on branch_id', 0, 'branch_id=*'],
  ['a filter for one action', 1, 'action=suspend_compute'],
  ['a filter against another action', 2, 'action!=start_compute'],
] as const)('with %s, a wait includes %i of 2 operations by the service itself', async ([, count, filter], context) => {
  const plans = ['suspend_compute', 'check_availability'].map((action) => ({ ...forever, action }));
  const { result } = await waitForAll(context, plans, { filter, timeout: '0' });
  expect(result.outputs).toMatchObject({ status: count === 0 ? 'finished' : 'timeout', count: String(count) });
});

const listedLate = { ageMs: 2 * second, lengthMs: second, outcome: 'failed' };
test.for<[what: string, startsAfterMs: number, appearing: OperationPlan, otherLengthMs: number]>([
  ['appears and fails between two polls', 25 * second, failed, minute],
  ['fails after the other has ended', 29.9 * second, failed, 29 * second],
  ['is listed only after it failed', 21 * second, listedLate, minute],
])('the step fails if an operation %s', async ([, startsAfterMs, appearing, lengthMs], context) => {
  const plans = [{ lengthMs }, { ...appearing, startsAfterMs }];
  const { result, ids } = await waitForAll(context, plans, every('10s'));
  expect(result).toMatchObject({ outputs: { status: 'failed', count: '2', 'operation-id': ids[1] }, ms: 30 * second });
  expect(errorOf(result)).toContain(ids[1]);
});

test.for(['finished', 'failed'])('an operation that left the list is polled until it %s', async (outcome, context) => {
  const plans = [{ lengthMs: 2 * minute, outcome }, ...many(250, { ...ended, startsAfterMs: 10 * second })];
  const { result, paths, ids } = await waitForAll(context, plans);
  expect(result).toMatchObject({ outputs: { status: outcome }, ms: atLeast(2 * minute) });
  expect(paths().at(-1)).toContain(ids[0]);
});

test('the step ignores old operations that only a later read shows, because newer ones were deleted', async (context) => {
  const old = [...many(20, { ...failed, ageMs: 120 * minute }), ...many(999, { ...ended, ageMs: 60 * minute })];
  const { result } = await waitForAll(context, [...old, { lengthMs: minute }], undefined, {
    before: ({ after, service }, operations) =>
      after(20 * second, () => {
        for (const operation of operations.slice(20, 1_000)) service.plane.removeOperation(operation);
      }),
  });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
  expect(result.log).toMatch(/Read only the newest 1,000 operations of project \S+\. The list has more\./);
  expect(result.summary).toMatch(/Only the newest 1,000 operations were read\. The list has more\./);
});

test('the error for an operation that vanished shows its odd id as plain text', async (context) => {
  const id = `x\u202E\u200B\u2028::error::${'long '.repeat(500)}`;
  const faults = [onOperation(status(404))];
  const { result } = await waitForAll(context, [{ ...forever, vanishesAfterMs: 400, fields: { id } }], {}, { faults });
  expect(errorOf(result)).toMatch(/no longer has operation/);
  expect(errorOf(result)).not.toMatch(/[\p{Cf}\p{Zl}]/u);
});

test('the step reads the list twice, 5 s apart, and succeeds if nothing is pending', async (context) => {
  const { result, times, paths, projectId } = await waitForAll(context, many(3, ended));
  expectNothing(result);
  // A page with a cursor may be the last one, so the first read takes two requests.
  expect(times()).toEqual([0, 0, 5 * second, 5 * second]);
  expect(noticesOf(result)).toEqual([`Found no unfinished operation to wait for in project ${projectId}.`]);
  for (const path of paths()) expect(path).toMatch(/\/operations\?limit=100(&|$)/);
});

test.for<[end: string, when: string, inputs: Inputs, polls: number[], ...faults: FaultRule[]]>([
  ['succeeds', 'after 5 s, even with poll-interval: 1m', every('1m'), [0, 5]],
  ['succeeds', 'after a third poll if the second fails', every('5s'), [0, 5, 10], { nth: 2, fault: status(503) }],
  ['succeeds', 'after the Retry-After of a poll', every('4s'), [0, 5, 25], { nth: 2, fault: retryAfter(503, 20) }],
  ['succeeds', '5 s after the end of a first read that takes 2 s', {}, [0, 7], { nth: 1, fault: delay(2_000) }],
  ['succeeds', 'at once with timeout: 0', { timeout: '0' }, [0]],
  ['times out', 'after less than 5 s', { timeout: '4s' }, [0, 4]],
  ['times out', 'after less than 5 s even with fail-on: empty', { timeout: '4s', 'fail-on': 'empty' }, [0, 4]],
  ['times out', '3 s after a late first read', { timeout: '15s' }, [0, 12, 15], { nth: 1, fault: retryAfter(503, 12) }],
])('if the list is empty, the step %s %s', async ([end, , inputs, polls, ...faults], context) => {
  const { result, times } = await waitForAll(context, [], inputs, { faults });
  expect(times()).toEqual(polls.map((time) => time * second));
  expect(result.log.includes('Reading the list again in 5s')).toBe(polls.length > 1);
  if (end === 'succeeds') return expectNothing(result);
  expect(result.outputs['status']).toBe('timeout');
  const says = 'the step reads it again 5s after the first read, and that read must show that nothing is pending';
  if (faults.length === 0) expect(errorOf(result)).toContain(says);
});

test.for<[what: string, plan: WaitPlan, outcome: string, within: number]>([
  ['that is listed 1.5 s late is still waited for', { lengthMs: minute, appearsAfterMs: 1_500 }, 'failed', 75],
  ['that appears as failed within 5 s is in the result', { ...ended, startsAfterMs: 2_200 }, 'failed', 5.1],
  ['that appears as finished within 5 s is in the result', { ...ended, startsAfterMs: 2_200 }, 'finished', 5.1],
])('an operation %s', async ([, plan, outcome, within], context) => {
  const { result, ids } = await waitForAll(context, [{ ...plan, outcome }], { 'fail-on': 'empty' });
  const outputs = { status: outcome, count: '1', 'operation-id': ids[0] };
  expect(result).toMatchObject({ outputs, ms: between(0, within * second) });
});

test.for([
  ['5s', 1],
  ['5001ms', 0],
] as const)('timeout: %s leads to %i warnings that a wait for all takes 5 s', async ([timeout, count], context) => {
  const { result } = await waitForAll(context, [], { timeout });
  expect(warningsOf(result)).toEqual(Array(count).fill(expect.stringMatching(/^timeout: .*at least 5s/)));
});

test('if a list hangs while the last operation of its project ends, the next read shows that the project is idle', async (context) => {
  const faults = [onOperations(hang, { nth: 3 })];
  const { result, times } = await waitForAll(context, [{ lengthMs: 4_200 }], every('4500ms'), { faults });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
  expect(times().filter((time) => time === 4.5 * second)).toHaveLength(1);
  expect(times().at(-1)).toBeLessThan(15 * second);
});

test.for(['all', '[]'])('with fail-on: empty, a wait for %s fails if nothing is unfinished', async (ids, context) => {
  const { result } = await waitForAll(context, [], { 'operation-id': ids, 'fail-on': 'empty' });
  const outputs = { status: 'empty', count: '0', 'operation-ids': '[]' };
  expect(result).toMatchObject({ outputs, ms: ids === 'all' ? 5 * second : 0 });
  expect(errorOf(result)).toMatch(/fail-on: empty/);
});

test('after a 429, the second read still goes back to a minute before the wait began', async (context) => {
  const plans = [{ ...ended, ageMs: 2 * minute }, ...many(150, { ...ended, ageMs: 20 * second })];
  const { result, paths } = await waitForAll(context, plans, {}, { faults: [{ nth: 1, fault: retryAfter(429, 90) }] });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '0' });
  expect(paths()).toHaveLength(6);
});

test('after a 429, the step does not poll faster to confirm that the list is empty', async (context) => {
  const { result, times } = await waitForAll(context, [], {}, { faults: [{ nth: 1, fault: retryAfter(429, 20) }] });
  expectNothing(result);
  const [first, ...rest] = gaps(times());
  expect(first).toBeGreaterThanOrEqual(20 * second);
  for (const pause of rest) expect(pause).toBeGreaterThan(5 * second);
});

for (const clockAheadMs of clocks)
  test(`the notice names recent failures and counts excluded operations (runner ${clockAheadMs} ms ahead)`, async (context) => {
    const ours = { ageMs: 4 * minute, lengthMs: second, outcome: 'failed', branchId: 'br-ours' };
    const named = [ours, { ...ours, ageMs: 60 * minute, lengthMs: 57 * minute }];
    const differences = [{ ageMs: 6 * minute }, { branchId: 'br-theirs' }, { action: 'suspend_compute' }];
    const hidden = [...differences, { outcome: 'finished' }].map((one) => ({ ...ours, ...one }));
    const unfinished = [...many(3, { ...forever, branchId: 'br-theirs' }), { ...forever, action: 'suspend_compute' }];
    const inputs = { filter: 'branch_id=br-ours' };
    const { result, ids } = await waitForAll(context, [...named, ...hidden, ...unfinished], inputs, { clockAheadMs });
    expectNothing(result);
    const [notice] = noticesOf(result);
    expect(ids.filter((id) => notice?.includes(id))).toEqual(ids.slice(0, 2));
    const ignored = 'Ignored 1 unfinished operation that the service itself started.';
    expect(notice).toContain(`The filter excluded 3 unfinished operations. ${ignored}`);
    expect(result.summary).toMatch(/^### ✅ wait-operation: Nothing to wait for\n/);
    expect(result.summary).toContain(ids[0]);
    expect(result.summary).not.toMatch(/<table>|mermaid/);
  });

test('the notice counts no ignored operation that has ended in the last read', async (context) => {
  const ending = { lengthMs: 3 * second, branchId: 'br-ours' };
  const plans = [
    { ...ending, branchId: 'br-theirs' },
    { ...ending, action: 'suspend_compute' },
  ];
  const { result } = await waitForAll(context, plans, { filter: 'branch_id=br-ours' });
  expectNothing(result);
  expect(noticesOf(result)).toEqual([expect.not.stringMatching(/excluded|Ignored/)]);
});

test('the first poll reads the newest 1,000 operations, and each later poll goes back to a minute before the previous one', async (context) => {
  const old = [{ ...forever, ageMs: 10 * minute }, ...many(100, { ...ended, ageMs: 10 * minute })];
  const plans = [...old, { lengthMs: 50 * second }, ...many(950, ended)];
  const { result, ids, times } = await waitForAll(context, plans, every('40s'));
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': ids[101] });
  // All 951 new operations are older than a minute in the third poll, but not than a minute before the second one.
  expect(times()).toEqual([0, 40 * second, 80 * second].flatMap((time) => Array(10).fill(time)));
});

test.for<[read: string, rule: FaultRule, seconds: number, created: number]>([
  ['first read, which takes 15 s,', onOperations(delay(4_900), { from: 1, count: 3 }), 12, -59],
  ['second read, which takes four polls,', onOperations(status(500), { from: 5, count: 3 }), 21, -52],
])('the read after the %s goes back to a minute before that read began', async ([, rule, from, created], context) => {
  const late = { ...failed, startsAfterMs: from * second, ageMs: (from - created) * second };
  const plans = [...many(100, { ...ended, ageMs: -(created + 4) * second }), { lengthMs: 40 * second }, late];
  const { result, ids } = await waitForAll(context, plans, every('5s'), { faults: [rule] });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[101] });
});

const badPages: readonly Fault[] = [{ kind: 'hang-mid-body' }, status(423), status(404)];
test.for(badPages)('the step never succeeds if the second page fails with %o', async (fault, context) => {
  const plans = [{ ...forever, ageMs: minute }, ...many(150, ended)];
  const { result } = await waitForAll(context, plans, { timeout: '20s' }, { faults: [{ path: 'cursor=', fault }] });
  expect(['timeout', 'error']).toContain(result.outputs['status']);
});

test('an operation on page 1 is followed to its end, although page 2 always fails', async (context) => {
  const plans = [...many(150, ended), { lengthMs: 3 * second, outcome: 'failed' }];
  const { result, ids } = await waitForAll(context, plans, {}, { faults: [{ path: 'cursor=', fault: status(500) }] });
  const outputs = { status: 'failed', 'operation-id': ids[150] };
  expect(result).toMatchObject({ outputs, ms: between(0, 5 * second) });
});

test('a poll whose page 2 fails does not end the wait, even if an earlier poll read all pages', async (context) => {
  const plans = [...many(150, ended), { lengthMs: second }];
  const options = { faults: [onOperations(status(404), { nth: 5 })] };
  const { result, times } = await waitForAll(context, plans, every('2s'), options);
  expect(result.outputs['status']).toBe('finished');
  expect(times()).toEqual([0, 0, 0, 2, 2, 5, 5, 5].map((time) => time * second));
});

const slowReadAt3s = { from: 3, count: 2, fault: delay(1_500) };
test.for<[what: string, inputs: Inputs, plans: WaitPlan[], ...faults: FaultRule[]]>([
  ['even with since: 10m', { since: '10m' }, [ended]],
  ['even if another one ended before', {}, [{ lengthMs: 200 }]],
  ['even if a read lasts from 3 s to 6 s', every('3s'), [{ lengthMs: 200 }], slowReadAt3s],
])('the step awaits an operation that the list shows 4 s late, %s', async ([, inputs, plans, ...faults], context) => {
  const late = { lengthMs: 20 * second, outcome: 'failed', appearsAfterMs: 4 * second };
  const { result, ids } = await waitForAll(context, [...plans, late], inputs, { faults });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
});

test.for([0, 30])('an operation that takes %i s is seen among 250 that start with it', async (seconds, context) => {
  const startsAfterMs = 7 * second;
  const hidden = { startsAfterMs, lengthMs: seconds * second, outcome: 'failed' };
  const plans = [{ lengthMs: 8 * second }, hidden, ...many(250, { ...ended, startsAfterMs })];
  for (const clockAheadMs of clocks) {
    const { result, ids } = await waitForAll(context, plans, every('10s'), { clockAheadMs });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
  }
});

test('if a list has more new operations than one poll may read, the next poll reads the rest', async (context) => {
  const startsAfterMs = 3 * second;
  const newer = many(2_500, { ...ended, startsAfterMs });
  const plans = [{ lengthMs: 2 * second }, { ...failed, startsAfterMs }, ...newer];
  const wait = await waitForAll(context, plans, every('4s'));
  expect(wait.result.outputs).toMatchObject({ status: 'failed', 'operation-id': wait.ids[1] });
  // The pending operation, which those pages do not show, is requested singly.
  expect(Math.max(...requestsOfPolls(wait))).toBe(11);
});

test('the step fails if an operation fails before the service first responds', async (context) => {
  const failing = { ageMs: minute, lengthMs: 70 * second, outcome: 'failed' };
  const { result } = await waitForAll(context, [failing], {}, { faults: [{ count: 4, fault: retryAfter(503, 6) }] });
  expect(result.outputs['status']).toBe('failed');
});

test('a poll of 1,000 unfinished operations sends at most 15 requests, even if the last page is empty', async (context) => {
  const failing = { lengthMs: 20 * second, outcome: 'failed' };
  const wait = await waitForAll(context, [...many(500, forever), failing, ...many(499, forever)]);
  expect(wait.result).toMatchObject({ outputs: { status: 'failed', count: '1000' }, ms: between(0, 24 * second) });
  expect(requestsOfPolls(wait).length).toBeGreaterThan(10);
  expect(Math.max(...requestsOfPolls(wait))).toBeLessThanOrEqual(15);
});

test('a page that shows the end of an operation and the beginning of another does not end the wait', async (context) => {
  // A replica that lags shows neither of them, in a read that could prove that the project is idle.
  const lagging = onOperations(status(200, { body: '{"operations":[]}' }), { nth: 9 });
  const faults = [lagging, onOperation(status(503))];
  const plans = [{ lengthMs: 7 * second }, { lengthMs: 20 * second, startsAfterMs: 7 * second, outcome: 'failed' }];
  const { result, ids } = await waitForAll(context, plans, every('1500ms'), { faults });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
});

test('the step ignores operations that ended before the wait, even if a replica that lags first sends an empty list', async (context) => {
  const old = { ...failed, ageMs: 7 * 24 * 60 * minute };
  const plans = [old, ...many(80, { ...old, outcome: 'finished' })];
  const faults = [{ nth: 1, fault: status(200, { body: '{"operations":[]}' }) }];
  const { result } = await waitForAll(context, plans, { 'fail-on': 'empty' }, { faults });
  expect(result.outputs).toMatchObject({ status: 'empty', count: '0' });
});

const older = '{"id":"x","status":"finished","created_at":"2020-01-31T09:00:00Z"}';
const unavailable = `{"operations":[${older}],"pagination":{"cursor":"c"},"unavailable_project_ids":["p"]}`;
const nextPage = status(200, { body: '{"operations":[]}', headers: { link: '</next>; rel="next"' } });
const otherCursor = status(200, { body: '{"operations":[],"pagination":{"next_cursor":"c"}}' });
const mayBeMissing = 'An unfinished operation may be missing from the list.';
const leavesOut = status(200, { body: unavailable });
test.for<[what: string, nth: number, fault: Fault, ...inputs: Inputs[]]>([
  ['announces another page in a header', 1, nextPage, {}, { timeout: '0' }],
  ['names its cursor in another field', 1, otherCursor, {}, { timeout: '0' }],
  ['is incomplete in its second read, which need not read all pages', 2, leavesOut, {}],
])('the step fails if the list %s', async ([, nth, fault, ...inputs], context) => {
  for (const each of inputs) {
    const { result } = await waitForAll(context, [], each, { faults: [{ nth, fault }] });
    expect(result.outputs['status']).toBe('error');
    const why = '(the response announces another page|the service could not read projects p)';
    expect(errorOf(result)).toMatch(new RegExp(`^The list of operations of project \\S+ is incomplete: ${why}`));
    expect(errorOf(result)).toContain(`${mayBeMissing} Check the list in the console, then re-run`);
  }
});

test.for<[what: string, failing: WaitPlan, verdict: string, count: number]>([
  ['fails if an operation starts and fails after the first of them', { startsAfterMs: 300, lengthMs: 50 }, 'failed', 1],
  ['ignores an operation that failed before the first of them', { ageMs: second, lengthMs: 0 }, 'finished', 0],
])('if the first read takes three polls, the step %s', async ([, failing, verdict, count], context) => {
  const plans = [{ ...failing, outcome: 'failed' }, ended, ended];
  const notShown = { maximumPageSize: 1, overMaximum: 'clamp' } as const;
  const faults = [onOperations(status(500), { from: 2, count: 2 })];
  const { result } = await waitForAll(context, plans, {}, { faults, notShown });
  expect(result.outputs).toMatchObject({ status: verdict, count: String(count) });
});

const startOfTime = new VirtualClock().epochMs();
type Page = Partial<HttpResponse>;
type Listed = [id: number, status: string, created: number];
const old: Listed = [0, 'finished', -3_600];
const ended1sBefore: Listed = [2, 'finished', -1];
/** In JSON, such a date is null. */
const undated: Listed = [2, 'finished', Number.NaN];
/** A page of operations, from a replica whose clock is ahead by so many seconds. Times count from the start of the wait. */
function pageAt(now: number, ahead: number, operations: readonly Listed[], cursor = ''): Page {
  const time = (seconds: number) => new Date(startOfTime + seconds * second);
  const listed = operations.map(([id, word, created]) => {
    return { id: `op-${id}`, status: word, created_at: time(created), updated_at: time(Math.min(now, created + 1)) };
  });
  const body = JSON.stringify({ operations: listed, pagination: { cursor } });
  return { headers: { date: time(now + ahead).toUTCString() }, body };
}

const page1 = pageAt(0, 0, [old]);
const new100 = Array.from({ length: 100 }, (_, n): Listed => [n + 2, 'finished', 3]);
/** Later reads find operation 1 on their second page, created then, behind these and from replicas so far ahead. */
const onPage2 = (created: number, before: readonly Listed[], ahead = 0) => ({
  later: pageAt(5, ahead, before, 'c'),
  next: pageAt(5, ahead, [[1, 'running', created], old]),
});

test.for<readonly [what: string, first: Page, pages: Readonly<Record<'later' | 'next', Page>>]>([
  ...[0, 67, 300].map((s) => [`100 new ones, if a replica is ${s} s ahead`, page1, onPage2(2, new100, s)] as const),
  ['100 new ones, if the first response has a wrong date', pageAt(0, 120, []), onPage2(2, new100)],
  ['one created a second before the wait', pageAt(0, 0, [ended1sBefore, old]), onPage2(-2, [ended1sBefore])],
  ['one without a creation time', pageAt(0, 0, [undated, old]), onPage2(-2, [undated])],
])('with any clock of the runner, a later read finds an operation below %s', async ([, first, pages], context) => {
  for (const clockAheadMs of clocks) {
    const respond = (path: string, n: number) => (n === 1 ? first : path.includes('cursor') ? pages.next : pages.later);
    const { result } = await waitForAll(context, [], { timeout: '20s' }, { respond, clockAheadMs });
    expect(result.outputs).toMatchObject({ status: 'timeout', 'operation-id': 'op-1' });
  }
});

const busyUntil15s = (now: number): Listed => [2, now < 15 ? 'running' : 'finished', -1];
const failedMeanwhile: Listed = [1, 'failed', 1];
const aheadInTurn = (...ahead: number[]) =>
  ahead.map((s, n) => pageAt(5 * n, s, [...(n === 0 ? [] : [failedMeanwhile]), busyUntil15s(5 * n), old]));
test.for<[although: string, pages: readonly Page[]]>([
  ['the clock of the second replica is ahead', aheadInTurn(0, 120, 0, 0)],
  ['the clocks of the first two replicas are ahead', aheadInTurn(75, 75, 0, 0)],
  [
    'only the first page has the right time',
    [pageAt(0, 0, [old], 'c'), pageAt(0, 90, [old]), pageAt(5, 90, [failedMeanwhile, old])],
  ],
  [
    'its page has no Date, and the Date of an earlier page was wrong',
    [pageAt(0, 300, []), { ...pageAt(5, 0, [[1, 'failed', -1]]), headers: {} }],
  ],
])('the step fails on an operation that failed during the wait, although %s', async ([, pages], context) => {
  const respond = (_: string, n: number) => pages[Math.min(n, pages.length) - 1] ?? '';
  const { result } = await waitForAll(context, [], every('5s'), { respond });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': 'op-1' });
});

const since = { since: '10m' };

test.for<[what: string, plan: OperationPlan, verdict?: string]>([
  ['the result includes an operation that failed 9 minutes ago', { outcome: 'failed', ageMs: 9 * minute }, 'failed'],
  ['the result includes an operation that finished 9 minutes ago', { ageMs: 9 * minute }, 'finished'],
  ['the result omits an operation that failed 11 minutes ago', { outcome: 'failed', ageMs: 11 * minute }],
  ['the result omits an operation by the service itself', { outcome: 'failed', action: 'check_availability' }],
  ['the result omits an operation that the filter excludes', { outcome: 'failed', branchId: 'br-theirs' }],
])('with since: 10m, %s, whatever the clock of the runner says', async ([, plan, verdict = 'empty'], context) => {
  const inputs = { ...since, filter: 'branch_id!=br-theirs', 'fail-on': 'empty' };
  for (const clockAheadMs of clocks) {
    const { result, ids } = await waitForAll(context, [{ ...ended, ageMs: minute, ...plan }], inputs, { clockAheadMs });
    expect(result).toMatchObject({ outputs: { status: verdict }, ms: verdict === 'failed' ? 0 : 5 * second });
    expect(idsOf(result)).toEqual(verdict === 'empty' ? [] : ids);
  }
});

test('since: 10m reaches back from the start of the wait, even if the first response comes 2 minutes later', async (context) => {
  const plans = [11, 9].map((minutes) => ({ ...ended, ageMs: minutes * minute }));
  const faults = [{ nth: 1, fault: retryAfter(429, 120) }];
  const { result, ids } = await waitForAll(context, plans, since, { faults });
  expect(idsOf(result)).toEqual([ids[1]]);
});

test('with since: 10m, the first poll reads more than 1,000 operations, but stops at those older than 10 minutes', async (context) => {
  const old = many(500, { ...ended, ageMs: 60 * minute });
  const recent = many(1_150, { ...ended, ageMs: 5 * minute, action: 'suspend_compute' });
  const plans = [...old, { ...failed, ageMs: 9 * minute }, ...recent];
  const { result, times, ids } = await waitForAll(context, plans, { ...since, timeout: '0' });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[500] });
  expect(times()).toHaveLength(12);
  expect(result.log).toContain('Read only the newest 1,200 operations of project');
  expect(result.summary).toContain('Only the newest 1,200 operations were read.');
});

test('a later read ends at an old operation, even if all that the first read took is younger than a minute', async (context) => {
  const plans = [...many(1_000, { ...ended, ageMs: 60 * minute }), ...many(100, { ...ended, ageMs: second })];
  const { result, paths, service } = await waitForAll(context, plans, {}, { projects: 11 });
  expectNothing(result);
  expect(paths().filter((path) => path.includes(service.projectIds[0] ?? ''))).toHaveLength(3);
});

test.for<[how: string, outcome: string, plans: WaitPlan[], options?: ReturnType<typeof failSecond>]>([
  ['shows a failed operation', 'failed', [{ ...failed, project: 1, startsAfterMs: 15 * second }]],
  ['gets a 403', 'error', [], failSecond(status(403), { from: 3 })],
])('if one project %s when it is read again, the others stay idle', async ([, outcome, more, options], context) => {
  const plans = [{ lengthMs: 20 * second }, ...more];
  const { result, service } = await waitForAll(context, plans, {}, { ...options, projects: 30 });
  expect(result.outputs['status']).toBe(outcome);
  expect(idleOf(result)).toEqual(service.projectIds.toSpliced(1, 1));
});

test('with fail-fast: false, the error of a failed operation also names a project that was not found', async (context) => {
  const plans = [{ lengthMs: 9 * second, outcome: 'failed' }];
  const { result, service } = await waitForAll(context, plans, patient, failSecond(status(404)));
  expect(result.outputs['status']).toBe('failed');
  expect(errorOf(result)).toContain(`Last error: Project ${service.projectIds[1]} was not found`);
});

test('the step waits until all projects are idle, and its error names the busy ones', async (context) => {
  const plans = [...oneEach(3, { lengthMs: 20 * second }), { ...forever, project: 2 }, { ...forever, project: 1 }];
  const { result, service } = await waitForAll(context, plans, { timeout: '1m' }, { projects: 3 });
  expect(result.outputs).toMatchObject({ status: 'timeout', count: '5' });
  expect(result.summary).toContain('<th>Project</th>');
  const [idle, ...busy] = service.projectIds;
  for (const id of service.projectIds) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
  for (const id of busy) expect(errorOf(result)).toContain(`] running for 1m in project ${id}`);
  expect(errorOf(result)).not.toContain(`in project ${idle}`);
});

test.for([
  ['is not found fails the step after 5 s', 404, 5, /was not found.*key without access gets 404/],
  ['returns 503 fails the step after 30 s', 503, 30, /status 503/],
] as const)('a project that %s, although others respond', async ([, code, seconds, says], context) => {
  const { result, service } = await waitForAll(context, oneEach(2, forever), {}, failSecond(status(code)));
  const outputs = { status: 'error', 'idle-project-ids': '[]' };
  expect(result).toMatchObject({ outputs, ms: between(seconds * second, (seconds + 10) * second) });
  expect(errorOf(result)).toMatch(says);
  expect(errorOf(result)).toContain(service.projectIds[1]);
});

test('the minute for the retries of a request does not include the time that it waits for others that hang', async (context) => {
  const plans = oneEach(25, { lengthMs: second });
  // Of 24 projects, 11 at a time get no response for 30 s.
  const options = withFaults(25, (n) => (n === 24 ? { nth: 1, fault: status(503) } : { count: 2, fault: hang }));
  const { result } = await waitForAll(context, plans, { timeout: '1h' }, options);
  expect(result.outputs['status']).toBe('finished');
});

test.for<[how: string, fault: Fault, within: number]>([
  ['hang', hang, 14],
  ['always get a 429', status(429), 60],
])('a project whose requests %s does not hide a failed operation of another', async ([, fault, within], context) => {
  const plans = oneEach(2, { lengthMs: 10 * second, outcome: 'failed' });
  const { result } = await waitForAll(context, plans, { 'request-timeout': '5m' }, failSecond(fault));
  expect(result).toMatchObject({ outputs: { status: 'failed' }, ms: between(0, within * second) });
});

test('100 idle projects cost two reads each', async (context) => {
  const { result, service } = await waitForAll(context, [], {}, { projects: 100, faults: [{ fault: delay(150) }] });
  expectNothing(result);
  expect(idleOf(result)).toEqual(service.projectIds);
  expect(service.requests).toHaveLength(200);
});

test('when the other projects are idle, an idle project is read once more, and waited for if it is busy', async (context) => {
  const plans = [{ lengthMs: 40 * second }, { project: 1, startsAfterMs: 30 * second, lengthMs: 30 * second }];
  const { result, service, timesOf } = await waitForAll(context, plans, {}, { projects: 3 });
  expect(result).toMatchObject({ outputs: { status: 'finished', count: '2' }, ms: atLeast(minute) });
  const announced = /At least one project has no unfinished operation to wait for\. Reading the list again in 5s/g;
  expect(result.log.match(announced)).toHaveLength(1);
  expect(timesOf(service.projectIds[2])).toEqual([0, 5 * second, atLeast(40 * second)]);
});

test.for([
  ['of 11 projects takes the newest 100 operations of each', 11, 150, 'given', true],
  ['is cut if it takes exactly 100 operations and the list goes on', 11, 100, 'given', true],
  ['is whole if it takes exactly 100 operations and the list ends', 11, 100, 'absent', false],
  ['of 10 projects takes more than 100 operations', 10, 101, 'given', false],
] as const)('a first read %s', async ([, projects, count, lastPageCursor, isCut], context) => {
  const plans = many(count, { ...ended, ageMs: 10 * minute });
  const { result, service, timesOf } = await waitForAll(context, plans, {}, { projects, notShown: { lastPageCursor } });
  expectNothing(result);
  expect(result.log.includes('Read only the newest 100 operations')).toBe(isCut);
  const [long = ''] = service.projectIds;
  expect(result.summary.includes(`Only the newest 100 operations of <code>${long}</code> were read`)).toBe(isCut);
  // The wait reads the list twice. With more than 10 projects, each read is one page.
  expect(timesOf(long)).toHaveLength(projects > 10 ? 2 : 4);
});

test.for([
  ['finished', 9, 'not read again', [0, 5]],
  ['finished', 11, 'read again', [0, 5, 16]],
  ['failed', 11, 'not read again', [0, 5]],
] as const)('when the last operation %s, a project idle %i s ago is %s', async ([outcome, age, , reads], context) => {
  const plans = [{ lengthMs: (5 + age) * second - 1, outcome }];
  const inputs = { ...every('1s'), 'fail-on': 'empty' };
  const { result, service, timesOf } = await waitForAll(context, plans, inputs, { projects: 2 });
  expect(result.outputs).toMatchObject({ status: outcome, count: '1' });
  expect(timesOf(service.projectIds[1])).toEqual(reads.map((time) => time * second));
});

test('with fail-fast: false, a project that is not found fails the step when the others are idle', async (context) => {
  const options = { ...failSecond(status(404)), projects: 3 };
  const { result, service } = await waitForAll(context, oneEach(3, { lengthMs: 50 * second }), patient, options);
  const [one, lost, three] = service.projectIds;
  expect(result).toMatchObject({ outputs: { status: 'error' }, ms: between(50 * second, 60 * second) });
  expect(errorOf(result)).toMatch(new RegExp(`^Project ${lost} was not found`));
  expect(idleOf(result)).toEqual([one, three]);
});

test('with fail-fast: false, the step ends at once if the last of its projects ends with an error', async (context) => {
  const alone = await waitForAll(context, [], patient, { faults: [{ fault: status(401) }] });
  expect(alone.result).toMatchObject({ outputs: { status: 'error' }, ms: 0 });
  const { result } = await waitForAll(context, [], patient, failSecond(status(403)));
  expect(result).toMatchObject({ outputs: { status: 'error' }, ms: 5 * second });
});

test('after a 401 for the list of a project, its operations are not requested singly', async (context) => {
  const options = failSecondLater(2 * second, status(401));
  const { result, paths } = await waitForAll(context, oneEach(2, { lengthMs: 20 * second }), patient, options);
  expect(result.outputs['status']).toBe('error');
  expect(paths().filter((path) => /operations\/./.test(path))).toEqual([]);
});

test('the wait times out if an idle project can no longer be read at the deadline', async (context) => {
  const inputs = { timeout: '30s', 'poll-interval': '20s' };
  const { result } = await waitForAll(context, [{ lengthMs: 29 * second }], inputs, failSecondLater(10 * second, hang));
  expect(result.outputs['status']).toBe('timeout');
});

test('of three parallel responses, the longest Retry-After holds all requests back', async (context) => {
  const options = withFaults(3, (n) => ({ nth: 1, fault: retryAfter(429, n === 1 ? 60 : 1) }));
  const { result, times } = await waitForAll(context, [], {}, options);
  expect(result.outputs['status']).toBe('finished');
  expect(times()[3]).toBeGreaterThanOrEqual(minute);
});

test('a poll that a 429 holds back is followed by a pause, not by another poll', async (context) => {
  // At most 12 requests are open, so that of the last project waits for a response of another, and then for the Retry-After.
  const options = { projects: 14, trip: () => 50, faults: [{ nth: 1, fault: retryAfter(429, 10) }] };
  const { times } = await waitForAll(context, oneEach(14, forever), { timeout: '20s' }, options);
  const released = times().find((time) => time > 10 * second) ?? Number.NaN;
  expect(released).toBeLessThanOrEqual(12.6 * second);
  expect(times().filter((time) => time > released + 200 && time < 17 * second)).toEqual([]);
});

test('at the deadline, idle-project-ids names the projects whose last read showed nothing unfinished', async (context) => {
  const plans = [forever, { ...failed, project: 2, startsAfterMs: 2 * second }];
  const { result, service } = await waitForAll(context, plans, { ...patient, timeout: '4s' }, { projects: 3 });
  expect(result.outputs['status']).toBe('failed');
  expect(idleOf(result)).toEqual([service.projectIds[1]]);
});

test.for<[what: string, fault: Fault, verdict: string]>([
  ['a failed operation', status(200, { body: '{"operations":[{"id":"a","status":"failed"}]}' }), 'failed'],
  ['an unfinished operation', status(200, { body: '{"operations":[{"id":"a","status":"running"}]}' }), 'timeout'],
  ['a 401', status(401), 'error'],
])('the final poll waits for the read of the last project, which shows %s', async ([, fault, verdict], context) => {
  // The read of the first project ends with its old operation, and the second project's goes on to another page.
  const plans = [{ ...ended, ageMs: 10 * minute }, { lengthMs: 8 * second }, { ...ended, project: 1 }];
  const inputs = { timeout: '9s', 'poll-interval': '50s' };
  const before = ({ service, after }: Stage) => {
    const path = `/${service.projectIds[1]}/operations?limit=100&cursor`;
    after(7 * second, () => service.faults.add({ path, fault }));
  };
  const { result } = await waitForAll(context, plans, inputs, { projects: 2, before });
  expect(result.outputs['status']).toBe(verdict);
});

test('the step fails if an operation first matches the filter when it fails', async (context) => {
  const plans = [{ ...failed, id, branchId: 'br-1', lengthMs: 2 * second }];
  const faults = [
    { nth: 1, fault: status(200, { body: JSON.stringify({ operations: [{ id, status: 'running' }] }) }) },
  ];
  const { result } = await waitForAll(context, plans, { filter: 'branch_id=br-1' }, { faults });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': id });
});

test('a read that proves the last project idle is not repeated, even if it took more than 10 s', async (context) => {
  const plans = many(250, { ...ended, ageMs: 30 * second });
  const { result, paths } = await waitForAll(context, plans, {}, { faults: [onOperations(delay(4_500), { from: 4 })] });
  expectNothing(result);
  // Two reads of three pages and an empty one.
  expect(paths()).toHaveLength(8);
});

test('a list whose pages repeat under ever new cursors ends the wait with an error', async (context) => {
  const operations = [{ id: 'a', status: 'finished', created_at: '2024-01-01T00:00:00Z' }];
  const respond = (_: string, n: number) => JSON.stringify({ operations, pagination: { cursor: `c${n}` } });
  const { result, paths } = await waitForAll(context, [], {}, { respond });
  expect(result.outputs['status']).toBe('error');
  expect(errorOf(result)).toMatch(/has more pages, but they contain no new records/);
  expect(paths()).toHaveLength(7);
});

const notIdle = { status: 'timeout', 'idle-project-ids': '[]' };

test('at the deadline, idle-project-ids omits a project whose last list shows an unfinished operation, even if it has ended', async (context) => {
  const plans = [{ startsAfterMs: 2 * second, lengthMs: 5 * second }];
  const faults = [onOperations(hang, { from: 4 })];
  const { result } = await waitForAll(context, plans, { timeout: '12s' }, { faults });
  expect(result.outputs).toMatchObject(notIdle);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'finished' }]);
});

test('at the deadline, idle-project-ids omits a project whose last read was incomplete', async (context) => {
  const plans = [{ ...ended, ageMs: minute }, ...many(3_500, { ...ended, startsAfterMs: 2 * second })];
  const { result } = await waitForAll(context, plans, { timeout: '6s', 'poll-interval': '1h' });
  expect(result.outputs).toMatchObject(notIdle);
});

test('idle-project-ids omits a project that was read only once before another project failed', async (context) => {
  const { result } = await waitForAll(context, [{ lengthMs: second, outcome: 'failed' }], {}, { projects: 2 });
  expect(result.outputs).toMatchObject({ ...notIdle, status: 'failed' });
});

test('if a Retry-After ends the wait, idle-project-ids omits a project whose last read failed', async (context) => {
  const before = (stage: Stage) => {
    failSecond(status(403), { from: 2 }).before(stage);
    stage.after(10 * second, () => stage.service.faults.add({ fault: retryAfter(429, 3_600) }));
  };
  const { result } = await waitForAll(context, [forever], patient, { projects: 2, before });
  expect(result).toMatchObject({ outputs: notIdle, ms: between(10 * second, 20 * second) });
});

test('even with fail-on: empty, a project that was idle for long is read again before the wait ends', async (context) => {
  const slow: Rule[] = [
    { nth: 1, fault: hang },
    { nth: 2, fault: delay(9 * second) },
  ];
  const plans = [{ startsAfterMs: 10 * second, lengthMs: 20 * second }];
  const options = withFaults(2, (n) => (n === 1 ? slow : []));
  const { result } = await waitForAll(context, plans, { 'fail-on': 'empty' }, options);
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
});

test.for([0, 12])('twelve silent projects delay a failure of project %i by under 10 s', async (project, context) => {
  const plans = [{ project, lengthMs: 9 * second, outcome: 'failed' }];
  const options = withFaults(13, (n) => (n === project ? [] : { fault: hang }));
  const { result } = await waitForAll(context, plans, {}, options);
  expect(result).toMatchObject({ outputs: { status: 'failed', count: '1' }, ms: between(0, 19 * second) });
});

test.for([
  ['that no poll had asked', 9],
  ['that earlier polls asked after them', 100],
] as const)('a final poll asks silent projects last and sees a failure in another %s', async ([, timeout], context) => {
  const plans = [{ project: 39, lengthMs: (timeout - 1) * second, outcome: 'failed' }];
  const options = withFaults(40, (n) => ({ fault: n < 24 ? hang : delay(300) }));
  const { result } = await waitForAll(context, plans, { timeout: `${timeout}s`, 'poll-interval': '40s' }, options);
  expect(result.outputs['status']).toBe('failed');
});

test('the error of a timeout names an idle project that could not be read again in time', async (context) => {
  const options = failSecond(hang, { from: 3 });
  const { result, service } = await waitForAll(context, [{ lengthMs: 20 * second }], { timeout: '30s' }, options);
  const project = `project ${service.projectIds[1]}`;
  const message = `pending in ${project}. The control API did not respond in the last seconds for ${project}. Check`;
  expect(errorOf(result)).toContain(message);
});

test('to confirm that a project is idle, the step waits for the Retry-After of its list', async (context) => {
  // The operation ends meanwhile, as single requests show.
  const faults = [onOperations(retryAfter(503, 20), { nth: 3 })];
  const { result, times } = await waitForAll(context, [{ lengthMs: 3 * second }], every('1s'), { faults });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '1' });
  const [last = 0, ...before] = times().reverse();
  expect(last).toEqual(between(21 * second, 22 * second));
  expect(Math.max(...before.slice(1))).toBeLessThan(5 * second);
});

const lastPollAt30s = { timeout: '30s', 'poll-interval': '1h' };

test('after an incomplete list of a project, the step sends no other request for it', async (context) => {
  const partial = status(200, { body: '{"operations":[],"unavailable_project_ids":["p-1"]}' });
  const plans = [{ lengthMs: 20 * second }, { ...forever, project: 1 }];
  const { result, timesOf, service } = await waitForAll(context, plans, patient, failSecond(partial, { from: 3 }));
  expect(result.outputs['status']).toBe('error');
  expect(timesOf(service.projectIds[1])).toHaveLength(3);
});

test('a list that is incomplete only in the final poll ends the step with an error', async (context) => {
  const operations = [{ id: 'op-1', status: 'running' }];
  const respond = (_: string, n: number) =>
    JSON.stringify({ operations, unavailable_project_ids: n === 1 ? [] : ['p-1'] });
  const { result } = await waitForAll(context, [], lastPollAt30s, { respond });
  expect(result.outputs['status']).toBe('error');
  expect(errorOf(result)).toMatch(/is incomplete: the service could not read projects p-1/);
});

test('a wait succeeds if its final poll shows all projects idle, even if their responses come at different times', async (context) => {
  const options = withFaults(2, (n) => ({ from: 3, fault: delay(n === 0 ? 300 : 900) }));
  const { result } = await waitForAll(context, [{ lengthMs: 20 * second }], lastPollAt30s, options);
  expect(result.outputs['status']).toBe('finished');
});

test('with timeout: 0, no list is read a second time, even after 15 s', async (context) => {
  const { result, paths } = await waitForAll(context, [], { timeout: '0' }, failSecond(delay(15 * second)));
  expectNothing(result);
  expect(paths()).toHaveLength(2);
});

test('at the deadline, the step reports the earlier error of a project, not a timeout', async (context) => {
  const { result } = await waitForAll(context, [forever], { ...patient, timeout: '20s' }, failSecond(status(403)));
  expect(result.outputs['status']).toBe('error');
  expect(errorOf(result)).toMatch(/status 403/);
});

test('with 100 projects and a timeout of 2 s, the step reads each list before its final poll', async (context) => {
  const { result, times } = await waitForAll(context, [forever], { timeout: '2s' }, { projects: 100 });
  expect(result).toMatchObject({ outputs: { status: 'timeout' }, ms: between(0, 3.1 * second) });
  expect(times().length).toBeGreaterThanOrEqual(200);
});

test('the final poll reads each of 100 projects once, 12 at a time, if responses take 150 ms', async (context) => {
  const plans = oneEach(100, { lengthMs: 20 * second });
  const inputs = { timeout: '1m', 'poll-interval': '1h' };
  const options = { projects: 100, faults: [{ fault: delay(150) }] };
  const { result, times, paths, service } = await waitForAll(context, plans, inputs, options);
  const outputs = { status: 'finished', count: '100' };
  expect(result).toMatchObject({ outputs, ms: between(60.001 * second, 62 * second) });
  const last = paths().filter((_, n) => (times()[n] ?? 0) > 50 * second);
  // A page with a cursor may be the last one, so each list takes two requests.
  expect(last).toHaveLength(200);
  expect(new Set(last.map((path) => path.split('/')[1])).size).toBe(100);
  expect(maxConcurrent(service.requests)).toBe(12);
});

test('the final poll reaches 100 projects at 150 ms a response, even if a 429 interrupted the first poll', async (context) => {
  const faults = [{ nth: 30, fault: retryAfter(429, 20) }, { fault: delay(150) }];
  const plans = oneEach(100, { lengthMs: 57.5 * second });
  const { result } = await waitForAll(context, plans, { timeout: '1m' }, { projects: 100, faults });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '100' });
});

test.for<[what: string, lengthMs: number, timeout: string]>([
  ['all are idle, with a timeout of 6 s', 0, '6s'],
  ['their operations end just before the timeout', 14.9 * second, '15s'],
])('a wait for 100 projects succeeds if the service responds fast and %s', async ([, lengthMs, timeout], context) => {
  const { result } = await waitForAll(context, oneEach(100, { lengthMs }), { timeout }, { projects: 100 });
  expect(result.outputs['status']).toBe('finished');
});

test('the second read of an idle project does not delay the next poll of a busy one', async (context) => {
  const options = { projects: 2, trip: () => 150 };
  const { result } = await waitForAll(context, [{ lengthMs: 5.5 * second }], every('5s'), options);
  expect(result.ms).toBeLessThan(7 * second);
});

test('if a final poll begins before the deadline and shows that all operations have ended, the step ends', async (context) => {
  const plans = oneEach(20, { lengthMs: 12 * second });
  const options = { projects: 20, faults: [{ count: 40, fault: delay(400) }] };
  const { result } = await waitForAll(context, plans, { timeout: '15s', 'poll-interval': '1h' }, options);
  expect(result).toMatchObject({ outputs: { status: 'finished' }, ms: between(0, 15 * second) });
});

test('with 100 projects at 150 ms a response, operations that end 0.9 s before the deadline are not reported as late', async (context) => {
  const plans = oneEach(100, { lengthMs: 11.1 * second });
  const faults = [{ count: 100, fault: delay(300) }, { fault: delay(150) }];
  const options = { projects: 100, faults, notShown: { lastPageCursor: 'null' as const } };
  const { result } = await waitForAll(context, plans, { timeout: '12s', ...every('1h') }, options);
  expect(result.outputs).toMatchObject({ status: 'finished', count: '100' });
});

test('a slow service that fails at once in the end gets at most three final polls, the last one at the deadline', async (context) => {
  const before = ({ after, service }: Stage) => {
    service.faults.add({ fault: delay(600) });
    after(11 * second, () => {
      service.faults.clear();
      service.faults.add({ fault: status(503) });
    });
  };
  const { result, times } = await waitForAll(
    context,
    oneEach(60, forever),
    { timeout: '15s', ...every('5s') },
    { projects: 60, before },
  );
  // Each poll requests each list, and then its operation singly.
  expect(times().filter((time) => time > 12 * second).length).toBeLessThanOrEqual(3 * 2 * 60);
  expect(result.ms).toBeGreaterThanOrEqual(15 * second);
});

test('the final poll is repeated at the deadline if the service became fast', async (context) => {
  const plans = oneEach(50, { lengthMs: 14.8 * second });
  const options = { projects: 50, faults: [{ count: 200, fault: delay(500) }] };
  const { result } = await waitForAll(context, plans, { timeout: '15s' }, options);
  expect(result.outputs['status']).toBe('finished');
});
