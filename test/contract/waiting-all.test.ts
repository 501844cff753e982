import { expect, test } from 'vitest';
import type { Fault, FaultRule, Operation, OperationPlan } from '../../control-plane/index.js';
import type { HttpResponse } from '../../src/http/exchange.js';
import { delay, hang, onOperation, onOperations, retryAfter, status } from '../kit/fault.js';
import { type Inputs, operationId as id } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, warningsOf } from '../kit/stage.js';
import { atLeast, between, gaps, maxConcurrent, minute, second, within } from '../kit/times.js';
import { ended, every, expectAllEnd, failsIn, forever, many, patient, runs, type WaitPlan } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';
import { VirtualClock } from '../virtual/clock.js';

/** Milliseconds by which the clock of the runner is ahead. */
const clocks = [-60 * minute, 0, 60 * minute];

const nothing = { status: 'finished', count: 0 };
const oneFinished = { status: 'finished', count: 1 };

const slow100 = { projects: 100, faults: [{ fault: delay(150) }] };
const firstMeets = (fault: Fault) => ({ faults: [{ nth: 1, fault }] });

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

function failSecondLater(ms: number, fault: Fault) {
  return { projects: 2, before: (stage: Stage) => stage.after(ms, () => failSecond(fault).before(stage)) };
}

const idsOf = ({ outputs }: StepResult): string[] => JSON.parse(outputs['operation-ids'] ?? '');

function requestsOfPolls({ times }: Stage): number[] {
  return [...new Set(times())].map((time) => times().filter((other) => other === time).length);
}

test('the step waits for every unfinished operation, and for those that start during the wait', async (context) => {
  const later = { ...runs(20), startsAfterMs: 8 * second };
  const plans = [{ ...failsIn(0), ageMs: 10 * second }, ...many(30, ended), runs(10), later];
  const { result, ids } = await expectAllEnd(context, { status: 'finished', by: 32, ms: atLeast(28 * second) }, plans);
  expect(idsOf(result).sort()).toEqual(ids.slice(31).sort());
});

test.for([
  ['no filter', 0, undefined],
  ['a filter on branch_id', 0, 'branch_id=*'],
  ['a filter for one action', 1, 'action=suspend_compute'],
  ['a filter against another action', 2, 'action!=start_compute'],
] as const)('with %s, a wait includes %i of 2 automatic operations', async ([, count, filter], context) => {
  const plans = ['suspend_compute', 'check_availability'].map((action) => ({ ...forever, action }));
  await expectAllEnd(context, { status: count === 0 ? 'finished' : 'timeout', count }, plans, {
    filter,
    timeout: '0',
  });
});

const listedLate = { ageMs: 2 * second, lengthMs: second, outcome: 'failed' };
test.for<[what: string, startsAfterMs: number, appearing: OperationPlan, otherLengthMs: number]>([
  ['appears and fails between two polls', 25 * second, failsIn(0), minute],
  ['fails after the other has ended', 29.9 * second, failsIn(0), 29 * second],
  ['is listed only after it failed', 21 * second, listedLate, minute],
])('the step fails if an operation %s', async ([, startsAfterMs, appearing, lengthMs], context) => {
  const plans = [{ lengthMs }, { ...appearing, id, startsAfterMs }];
  await expectAllEnd(context, { status: 'failed', count: 2, by: 1, ms: 30 * second, says: id }, plans, every('10s'));
});

test.for(['finished', 'failed'])('an operation that left the list is polled until it %s', async (status, context) => {
  const plans = [{ ...runs(120), outcome: status }, ...many(250, { ...ended, startsAfterMs: 10 * second })];
  const { paths, ids } = await expectAllEnd(context, { status, ms: atLeast(2 * minute) }, plans);
  expect(paths().at(-1)).toContain(ids[0]);
});

test('a wait for all ignores old operations that come into view only because newer ones were deleted', async (context) => {
  const old = [...many(20, { ...failsIn(0), ageMs: 120 * minute }), ...many(999, { ...ended, ageMs: 60 * minute })];
  const before = ({ after, service }: Stage, operations: readonly Operation[]) =>
    after(20 * second, () => {
      for (const operation of operations.slice(20, 1_000)) service.plane.removeOperation(operation);
    });
  const { result } = await expectAllEnd(context, oneFinished, [...old, runs(60)], {}, { before });
  expect(result.log).toMatch(/Read only the newest 1,000 operations of project \S+\. The list has more\./);
  expect(result.summary).toMatch(/Only the newest 1,000 operations were read\. The list has more\./);
});

const oddId = `x\u202E\u200B\u2028::error::${'long '.repeat(500)}`;

test('the error for an operation that vanished shows its odd id as plain text', async (context) => {
  const odd = { ...forever, vanishesAfterMs: 400, fields: { id: oddId } };
  const end = { status: 'error', says: /^(?!.*[\p{Cf}\p{Zl}]).*no longer has operation/su };
  await expectAllEnd(context, end, [odd], {}, { faults: [onOperation(status(404))] });
});

