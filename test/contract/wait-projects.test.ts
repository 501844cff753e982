import { expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import { hang, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage } from '../kit/stage.js';
import { between, second, seconds } from '../kit/times.js';
import { during, expectAllEnd, expectEnd, failsIn, forever, patient, runs } from '../kit/wait.js';

/** So many projects. All requests for some of them have this fault. */
const failing = (projects: number, faults: ReadonlyMap<number, Fault>) => ({
  projects,
  before: ({ service }: Stage) => {
    for (const [n, fault] of faults) service.faults.add({ path: `/${service.projectIds[n]}/`, fault });
  },
});

test('wait-operation does not read an idle project again while others are busy', async (context) => {
  const later = { ...failsIn(1), project: 2, startsAfterMs: 20 * second };
  const end = { status: 'finished', count: 2, idle: [0, 1, 2], ms: seconds(65, 69) };
  const plans = [runs(60), { ...runs(30), project: 1 }, later];
  const { service, timesOf } = await expectAllEnd(context, end, plans, {}, { projects: 3 });
  expect(timesOf(service.projectIds[2])).toHaveLength(2);
  expect(Math.max(...timesOf(service.projectIds[1]))).toBeLessThan(40 * second);
});

test.for([
  ['true', 'at once', 10, 2],
  ['false', 'only when the others are idle', 65, 1],
] as const)(
  'wait-operation with fail-fast: %s ends %s after a failure in one of three projects',
  async ([failFast, , from, idle], context) => {
    const plans = [failsIn(10), { ...runs(60), project: 1 }];
    const end = { status: 'failed', count: 2, by: 0, ms: seconds(from, from + 4), idle: idle === 1 ? [1, 2] : [2] };
    const { result, ids } = await expectAllEnd(context, end, plans, { 'fail-fast': failFast }, { projects: 3 });
    expect(errorOf(result)).toContain(ids[0]);
  },
);

test('wait-operation names a pending operation in its timeout error, and other projects in idle-project-ids', async (context) => {
  const plans = [
    { ...runs(20), project: 0 },
    { ...forever, project: 1 },
  ];
  const end = { status: 'timeout', count: 2, by: 1, idle: [0, 2], ms: seconds(60, 62) };
  const { result, ids } = await expectAllEnd(context, end, plans, { timeout: '1m' }, { projects: 3 });
  expect(errorOf(result)).toContain(ids[1]);
  expect(errorOf(result)).not.toContain(ids[0]);
});

test('idle-project-ids omits a project that was read only once before another one failed', (context) =>
  expectAllEnd(context, { status: 'failed', idle: [] }, [failsIn(2)], {}, { projects: 2 }));

test.for<[what: string, fault: Fault]>([
  ['do not respond', hang],
  ['send their bodies slowly', { kind: 'drip', intervalMs: second }],
  ['answer with a 503', status(503)],
])('wait-operation ends at the failure in one project although 24 others %s', async ([, fault], context) => {
  const faults = new Map(Array.from({ length: 24 }, (_, n) => [n, fault]));
  const plans = [
    { ...failsIn(5), project: 24 },
    { ...forever, project: 25 },
  ];
  const end = { status: 'failed', by: 0, ms: seconds(5, 9.9) };
  await expectAllEnd(context, end, plans, {}, failing(26, faults));
});

test('wait-operation ends as failed rather than timeout, and as timeout rather than error', async (context) => {
  const faults = new Map([[2, status(403)]]);
  const inputs = { ...patient, timeout: '1m' };
  const busy = { ...forever, project: 1 };
  await expectAllEnd(context, { status: 'failed', by: 0, idle: [] }, [failsIn(9), busy], inputs, failing(3, faults));
  const late = { status: 'timeout', idle: [0] };
  const { result, service } = await expectAllEnd(context, late, [busy], inputs, failing(3, faults));
  expect(errorOf(result)).toContain(service.projectIds[2]);
  await expectAllEnd(context, { status: 'error', idle: [0, 1] }, [], inputs, failing(3, faults));
});

test.for<[moment: string, inputs: Inputs, options: object]>([
  ['between two polls', {}, {}],
  ['while a request hangs', {}, during(8, 60, hang)],
  ['in the pause after a 429', {}, during(8, 60, retryAfter(429, 60))],
  ['in the last poll', { timeout: '12s' }, during(5, 60, hang)],
])('a cancel %s ends wait-operation at once, without an annotation', async ([, inputs, options], context) => {
  const at = 12_345;
  const end = { status: 'cancelled', ms: between(at, at + 100) };
  const plans = [forever, failsIn(1)];
  const more = { ...options, cancelAfterMs: at };
  const { result } = await expectEnd(context, end, plans, { ...patient, ...inputs }, more);
  expect(result.exitCode).toBe(1);
  expect(() => errorOf(result)).toThrow(/found 0/);
});

test.for([
  ['one project', 'it only above its table', 1],
  ['two projects', 'them also in a column of its table', 2],
] as const)('the summary of wait-operation with %s names %s', async ([, , projects], context) => {
  const { result, service } = await expectAllEnd(context, 'finished', [runs(1)], {}, { projects });
  const { summary } = result;
  for (const id of service.projectIds) expect(summary.slice(0, summary.indexOf('<table>'))).toContain(id);
  expect(summary.includes('<th>Project</th>')).toBe(projects > 1);
});
