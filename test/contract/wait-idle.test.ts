import { expect, test } from 'vitest';
import { delay, hang, inWords, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import type { Stage } from '../kit/stage.js';
import { atLeast, between, gaps, second } from '../kit/times.js';
import type { WaitOptions, WaitPlan } from '../kit/wait.js';
import { ended, expectAllEnd, failsIn, forever, listsBehind, listWith, many, nothing, runs } from '../kit/wait.js';

const onePage = { notShown: { maximumPageSize: 1, overMaximum: 'clamp', lastPageCursor: 'absent' } } as const;
const long = { timeout: '30m' };

/** It begins so many seconds after the start of the step, and the list shows it so many seconds late. */
const begins = (at: number, late: number, plan: WaitPlan): WaitPlan => ({
  ...plan,
  startsAfterMs: at * second,
  appearsAfterMs: late * second,
});

test.for<[what: string, inputs: Inputs]>([
  ['by default', {}],
  ['also with poll-interval: 1m', { 'poll-interval': '1m' }],
  ['also with poll-interval: 100ms', { 'poll-interval': '100ms' }],
])('wait-operation reads a project without operations twice, 5 s apart, %s', async ([, inputs], context) => {
  const end = { ...nothing, ms: between(5 * second, 5.6 * second) };
  const { times } = await expectAllEnd(context, end, [], inputs);
  expect(gaps(times())).toEqual([atLeast(5 * second)]);
});

test('wait-operation sends its second read 5 s after the end of the first, even if that took 2 s', async (context) => {
  const { times } = await expectAllEnd(context, nothing, [], {}, { faults: [{ nth: 1, fault: delay(2 * second) }] });
  expect(times()).toEqual([0, between(7 * second, 7.6 * second)]);
});

test.for([0, 2, 5])(
  'wait-operation waits for a follow-up operation that is listed %i s after the first one ended',
  async (late, context) => {
    for (let end = 8; end < 12; end += 0.45)
      for (const length of [0.5, 20])
        await expectAllEnd(context, { status: 'failed', by: 1 }, [runs(end), begins(end, late, failsIn(length))]);
  },
);

test.for<[what: string, behind: (n: number) => number]>([
  ['beginning with the first', (n) => (n % 2 === 1 ? 4 : 0)],
  ['beginning with the second', (n) => (n % 2 === 0 ? 4 : 0)],
])('wait-operation waits for a follow-up operation if every other list is 4 s old, %s', async ([, behind], context) => {
  for (let end = 8; end < 12; end += 0.45)
    for (const length of [0.5, 20]) {
      const plans = [runs(end), begins(end, 0, failsIn(length))];
      await expectAllEnd(context, { status: 'failed', by: 1 }, plans, {}, listsBehind(behind));
    }
});

test('wait-operation starts its two reads again if the second one shows a new operation, even an ended one', async (context) => {
  const plans = [begins(3, 0, runs(1)), begins(4, 4.9, failsIn(20))];
  const { times } = await expectAllEnd(context, { status: 'failed', by: 1 }, plans, long);
  expect(times()[1]).toEqual(between(5 * second, 5.6 * second));
});

test('wait-operation starts its two reads again if the second one shows an ended operation as unfinished', async (context) => {
  // The copy that answers at 5 s has the list of a moment before the step, when the operation was not at its end.
  const plans = [{ ...runs(10), ageMs: 10 * second }, begins(9, 0, failsIn(20))];
  const options = listsBehind((n) => (n === 2 ? 6 : 0));
  const { result, ids } = await expectAllEnd(context, { status: 'failed', by: 1 }, plans, {}, options);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toContainEqual(
    expect.objectContaining({ id: ids[0], status: 'finished' }),
  );
});

test('wait-operation does not wait longer for operations that its filter excludes', async (context) => {
  const plans = [
    begins(2, 0, { ...forever, action: 'suspend_compute' }),
    begins(3, 0, { ...failsIn(1), branchId: 'br-theirs' }),
  ];
  await expectAllEnd(context, { ...nothing, ms: between(5 * second, 6 * second) }, plans, {
    filter: 'branch_id!=br-theirs',
  });
});

test('wait-operation reads the list twice after a single request has shown the end of the last operation', async (context) => {
  // The last operation is below the first page. Single requests for it arrive 1.4 s after they were sent.
  const trip: WaitOptions['trip'] = (way, path) => (way === 'there' && !path.includes('?') ? 1_400 : 0);
  for (let end = 8; end < 12; end += 0.45) {
    const plans = [runs(end), begins(end, 4.9, failsIn(20))];
    await expectAllEnd(context, { status: 'failed', by: 1 }, plans, long, { trip, buried: 1 });
  }
});

test('wait-operation reads the second page of a list again after it failed, even if the first shows nothing new', async (context) => {
  const before = ({ after, service }: Stage) =>
    after(0.9 * second, () => service.faults.add({ path: 'cursor=', nth: 1, fault: status(503) }));
  const plans = [{ ...ended, ageMs: 100 * second }, runs(9), begins(1, 0, failsIn(0)), begins(1, 0, ended)];
  await expectAllEnd(context, { status: 'failed', by: 2 }, plans, {}, { ...onePage, before });
});

test.for(inWords(status(503), hang))(
  'wait-operation sees failures, but never succeeds, if the second page of the list always gets %s',
  async ([, fault], context) => {
    const options = { faults: [{ path: 'cursor=', fault }] };
    const old = [{ ...ended, ageMs: 5 * second }, ...many(150, ended)];
    await expectAllEnd(context, { status: 'timeout', idle: [] }, old, { timeout: '1m' }, options);
    await expectAllEnd(context, { status: 'failed', by: 151 }, [...old, failsIn(20)], { timeout: '1m' }, options);
  },
);

/** An hour before virtual time begins: a first read goes on behind it. */
const created_at = '2023-12-31T23:00:00Z';
const known = { id: 'a', status: 'finished', created_at, updated_at: created_at };
type Respond = NonNullable<WaitOptions['respond']>;
test.for<[what: string, respond: Respond]>([
  ['names projects that the service could not read', () => listWith({ unavailable_project_ids: ['p'] })],
  ['comes with an error', () => listWith({ error: { message: 'A shard is down.' } })],
  ['names another page in the header Link', () => ({ body: listWith({}), headers: { link: '</next>; rel="next"' } })],
  [
    'repeats a page with ever new cursors',
    (_, n) => listWith({ operations: [known], pagination: { cursor: `c${n}` } }),
  ],
  [
    'repeats a page with the cursor of the request',
    () => listWith({ operations: [known], pagination: { cursor: 'c' } }),
  ],
  ['holds a record without a status', () => listWith({ operations: [{ id: 'a' }] })],
  ['holds a record of another project', () => listWith({ operations: [{ ...known, project_id: 'another' }] })],
])('wait-operation never succeeds if the list %s', async ([, respond], context) => {
  // Page 1 of those that repeat it is usable, so their project has answered.
  const end = { status: expect.stringMatching(/^(error|timeout)$/), idle: [], ms: atLeast(60 * second) };
  await expectAllEnd(context, end, [], { timeout: '2m' }, { respond });
});

test('wait-operation succeeds if the list has empty fields for errors, unavailable projects and cursor', async (context) => {
  const list = listWith({ unavailable_project_ids: [], errors: [], error: null, pagination: { cursor: '' } });
  await expectAllEnd(context, { ...nothing, requests: 2 }, [], {}, { respond: () => list });
});