test.for<[end: string, when: string, inputs: Inputs, requests: number[], ...faults: FaultRule[]]>([
  ['succeeds', 'after a second read 5 s after the first', {}, [0, 5]],
  ['succeeds', 'after 5 s, even with poll-interval: 1m', every('1m'), [0, 5]],
  ['succeeds', 'after a third poll if the second fails', every('5s'), [0, 5, 10], { nth: 2, fault: status(503) }],
  ['succeeds', 'after the Retry-After of a poll', every('4s'), [0, 5, 25], { nth: 2, fault: retryAfter(503, 20) }],
  ['succeeds', '5 s after the end of a first read that takes 2 s', {}, [0, 7], { nth: 1, fault: delay(2_000) }],
  ['succeeds', 'at once with timeout: 0', { timeout: '0' }, [0]],
  ['times out', 'after less than 5 s', { timeout: '4s' }, [0, 4]],
  ['times out', 'after less than 5 s even with fail-on: empty', { timeout: '4s', 'fail-on': 'empty' }, [0, 4]],
  ['times out', '3 s after a late first read', { timeout: '15s' }, [0, 12, 15], { nth: 1, fault: retryAfter(503, 12) }],
])('if the list is empty, the step %s %s', async ([end, , inputs, requests, ...faults], context) => {
  const says = 'the step reads it again 5s after the first read, and that read must show that nothing is pending';
  const late = { status: 'timeout', ...(faults.length === 0 && { says }) };
  const expected = { ...(end === 'succeeds' ? nothing : late), requests };
  const { result, paths, projectId } = await expectAllEnd(context, expected, [], inputs, { faults });
  expect(result.log.includes('Reading the list again in 5s')).toBe(requests.length > 1);
  const notice = `Found no unfinished operation to wait for in project ${projectId}.`;
  expect(noticesOf(result)).toEqual(end === 'succeeds' ? [notice] : []);
  for (const path of paths()) expect(path).toMatch(/\/operations\?limit=100$/);
});

test.for<[what: string, plan: WaitPlan, outcome: string, within: number]>([
  ['that is listed 1.5 s late is still waited for', { lengthMs: minute, appearsAfterMs: 1_500 }, 'failed', 75],
  ['that appears as failed within 5 s is in the result', { ...ended, startsAfterMs: 2_200 }, 'failed', 5.1],
  ['that appears as finished within 5 s is in the result', { ...ended, startsAfterMs: 2_200 }, 'finished', 5.1],
])('an operation %s', async ([, plan, status, within], context) => {
  const end = { status, count: 1, by: 0, ms: between(0, within * second) };
  await expectAllEnd(context, end, [{ ...plan, outcome: status }], { 'fail-on': 'empty' });
});

test.for([
  ['5s', 1],
  ['5001ms', 0],
] as const)('timeout: %s leads to %i warnings that a wait for all takes 5 s', async ([timeout, count], context) => {
  const { result } = await expectAllEnd(context, nothing, [], { timeout });
  expect(warningsOf(result)).toEqual(Array(count).fill(expect.stringMatching(/^timeout: .*at least 5s/)));
});

test('if a list hangs while the last operation of its project ends, the wait ends with the next read', async (context) => {
  const faults = [onOperations(hang, { nth: 3 })];
  const { times } = await expectAllEnd(context, oneFinished, [runs(4.2)], every('4500ms'), { faults });
  expect(times().filter((time) => time === 4.5 * second)).toHaveLength(1);
  expect(times().at(-1)).toBeLessThan(15 * second);
});

test.for(['all', '[]'])('with fail-on: empty, a wait for %s fails if nothing is unfinished', async (ids, context) => {
  const end = { status: 'empty', count: 0, ms: ids === 'all' ? 5 * second : 0, says: /fail-on: empty/ };
  await expectAllEnd(context, end, [], { 'operation-id': ids, 'fail-on': 'empty' });
});

test('after a 429, the second read still goes back to a minute before the wait began', async (context) => {
  const plans = [{ ...ended, ageMs: 2 * minute }, ...many(150, { ...ended, ageMs: 20 * second })];
  await expectAllEnd(context, { ...nothing, requests: 6 }, plans, {}, firstMeets(retryAfter(429, 90)));
});

test('after a 429, the step does not poll faster to confirm that the list is empty', async (context) => {
  const { times } = await expectAllEnd(context, nothing, [], {}, firstMeets(retryAfter(429, 20)));
  const [first, ...rest] = gaps(times());
  expect(first).toBeGreaterThanOrEqual(20 * second);
  for (const pause of rest) expect(pause).toBeGreaterThan(5 * second);
});

