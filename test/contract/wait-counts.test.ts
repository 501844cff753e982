import { expect, test } from 'vitest';
import type { OperationPlan } from '../../control-plane/index.js';
import { documentedActions } from '../../control-plane/seed.js';
import { retryAfter } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { hour, noticesOf, warningsOf } from '../kit/stage.js';
import { atLeast, minute, second } from '../kit/times.js';
import { ended, expectAllEnd, failsIn, forever, lastPage, many, nothing, runs, type WaitPlan } from '../kit/wait.js';
import type { StepResult } from '../runner/step.js';

const red = { status: 'failed', count: 1, by: 0 };

/** It began long before the step, and ended so many seconds before it. */
const endedAgo = (seconds: number, outcome = 'failed'): WaitPlan => ({
  ageMs: 2 * hour,
  lengthMs: 2 * hour - seconds * second,
  outcome,
});

const idsOf = ({ outputs }: StepResult): string[] => JSON.parse(outputs['operation-ids'] ?? '');
const namedIn = (texts: readonly string[], ids: readonly string[]) => ids.filter((id) => texts.join().includes(id));

type Verdict = 'fails because of' | 'only warns of' | 'ignores';
test.for<[what: string, verdict: Verdict, seconds: number, since?: string]>([
  ['operation-id: all', 'fails because of', 59],
  ['operation-id: all', 'only warns of', 61],
  ['operation-id: all', 'only warns of', 595],
  ['operation-id: all', 'ignores', 601],
  ['since: 10m', 'fails because of', 599, '10m'],
  ['since: 10m', 'ignores', 601, '10m'],
])(
  'wait-operation with %s %s an operation that failed %i s before the step',
  async ([, verdict, ago, since], context) => {
    for (const clockAheadMs of [-10 * minute, 0, 10 * minute]) {
      const end = verdict === 'fails because of' ? red : nothing;
      const { result, ids } = await expectAllEnd(context, end, [endedAgo(ago)], { since }, { clockAheadMs });
      expect(namedIn(warningsOf(result), ids)).toEqual(verdict === 'only warns of' ? ids : []);
    }
  },
);

test.for([
  ['fails because of', 59, red],
  ['does not fail because of', 61, nothing],
] as const)(
  'without a Date header, wait-operation %s an operation that failed %i s before the step',
  async ([, ago, end], context) => {
    await expectAllEnd(context, end, [endedAgo(ago)], {}, { dateAheadMs: 'absent' });
  },
);

test.for([
  ['fails because of', '50 s before the step', endedAgo(50), red],
  ['does not fail because of', '70 s before the step', endedAgo(70), nothing],
  ['fails because of', 'in the meantime', { ageMs: hour, lengthMs: hour + minute, outcome: 'failed' }, red],
] as const)(
  'if the first response takes two minutes, wait-operation %s an operation that failed %s',
  async ([, , plan, end], context) => {
    const faults = [{ nth: 1, fault: retryAfter(429, 120) }];
    await expectAllEnd(context, end, [plan], {}, { faults });
  },
);

test('wait-operation with operation-id: all waits for unfinished operations, and for those that begin later', async (context) => {
  const plans = [{ ...runs(20 * 3_600 + 10), ageMs: 20 * hour }, runs(9), { ...runs(20), startsAfterMs: 8 * second }];
  const end = { status: 'finished', count: 3, by: 2, ms: atLeast(33 * second) };
  const { result, ids } = await expectAllEnd(context, end, plans);
  expect(idsOf(result).sort()).toEqual([...ids].sort());
});

/** The list shows it from a second after the beginning of the step, and it failed a second after its creation. */
const listedLate = (ageMs: number): WaitPlan => ({ ...failsIn(1), ageMs, appearsAfterMs: ageMs + second });
const hourOld = { ...ended, ageMs: hour };
test.for<[what: string, first: WaitPlan[], late: WaitPlan, count: number]>([
  ['fails the wait if it is younger than the oldest of the first list', [hourOld], listedLate(30 * minute), 1],
  ['is ignored if it is older than all of the first list', [hourOld], listedLate(90 * minute), 0],
  ['fails the wait if the first list was empty', [], listedLate(90 * minute), 1],
])('a failed operation that only the second list shows %s', async ([, first, late, count], context) => {
  const end = count === 0 ? nothing : { status: 'failed', count, by: first.length };
  await expectAllEnd(context, end, [...first, late]);
});

