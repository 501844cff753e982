import { expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import { hang, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage } from '../kit/stage.js';
import { between, second, seconds } from '../kit/times.js';
import { all, during, expectAllEnd, expectEnd, failsIn, forever, patient, runs } from '../kit/wait.js';

const but = (count: number, ...left: number[]) =>
  Array.from({ length: count }, (_, n) => n).filter((n) => !left.includes(n));

/** So many projects. All requests for some of them have this fault. */
const failing = (projects: number, faults: ReadonlyMap<number, Fault>) => ({
  projects,
  before: ({ service }: Stage) => {
    for (const [n, fault] of faults) service.faults.add({ path: `/${service.projectIds[n]}/`, fault });
  },
});

test('a project that is idle is not read again while others are busy', async (context) => {
  const later = { ...failsIn(1), project: 2, startsAfterMs: 20 * second };
  const end = { status: 'finished', count: 2, idle: [0, 1, 2], ms: seconds(65, 69) };
  const { service, timesOf } = await expectAllEnd(
    context,
    end,
    [runs(60), { ...runs(30), project: 1 }, later],
    {},
    { projects: 3 },
  );
  expect(timesOf(service.projectIds[2])).toHaveLength(2);
  expect(Math.max(...timesOf(service.projectIds[1]))).toBeLessThan(40 * second);
});

test.for([
  ['true', 'at once', 10, 2],
  ['false', 'when all others are idle', 65, 1],
] as const)(
  'with fail-fast: %s, a failure in one of three projects ends the step %s',
  async ([failFast, , from, idle], context) => {
    const plans = [failsIn(10), { ...runs(60), project: 1 }];
    const end = { status: 'failed', count: 2, by: 0, ms: seconds(from, from + 4), idle: idle === 1 ? [1, 2] : [2] };
    const { result, ids } = await expectAllEnd(context, end, plans, { 'fail-fast': failFast }, { projects: 3 });
    expect(errorOf(result)).toContain(ids[0]);
  },
);

test('a timeout names the pending operation, and idle-project-ids the projects without one', async (context) => {
  const plans = [
    { ...runs(20), project: 0 },
    { ...forever, project: 1 },
  ];
  const end = { status: 'timeout', count: 2, by: 1, idle: [0, 2], ms: seconds(60, 62) };
  const { result, ids } = await expectAllEnd(context, end, plans, { timeout: '1m' }, { projects: 3 });
  expect(errorOf(result)).toContain(ids[1]);
  expect(errorOf(result)).not.toContain(ids[0]);
});

test('idle-project-ids omits a project that was read only once when another failed', (context) =>
  expectAllEnd(context, { status: 'failed', idle: [] }, [failsIn(2)], {}, { projects: 2 }));

test('idle-project-ids omits a project that was not idle at the deadline', async (context) => {
  const plans = [{ ...runs(29), project: 1 }];
  await expectAllEnd(context, { status: 'timeout', idle: [0] }, plans, { timeout: '31s' }, { projects: 2 });
});

const hangsAnd500 = new Map<number, Fault>([
  [7, hang],
  [20, status(500)],
]);

test.for<[inputs: Inputs, verdict: string, from: number, to: number, idle: number[]]>([
  [{}, 'error', 60, 66, but(30, 3, 7, 20)],
  [patient, 'error', 105, 112, but(30, 7, 20)],
  [{ timeout: '40s' }, 'timeout', 40, 42, but(30, 3, 7, 20)],
])(
  'with the inputs %o, 30 projects of which one hangs and one answers 500 end the step as %s',
  async (row, context) => {
    const [inputs, verdict, from, to, idle] = row;
    const plans = [{ ...runs(100), project: 3 }];
    const end = { status: verdict, count: 1, ms: seconds(from, to), idle };
    const { result, service } = await expectAllEnd(context, end, plans, inputs, failing(30, hangsAnd500));
    const named = [7, 20].some((n) => errorOf(result).includes(service.projectIds[n] ?? '?'));
    if (verdict === 'error') expect(named).toBe(true);
  },
);

test.for<[what: string, fault: Fault]>([
  ['hang', hang],
  ['send their bodies slowly', { kind: 'drip', intervalMs: second }],
  ['answer 503', status(503)],
])('24 projects that %s do not delay the end of others', async ([, fault], context) => {
  const faults = new Map(Array.from({ length: 24 }, (_, n) => [n, fault]));
  const plans = [
    { ...failsIn(5), project: 24 },
    { ...forever, project: 25 },
  ];
  const end = { status: 'failed', by: 0, ms: seconds(5, 9.9) };
  await expectAllEnd(context, end, plans, {}, failing(26, faults));
});

test('a failed operation outranks the deadline, and the deadline a project without access', async (context) => {
  const faults = new Map([[2, status(403)]]);
  const inputs = { ...patient, timeout: '1m' };
  const busy = { ...forever, project: 1 };
  await expectAllEnd(context, { status: 'failed', by: 0, idle: [] }, [failsIn(9), busy], inputs, failing(3, faults));
  const { result, service } = await expectAllEnd(
    context,
    { status: 'timeout', idle: [0] },
    [busy],
    inputs,
    failing(3, faults),
  );
  expect(errorOf(result)).toContain(service.projectIds[2]);
  await expectAllEnd(context, { status: 'error', idle: [0, 1] }, [], inputs, failing(3, faults));
});

test.for<[moment: string, inputs: Inputs, options: object]>([
  ['between two polls', {}, {}],
  ['while a request hangs', {}, during(8, 60, hang)],
  ['while a 429 holds all requests', {}, during(8, 60, retryAfter(429, 60))],
  ['before the first response', {}, { faults: [{ fault: hang }] }],
  [
    'between the two reads of an idle project',
    { ...all, filter: 'branch_id=none' },
    { faults: [{ nth: 1, fault: retryAfter(429, 9) }] },
  ],
  ['in the last poll', { timeout: '12s' }, during(5, 60, hang)],
])('a cancellation %s ends the step at once, without an annotation', async ([, inputs, options], context) => {
  const at = 12_345;
  const end = { status: 'cancelled', ms: between(at, at + 100) };
  const { result } = await expectEnd(
    context,
    end,
    [forever, failsIn(1)],
    { ...patient, ...inputs },
    { ...options, cancelAfterMs: at },
  );
  expect(result.exitCode).toBe(1);
  expect(() => errorOf(result)).toThrow(/found 0/);
});