for (const clockAheadMs of clocks)
  test(`the notice of an idle wait names recent failures and counts excluded operations (runner ${clockAheadMs} ms ahead)`, async (context) => {
    const ours = { ...failsIn(1), ageMs: 4 * minute, branchId: 'br-ours' };
    const named = [ours, { ...ours, ageMs: 60 * minute, lengthMs: 57 * minute }];
    const differences = [{ ageMs: 6 * minute }, { branchId: 'br-theirs' }, { action: 'suspend_compute' }];
    const hidden = [...differences, { outcome: 'finished' }].map((one) => ({ ...ours, ...one }));
    const unfinished = [...many(3, { ...forever, branchId: 'br-theirs' }), { ...forever, action: 'suspend_compute' }];
    const plans = [...named, ...hidden, ...unfinished];
    const filter = 'branch_id=br-ours';
    const { result, ids } = await expectAllEnd(context, nothing, plans, { filter }, { clockAheadMs });
    const [notice] = noticesOf(result);
    expect(ids.filter((id) => notice?.includes(id))).toEqual(ids.slice(0, 2));
    const ignored = 'Ignored 1 unfinished operation that the service itself started.';
    expect(notice).toContain(`The filter excluded 3 unfinished operations. ${ignored}`);
    expect(result.summary).toMatch(/^### ✅ wait-operation: Nothing to wait for\n/);
    expect(result.summary).toContain(ids[0]);
    expect(result.summary).not.toMatch(/<table>|mermaid/);
  });

test('the notice of an idle wait does not count ignored operations that the last read shows as ended', async (context) => {
  const differences = [{ branchId: 'br-theirs' }, { branchId: 'br-ours', action: 'suspend_compute' }];
  const plans = differences.map((one) => ({ ...runs(3), ...one }));
  const { result } = await expectAllEnd(context, nothing, plans, { filter: 'branch_id=br-ours' });
  expect(noticesOf(result)).toEqual([expect.not.stringMatching(/excluded|Ignored/)]);
});

test('the first poll reads the newest 1,000 operations, and each later poll goes back to a minute before the previous one', async (context) => {
  const old = [{ ...forever, ageMs: 10 * minute }, ...many(100, { ...ended, ageMs: 10 * minute })];
  const plans = [...old, runs(50), ...many(950, ended)];
  // All 951 new operations are older than a minute in the third poll, but not than a minute before the second one.
  const requests = [0, 40, 80].flatMap((time) => Array(10).fill(time));
  await expectAllEnd(context, { status: 'finished', count: 1, by: 101, requests }, plans, every('40s'));
});

test.for<[read: string, rule: FaultRule, seconds: number, created: number]>([
  ['first read, which takes 15 s,', onOperations(delay(4_900), { from: 1, count: 3 }), 12, -59],
  ['second read, which takes four polls,', onOperations(status(500), { from: 5, count: 3 }), 21, -52],
])('the read after the %s goes back to a minute before that one began', async ([, rule, from, created], context) => {
  const late = { ...failsIn(0), startsAfterMs: from * second, ageMs: (from - created) * second };
  const plans = [...many(100, { ...ended, ageMs: -(created + 4) * second }), runs(40), late];
  await expectAllEnd(context, { status: 'failed', by: 101 }, plans, every('5s'), { faults: [rule] });
});

const badPages: readonly Fault[] = [{ kind: 'hang-mid-body' }, status(423), status(404)];
test.for(badPages)('the step never succeeds if the second page fails with %o', async (fault, context) => {
  const plans = [{ ...forever, ageMs: minute }, ...many(150, ended)];
  const faults = [{ path: 'cursor=', fault }];
  await expectAllEnd(context, 'timeout', plans, { timeout: '20s' }, { faults });
});

test('an operation on page 1 is followed to its end, although page 2 always fails', async (context) => {
  const end = { status: 'failed', by: 150, ms: within(5) };
  const options = { faults: [{ path: 'cursor=', fault: status(500) }] };
  await expectAllEnd(context, end, [...many(150, ended), failsIn(3)], {}, options);
});

test('a poll whose page 2 fails does not end the wait, even if an earlier poll read all pages', async (context) => {
  const options = { faults: [onOperations(status(404), { nth: 5 })] };
  const end = { status: 'finished', requests: [0, 0, 0, 2, 2, 5, 5, 5] };
  await expectAllEnd(context, end, [...many(150, ended), runs(1)], every('2s'), options);
});

const slowReadAt3s = { from: 3, count: 2, fault: delay(1_500) };
test.for<[what: string, inputs: Inputs, plans: WaitPlan[], ...faults: FaultRule[]]>([
  ['even with since: 10m', { since: '10m' }, [ended]],
  ['even if another one ended before', {}, [{ lengthMs: 200 }]],
  ['even if a read lasts from 3 s to 6 s', every('3s'), [{ lengthMs: 200 }], slowReadAt3s],
])('the step awaits an operation that the list shows 4 s late, %s', async ([, inputs, plans, ...faults], context) => {
  const late = { ...failsIn(20), appearsAfterMs: 4 * second };
  await expectAllEnd(context, { status: 'failed', by: 1 }, [...plans, late], inputs, { faults });
});

test.for([0, 30])('a wait sees one operation of %i s fail among 250 that began with it', async (seconds, context) => {
  const startsAfterMs = 7 * second;
  const plans = [runs(8), { ...failsIn(seconds), startsAfterMs }, ...many(250, { ...ended, startsAfterMs })];
  for (const clockAheadMs of clocks)
    await expectAllEnd(context, { status: 'failed', by: 1 }, plans, every('10s'), { clockAheadMs });
});

test('if a list has more new operations than one poll may read, the next poll reads the rest', async (context) => {
  const startsAfterMs = 3 * second;
  const plans = [runs(2), { ...failsIn(0), startsAfterMs }, ...many(2_500, { ...ended, startsAfterMs })];
  const wait = await expectAllEnd(context, { status: 'failed', by: 1 }, plans, every('4s'));
  // The pending operation, which those pages do not show, is requested singly.
  expect(Math.max(...requestsOfPolls(wait))).toBe(11);
});

test('the step fails if an operation fails before the service first responds', (context) => {
  const faults = [{ count: 4, fault: retryAfter(503, 6) }];
  return expectAllEnd(context, 'failed', [{ ...failsIn(70), ageMs: minute }], {}, { faults });
});

test('a poll of 1,000 unfinished operations sends at most 15 requests, even if the last page is empty', async (context) => {
  const plans = [...many(500, forever), failsIn(20), ...many(499, forever)];
  const wait = await expectAllEnd(context, { status: 'failed', count: 1_000, ms: within(24) }, plans);
  expect(requestsOfPolls(wait).length).toBeGreaterThan(10);
  expect(Math.max(...requestsOfPolls(wait))).toBeLessThanOrEqual(15);
});

test('a page that shows the end of an operation and the beginning of another does not end the wait', async (context) => {
  // A replica that lags shows neither of them, in a read that could prove that the project is idle.
  const lagging = onOperations(status(200, { body: '{"operations":[]}' }), { nth: 9 });
  const faults = [lagging, onOperation(status(503))];
  const plans = [runs(7), { ...failsIn(20), startsAfterMs: 7 * second }];
  await expectAllEnd(context, { status: 'failed', by: 1 }, plans, every('1500ms'), { faults });
});

test('the step ignores operations that ended before the wait, even if a replica that lags first sends an empty list', async (context) => {
  const old = { ...failsIn(0), ageMs: 7 * 24 * 60 * minute };
  const plans = [old, ...many(80, { ...old, outcome: 'finished' })];
  const lagging = firstMeets(status(200, { body: '{"operations":[]}' }));
  await expectAllEnd(context, { status: 'empty', count: 0 }, plans, { 'fail-on': 'empty' }, lagging);
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
  const why = '(the response announces another page|the service could not read projects p)';
  const advice = `${mayBeMissing} Check the list in the console, then re-run`;
  const says = new RegExp(`^The list of operations of project \\S+ is incomplete: ${why}.* ${advice}`);
  for (const each of inputs)
    await expectAllEnd(context, { status: 'error', says }, [], each, { faults: [{ nth, fault }] });
});

test.for<[what: string, failing: WaitPlan, verdict: string, count: number]>([
  ['fails if an operation starts and fails after the first of them', { startsAfterMs: 300, lengthMs: 50 }, 'failed', 1],
  ['ignores an operation that failed before the first of them', { ageMs: second, lengthMs: 0 }, 'finished', 0],
])('if the first read takes three polls, the step %s', async ([, failing, verdict, count], context) => {
  const plans = [{ ...failing, outcome: 'failed' }, ended, ended];
  const notShown = { maximumPageSize: 1, overMaximum: 'clamp' } as const;
  const faults = [onOperations(status(500), { from: 2, count: 2 })];
  await expectAllEnd(context, { status: verdict, count }, plans, {}, { faults, notShown });
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
])('a later read finds an operation listed below %s, whatever the runner clock', async ([, first, pages], context) => {
  for (const clockAheadMs of clocks) {
    const respond = (path: string, n: number) => (n === 1 ? first : path.includes('cursor') ? pages.next : pages.later);
    const end = { status: 'timeout', by: 'op-1' };
    await expectAllEnd(context, end, [], { timeout: '20s' }, { respond, clockAheadMs });
  }
});

const busyUntil15s = (now: number): Listed => [2, now < 15 ? 'running' : 'finished', -1];
const failedMeanwhile: Listed = [1, 'failed', 1];
const aheadInTurn = (...ahead: number[]) =>
  ahead.map((s, n) => pageAt(5 * n, s, [...(n === 0 ? [] : [failedMeanwhile]), busyUntil15s(5 * n), old]));
const onlyFirstIsRight = [pageAt(0, 0, [old], 'c'), pageAt(0, 90, [old]), pageAt(5, 90, [failedMeanwhile, old])];
const withoutDate = { ...pageAt(5, 0, [[1, 'failed', -1]]), headers: {} };
test.for<[although: string, pages: readonly Page[]]>([
  ['the clock of the second replica is ahead', aheadInTurn(0, 120, 0, 0)],
  ['the clocks of the first two replicas are ahead', aheadInTurn(75, 75, 0, 0)],
  ['only the first page has the right time', onlyFirstIsRight],
  ['its page has no Date, and the Date of an earlier page was wrong', [pageAt(0, 300, []), withoutDate]],
])('the step fails on an operation that failed during the wait, although %s', async ([, pages], context) => {
  const respond = (_: string, n: number) => pages[Math.min(n, pages.length) - 1] ?? '';
  await expectAllEnd(context, { status: 'failed', by: 'op-1' }, [], every('5s'), { respond });
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
  const plans = [{ ...ended, ageMs: minute, ...plan }];
  const end = { status: verdict, ms: verdict === 'failed' ? 0 : 5 * second };
  for (const clockAheadMs of clocks) {
    const { result, ids } = await expectAllEnd(context, end, plans, inputs, { clockAheadMs });
    expect(idsOf(result)).toEqual(verdict === 'empty' ? [] : ids);
  }
});

test('since: 10m reaches back from the start of the wait, even if the first response comes 2 minutes later', async (context) => {
  const plans = [11, 9].map((minutes) => ({ ...ended, ageMs: minutes * minute }));
  await expectAllEnd(context, { ...oneFinished, by: 1 }, plans, since, firstMeets(retryAfter(429, 120)));
});

test('with since: 10m, the first poll reads more than 1,000 operations, but stops at those older than 10 minutes', async (context) => {
  const old = many(500, { ...ended, ageMs: 60 * minute });
  const recent = many(1_150, { ...ended, ageMs: 5 * minute, action: 'suspend_compute' });
  const plans = [...old, { ...failsIn(0), ageMs: 9 * minute }, ...recent];
  const end = { status: 'failed', by: 500, requests: 12 };
  const { result } = await expectAllEnd(context, end, plans, { ...since, timeout: '0' });
  expect(result.log).toContain('Read only the newest 1,200 operations of project');
  expect(result.summary).toContain('Only the newest 1,200 operations were read.');
});

test('a later read ends at an old operation, even if the first read took only operations of the last minute', async (context) => {
  const plans = [...many(1_000, { ...ended, ageMs: 60 * minute }), ...many(100, { ...ended, ageMs: second })];
  const { paths, service } = await expectAllEnd(context, nothing, plans, {}, { projects: 11 });
  expect(paths().filter((path) => path.includes(service.projectIds[0] ?? ''))).toHaveLength(3);
});

test.for<[how: string, outcome: string, plans: WaitPlan[], options?: ReturnType<typeof failSecond>]>([
  ['shows a failed operation', 'failed', [{ ...failsIn(0), project: 1, startsAfterMs: 15 * second }]],
  ['gets a 403', 'error', [], failSecond(status(403), { from: 3 })],
])('idle-project-ids keeps the others if one %s when read again', async ([, status, more, options], context) => {
  const idle = [...Array(30).keys()].toSpliced(1, 1);
  await expectAllEnd(context, { status, idle }, [runs(20), ...more], {}, { ...options, projects: 30 });
});

test('with fail-fast: false, the error of a failed operation also names a project that was not found', async (context) => {
  const { result, service } = await expectAllEnd(context, 'failed', [failsIn(9)], patient, failSecond(status(404)));
  expect(errorOf(result)).toContain(`Last error: Project ${service.projectIds[1]} was not found`);
});

test('the step waits until all projects are idle, and its error names the busy ones', async (context) => {
  const plans = [...oneEach(3, runs(20)), { ...forever, project: 2 }, { ...forever, project: 1 }];
  const end = { status: 'timeout', count: 5, idle: [0] };
  const { result, service } = await expectAllEnd(context, end, plans, { timeout: '1m' }, { projects: 3 });
  expect(result.summary).toContain('<th>Project</th>');
  for (const [n, id] of service.projectIds.entries()) {
    expect(result.summary).toContain(`<td><code>${id}</code></td>`);
    const named = n === 0 ? 'in project' : '] running for 1m in project';
    expect(errorOf(result).includes(`${named} ${id}`)).toBe(n > 0);
  }
});

test.for([
  ['is not found fails the step after 5 s', 404, 5, /was not found.*key without access gets 404/],
  ['returns 503 fails the step after 30 s', 503, 30, /status 503/],
] as const)('a project that %s, although others respond', async ([, code, seconds, says], context) => {
  const ms = between(seconds * second, (seconds + 10) * second);
  const end = { status: 'error', idle: [], ms, says };
  const { result, service } = await expectAllEnd(context, end, oneEach(2, forever), {}, failSecond(status(code)));
  expect(errorOf(result)).toContain(service.projectIds[1]);
});

test('the time that a request waits for others that hang does not count against its minute for retries', async (context) => {
  // Of 24 projects, 11 at a time get no response for 30 s.
  const options = withFaults(25, (n) => (n === 24 ? { nth: 1, fault: status(503) } : { count: 2, fault: hang }));
  await expectAllEnd(context, 'finished', oneEach(25, runs(1)), { timeout: '1h' }, options);
});

test.for<[how: string, fault: Fault, seconds: number]>([
  ['hang', hang, 14],
  ['always get a 429', status(429), 60],
])('a project whose requests %s does not hide a failed operation of another', async ([, fault, seconds], context) => {
  const end = { status: 'failed', ms: within(seconds) };
  await expectAllEnd(context, end, oneEach(2, failsIn(10)), { 'request-timeout': '5m' }, failSecond(fault));
});

test('100 idle projects cost two reads each', async (context) => {
  const end = { ...nothing, requests: 200, idle: [...Array(100).keys()] };
  await expectAllEnd(context, end, [], {}, slow100);
});

test('the step reads an idle project again when the others are idle, and waits for it if it has become busy', async (context) => {
  const plans = [runs(40), { ...runs(30), project: 1, startsAfterMs: 30 * second }];
  const end = { status: 'finished', count: 2, ms: atLeast(minute) };
  const { result, service, timesOf } = await expectAllEnd(context, end, plans, {}, { projects: 3 });
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
  const options = { projects, notShown: { lastPageCursor } };
  const { result, service, timesOf } = await expectAllEnd(context, nothing, plans, {}, options);
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
] as const)('if the last operation %s, a project idle since %i s is %s', async ([status, age, , reads], context) => {
  const plans = [{ lengthMs: (5 + age) * second - 1, outcome: status }];
  const inputs = { ...every('1s'), 'fail-on': 'empty' };
  const { service, timesOf } = await expectAllEnd(context, { status, count: 1 }, plans, inputs, { projects: 2 });
  expect(timesOf(service.projectIds[1])).toEqual(reads.map((time) => time * second));
});

test('with fail-fast: false, a project that is not found fails the step when the others are idle', async (context) => {
  const options = { ...failSecond(status(404)), projects: 3 };
  const end = { status: 'error', ms: between(50 * second, 60 * second), idle: [0, 2] };
  const { result, service } = await expectAllEnd(context, end, oneEach(3, runs(50)), patient, options);
  expect(errorOf(result)).toMatch(new RegExp(`^Project ${service.projectIds[1]} was not found`));
});

test('with fail-fast: false, the step ends at once if the last of its projects ends with an error', async (context) => {
  await expectAllEnd(context, { status: 'error', ms: 0 }, [], patient, { faults: [{ fault: status(401) }] });
  await expectAllEnd(context, { status: 'error', ms: 5 * second }, [], patient, failSecond(status(403)));
});

test('after a 401 for the list of a project, its operations are not requested singly', async (context) => {
  const options = failSecondLater(2 * second, status(401));
  const { paths } = await expectAllEnd(context, 'error', oneEach(2, runs(20)), patient, options);
  expect(paths().filter((path) => /operations\/./.test(path))).toEqual([]);
});

test('the wait times out if an idle project can no longer be read at the deadline', (context) =>
  expectAllEnd(context, 'timeout', [runs(29)], { timeout: '30s', ...every('20s') }, failSecondLater(10_000, hang)));

test('of three parallel responses, the longest Retry-After holds all requests back', async (context) => {
  const options = withFaults(3, (n) => ({ nth: 1, fault: retryAfter(429, n === 1 ? 60 : 1) }));
  const { times } = await expectAllEnd(context, 'finished', [], {}, options);
  expect(times()[3]).toBeGreaterThanOrEqual(minute);
});

test('a poll that a 429 holds back is followed by a pause, not by another poll', async (context) => {
  // At most 12 requests are open, so that of the last project waits for a response of another, and then for the Retry-After.
  const options = { projects: 14, trip: () => 50, faults: [{ nth: 1, fault: retryAfter(429, 10) }] };
  const { times } = await expectAllEnd(context, 'timeout', oneEach(14, forever), { timeout: '20s' }, options);
  const released = times().find((time) => time > 10 * second) ?? Number.NaN;
  expect(released).toBeLessThanOrEqual(12.6 * second);
  expect(times().filter((time) => time > released + 200 && time < 17 * second)).toEqual([]);
});

test('at the deadline, idle-project-ids names the projects whose last read showed nothing unfinished', async (context) => {
  const plans = [forever, { ...failsIn(0), project: 2, startsAfterMs: 2 * second }];
  await expectAllEnd(context, { status: 'failed', idle: [1] }, plans, { ...patient, timeout: '4s' }, { projects: 3 });
});

test.for<[what: string, fault: Fault, verdict: string]>([
  ['a failed operation', status(200, { body: '{"operations":[{"id":"a","status":"failed"}]}' }), 'failed'],
  ['an unfinished operation', status(200, { body: '{"operations":[{"id":"a","status":"running"}]}' }), 'timeout'],
  ['a 401', status(401), 'error'],
])('the final poll waits for the read of the last project, which shows %s', async ([, fault, verdict], context) => {
  // The read of the first project ends with its old operation, and the second project's goes on to another page.
  const plans = [{ ...ended, ageMs: 10 * minute }, runs(8), { ...ended, project: 1 }];
  const before = ({ service, after }: Stage) => {
    const path = `/${service.projectIds[1]}/operations?limit=100&cursor`;
    after(7 * second, () => service.faults.add({ path, fault }));
  };
  await expectAllEnd(context, verdict, plans, { timeout: '9s', ...every('50s') }, { projects: 2, before });
});

test('the step fails if an operation first matches the filter when it fails', async (context) => {
  const options = firstMeets(status(200, { body: JSON.stringify({ operations: [{ id, status: 'running' }] }) }));
  const plans = [{ ...failsIn(2), id, branchId: 'br-1' }];
  await expectAllEnd(context, { status: 'failed', by: 0 }, plans, { filter: 'branch_id=br-1' }, options);
});

test('a read that proves the last project idle is not repeated, even if it took more than 10 s', async (context) => {
  const plans = many(250, { ...ended, ageMs: 30 * second });
  const options = { faults: [onOperations(delay(4_500), { from: 4 })] };
  await expectAllEnd(context, { ...nothing, requests: 8 }, plans, {}, options);
});

test('a list whose pages repeat under ever new cursors ends the wait with an error', async (context) => {
  const operations = [{ id: 'a', status: 'finished', created_at: '2024-01-01T00:00:00Z' }];
  const respond = (_: string, n: number) => JSON.stringify({ operations, pagination: { cursor: `c${n}` } });
  const end = { status: 'error', says: /has more pages, but they contain no new records/, requests: 7 };
  await expectAllEnd(context, end, [], {}, { respond });
});

const notIdle = { status: 'timeout', idle: [] };

test('idle-project-ids omits a project whose last list shows an unfinished operation, even if that has ended since', async (context) => {
  const plans = [{ ...runs(5), startsAfterMs: 2 * second }];
  const faults = [onOperations(hang, { from: 4 })];
  const { result } = await expectAllEnd(context, notIdle, plans, { timeout: '12s' }, { faults });
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'finished' }]);
});