test.for<[which: string, filter: string | undefined, count: (action: string) => number]>([
  ['are ignored without a filter', undefined, () => 0],
  ['are ignored with a filter that excludes another action', 'action!=start_compute', () => 0],
  [
    'fail the wait if an action line of the filter names them',
    'action=suspend_*',
    (action) => (action === 'suspend_compute' ? 1 : 0),
  ],
])('failed operations that the service started by itself %s', async ([, filter, count], context) => {
  const automatic = ['suspend_compute', 'check_availability', 'tenant_detach', 'tenant_reattach'];
  for (const action of [...automatic, 'timeline_archive', 'timeline_unarchive']) {
    const end = count(action) === 0 ? nothing : { status: 'failed', count: 1, by: 0 };
    const plans = [
      { ...endedAgo(2), action },
      { ...endedAgo(120), action },
    ];
    const { result, ids } = await expectAllEnd(context, end, plans, { filter });
    // Only its time may exclude a failure that is told.
    expect(namedIn(warningsOf(result), ids)).toEqual(end === nothing ? [] : ids.slice(1));
  }
});

test('wait-operation without a filter waits for every action but those that the service starts by itself', async (context) => {
  const others = documentedActions.filter((action) => !['suspend_compute', 'check_availability'].includes(action));
  const plans = [...others, 'reticulate_splines'].map((action) => ({ ...runs(10), action }));
  await expectAllEnd(context, { status: 'finished', count: plans.length }, plans);
});

test.for<[does: string, what: string, filter: string, end: { status: string; count: number }]>([
  ['ignores', 'excludes', 'branch_id!=br-theirs', nothing],
  ['fails because of', 'admits', 'branch_id=br-*', { status: 'failed', count: 2 }],
])('wait-operation %s failed and unfinished operations that its filter %s', async ([, , filter, end], context) => {
  const theirs = { branchId: 'br-theirs' };
  const plans = [
    { ...endedAgo(2), ...theirs },
    { ...endedAgo(90), ...theirs },
    { ...forever, ...theirs },
  ];
  const { result } = await expectAllEnd(context, end, plans, { filter });
  if (end === nothing) expect(warningsOf(result)).toEqual([]);
});

const aged = (ms: number, plan: OperationPlan = ended): WaitPlan => ({ ...plan, ageMs: ms });
test.for<[what: string, plans: WaitPlan[], inputs: Inputs, count: number]>([
  [
    'goes on if the last operation of a page is younger than 24 hours',
    [aged(25 * hour, forever), ...many(100, aged(23 * hour))],
    {},
    1,
  ],
  [
    'ends after a page whose last operation is older than 24 hours',
    [aged(26 * hour, forever), ...many(100, aged(25 * hour))],
    {},
    0,
  ],
  [
    'counts an old unfinished operation at the end of the first page',
    [aged(200 * hour, forever), ...many(99, aged(190 * hour))],
    {},
    1,
  ],
  [
    'goes back 48 hours with since: 48h',
    [aged(47 * hour, failsIn(3_600)), ...many(100, aged(25 * hour))],
    { since: '48h' },
    101,
  ],
])('the first read of a list by wait-operation %s', async ([, plans, inputs, count], context) => {
  const whole = plans[0]?.outcome === 'failed' ? 'failed' : 'timeout';
  const end = { status: count === 0 ? 'finished' : whole, count };
  await expectAllEnd(context, end, plans, { timeout: '30s', ...inputs });
});

test.for<[what: string, newer: number, inputs: Inputs, verdict: string]>([
  ['sees the oldest of 1,000 operations', 999, {}, 'timeout'],
  ['warns that it does not see an operation behind 1,200 newer ones', 1_200, {}, 'finished'],
  ['fails if 1,200 operations are newer than since: 2h', 1_200, { since: '2h' }, 'error'],
])('wait-operation %s', async ([, newer, inputs, verdict], context) => {
  const plans = [aged(hour, forever), ...many(newer, aged(59 * minute))];
  const { result } = await expectAllEnd(context, verdict, plans, { timeout: '30s', ...inputs }, lastPage);
  const warned = warningsOf(result).filter((text) => /1,?000/.test(text) && /older/.test(text));
  if (verdict !== 'error') expect(warned).toHaveLength(verdict === 'finished' ? 1 : 0);
});

test('a later read of a list by wait-operation ends at the first page on which nothing is new', async (context) => {
  const plans = many(450, aged(hour));
  const { paths } = await expectAllEnd(context, nothing, plans, {}, lastPage);
  expect(paths()).toHaveLength(5 + 1);
});

test.for<[what: string, plans: WaitPlan[]]>([
  ['there is no operation', []],
  ['all operations ended long before', many(3, endedAgo(3_600))],
])('wait-operation succeeds with one notice if %s, but fails with fail-on: empty', async ([, plans], context) => {
  const { result, projectId } = await expectAllEnd(context, nothing, plans);
  expect(noticesOf(result)).toEqual([expect.stringContaining(projectId)]);
  await expectAllEnd(context, { status: 'empty', count: 0, says: /fail-on/ }, plans, { 'fail-on': 'empty' });
});

test('wait-operation with fail-on: empty succeeds if one of its two projects had an operation', (context) =>
  expectAllEnd(context, { status: 'finished', count: 1 }, [runs(3)], { 'fail-on': 'empty' }, { projects: 2 }));