test('at the deadline, idle-project-ids omits a project whose last read was incomplete', async (context) => {
  const plans = [{ ...ended, ageMs: minute }, ...many(3_500, { ...ended, startsAfterMs: 2 * second })];
  await expectAllEnd(context, notIdle, plans, { timeout: '6s', ...every('1h') });
});

test('idle-project-ids omits a project that was read only once before another project failed', (context) =>
  expectAllEnd(context, { status: 'failed', idle: [] }, [failsIn(1)], {}, { projects: 2 }));

test('if a Retry-After ends the wait, idle-project-ids omits a project whose last read failed', async (context) => {
  const before = (stage: Stage) => {
    failSecond(status(403), { from: 2 }).before(stage);
    stage.after(10 * second, () => stage.service.faults.add({ fault: retryAfter(429, 3_600) }));
  };
  const end = { ...notIdle, ms: between(10 * second, 20 * second) };
  await expectAllEnd(context, end, [forever], patient, { projects: 2, before });
});

test('even with fail-on: empty, a project that was idle for long is read again before the wait ends', async (context) => {
  const slow = [hang, delay(9 * second)].map((fault, n) => ({ nth: n + 1, fault }));
  const plans = [{ ...runs(20), startsAfterMs: 10 * second }];
  const options = withFaults(2, (n) => (n === 1 ? slow : []));
  await expectAllEnd(context, oneFinished, plans, { 'fail-on': 'empty' }, options);
});

test.for([0, 12])('twelve silent projects delay a failure of project %i by under 10 s', async (project, context) => {
  const options = withFaults(13, (n) => (n === project ? [] : { fault: hang }));
  const end = { status: 'failed', count: 1, ms: within(19) };
  await expectAllEnd(context, end, [{ ...failsIn(9), project }], {}, options);
});

test.for([
  ['that no poll had asked', 9],
  ['that earlier polls asked after them', 100],
] as const)('a final poll asks silent projects last, and sees a failure in one %s', async ([, timeout], context) => {
  const plans = [{ ...failsIn(timeout - 1), project: 39 }];
  const options = withFaults(40, (n) => ({ fault: n < 24 ? hang : delay(300) }));
  await expectAllEnd(context, 'failed', plans, { timeout: `${timeout}s`, ...every('40s') }, options);
});

test('the error of a timeout names an idle project that could not be read again in time', async (context) => {
  const options = failSecond(hang, { from: 3 });
  const { result, service } = await expectAllEnd(context, 'timeout', [runs(20)], { timeout: '30s' }, options);
  const project = `project ${service.projectIds[1]}`;
  const message = `pending in ${project}. The control API did not respond in the last seconds for ${project}. Check`;
  expect(errorOf(result)).toContain(message);
});

test('to confirm that a project is idle, the step waits for the Retry-After of its list', async (context) => {
  const faults = [onOperations(retryAfter(503, 20), { nth: 3 })];
  const { times } = await expectAllEnd(context, oneFinished, [runs(3)], every('1s'), { faults });
  const [last = 0, ...before] = times().reverse();
  expect(last).toEqual(between(21 * second, 22 * second));
  expect(Math.max(...before.slice(1))).toBeLessThan(5 * second);
});

test('after an incomplete list of a project, the step sends no other request for it', async (context) => {
  const partial = status(200, { body: '{"operations":[],"unavailable_project_ids":["p-1"]}' });
  const plans = [runs(20), { ...forever, project: 1 }];
  const { timesOf, service } = await expectAllEnd(context, 'error', plans, patient, failSecond(partial, { from: 3 }));
  expect(timesOf(service.projectIds[1])).toHaveLength(3);
});

const lastPollAt30s = { timeout: '30s', ...every('1h') };

test('a list that is incomplete only in the final poll ends the step with an error', async (context) => {
  const operations = [{ id: 'op-1', status: 'running' }];
  const respond = (_: string, n: number) =>
    JSON.stringify({ operations, unavailable_project_ids: n === 1 ? [] : ['p-1'] });
  const end = { status: 'error', says: /is incomplete: the service could not read projects p-1/ };
  await expectAllEnd(context, end, [], lastPollAt30s, { respond });
});

test('a wait succeeds if its final poll shows all projects idle, even if their responses come at different times', async (context) => {
  const options = withFaults(2, (n) => ({ from: 3, fault: delay(n === 0 ? 300 : 900) }));
  await expectAllEnd(context, 'finished', [runs(20)], lastPollAt30s, options);
});

test('with timeout: 0, no list is read a second time, even after 15 s', (context) =>
  expectAllEnd(context, { ...nothing, requests: 2 }, [], { timeout: '0' }, failSecond(delay(15 * second))));

test('at the deadline, the step reports the earlier error of a project, not a timeout', (context) => {
  const end = { status: 'error', says: /status 403/ };
  return expectAllEnd(context, end, [forever], { ...patient, timeout: '20s' }, failSecond(status(403)));
});

test('with 100 projects and a timeout of 2 s, the step reads each list before its final poll', async (context) => {
  const end = { status: 'timeout', ms: within(3.1) };
  const { times } = await expectAllEnd(context, end, [forever], { timeout: '2s' }, { projects: 100 });
  expect(times().length).toBeGreaterThanOrEqual(200);
});

test('the final poll reads each of 100 projects once, 12 at a time, if responses take 150 ms', async (context) => {
  const inputs = { timeout: '1m', ...every('1h') };
  const end = { status: 'finished', count: 100, ms: between(60.001 * second, 62 * second) };
  const { times, paths, service } = await expectAllEnd(context, end, oneEach(100, runs(20)), inputs, slow100);
  const last = paths().filter((_, n) => (times()[n] ?? 0) > 50 * second);
  // A page with a cursor may be the last one, so each list takes two requests.
  expect(last).toHaveLength(200);
  expect(new Set(last.map((path) => path.split('/')[1])).size).toBe(100);
  expect(maxConcurrent(service.requests)).toBe(12);
});

const throttled = { nth: 30, fault: retryAfter(429, 20) };
test.for<[what: string, seconds: number, timeout: string, projects: number, ...faults: FaultRule[]]>([
  ['all are idle, with a timeout of 6 s', 0, '6s', 100],
  ['their operations end just before the timeout', 14.9, '15s', 100],
  ['responses take 150 ms, and a 429 interrupted the first poll', 57.5, '1m', 100, throttled, { fault: delay(150) }],
  ['the service became fast after a slow final poll', 14.8, '15s', 50, { count: 200, fault: delay(500) }],
])('a wait for many projects succeeds if %s', async ([, seconds, timeout, projects, ...faults], context) => {
  const end = { status: 'finished', count: seconds === 0 ? 0 : projects };
  await expectAllEnd(context, end, oneEach(projects, runs(seconds)), { timeout }, { projects, faults });
});

test('the second read of an idle project does not delay the next poll of a busy one', async (context) => {
  const options = { projects: 2, trip: () => 150 };
  await expectAllEnd(context, { status: 'finished', ms: within(7) }, [runs(5.5)], every('5s'), options);
});

test('if a final poll begins before the deadline and shows that all operations have ended, the step ends', async (context) => {
  const options = { projects: 20, faults: [{ count: 40, fault: delay(400) }] };
  const end = { status: 'finished', ms: within(15) };
  await expectAllEnd(context, end, oneEach(20, runs(12)), { timeout: '15s', ...every('1h') }, options);
});

test('with 100 projects at 150 ms a response, operations that end 0.9 s before the deadline are not reported as late', async (context) => {
  const faults = [{ count: 100, fault: delay(300) }, { fault: delay(150) }];
  const options = { projects: 100, faults, notShown: { lastPageCursor: 'null' as const } };
  const inputs = { timeout: '12s', ...every('1h') };
  await expectAllEnd(context, { status: 'finished', count: 100 }, oneEach(100, runs(11.1)), inputs, options);
});

test('a slow service that begins to fail fast gets at most three final polls, the last one at the deadline', async (context) => {
  const before = ({ after, service }: Stage) => {
    service.faults.add({ fault: delay(600) });
    after(11 * second, () => {
      service.faults.clear();
      service.faults.add({ fault: status(503) });
    });
  };
  const inputs = { timeout: '15s', ...every('5s') };
  const end = { status: 'timeout', ms: atLeast(15 * second) };
  const { times } = await expectAllEnd(context, end, oneEach(60, forever), inputs, { projects: 60, before });
  // Each poll requests each list, and then its operation singly.
  expect(times().filter((time) => time > 12 * second).length).toBeLessThanOrEqual(3 * 2 * 60);
});
