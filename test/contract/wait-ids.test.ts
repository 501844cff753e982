import { expect, test } from 'vitest';
import { hang, html, inWords, onOperations, status } from '../kit/fault.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import { atLeast, between, second } from '../kit/times.js';
import { all, ended, expectEnd, failsIn, forever, listsBehind, many, patient, runs, targets } from '../kit/wait.js';

const pages = (paths: readonly string[]) => paths.filter((path) => path.includes('?')).length;
const singles = (paths: readonly string[]) => paths.length - pages(paths);

test.for<[first: string, then: string, end: string, verdict: string, ...unknown: string[]]>([
  ['scheduling', 'running', 'finished', 'finished'],
  ['running', 'running', 'skipped', 'finished'],
  ['running', 'running', 'failed', 'failed'],
  ['running', 'running', 'error', 'failed'],
  ['scheduling', 'hibernating', 'cancelled', 'failed', 'hibernating'],
])('one operation that reads show as %s, then %s, then %s ends wait-operation as %s', async (row, context) => {
  const [first, then, end, verdict, ...unknown] = row;
  const at = (seconds: number, word: string) => ({ afterMs: seconds * second, status: word });
  const plans = many(3, { course: [at(0, first), at(5, then), at(20, end)] });
  for (const target of [{}, all]) {
    const expected = { status: verdict, count: 3, ms: atLeast(20 * second) };
    const { result } = await expectEnd(context, expected, plans, { ...patient, ...target });
    expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject(Array(3).fill({ status: end }));
    expect(warningsOf(result)).toEqual(unknown.map((word) => expect.stringContaining(word)));
  }
});

test.for([
  ['Finished with a capital letter', 'Finished'],
  ['finished after a blank', ' finished'],
  ['finished before a null character', 'finished\u0000'],
  ['__proto__', '__proto__'],
] as const)('wait-operation goes on if the status of an operation is %s', async ([, word], context) => {
  for (const [, target] of targets)
    await expectEnd(context, 'timeout', [{ course: [{ afterMs: 0, status: word }] }], { timeout: '1m', ...target });
});

test.for([
  ['one id', 1],
  ['100 ids', 100],
] as const)('wait-operation with %s succeeds when the last operation has ended well', async ([, count], context) => {
  const plans = [...many(count - 1, runs(3)), runs(30)];
  const end = { status: 'finished', count, ms: between(30 * second, 34 * second) };
  const { result, ids } = await expectEnd(context, end, plans);
  expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual(ids);
});

test.for([
  ['true', 'at the first failure', 10],
  ['false', 'when all operations have ended', 60],
] as const)('wait-operation with fail-fast: %s ends %s', async ([failFast, , seconds], context) => {
  const plans = [runs(60), failsIn(10), runs(5)];
  const end = { status: 'failed', count: 3, by: 1, ms: between(seconds * second, (seconds + 3.4) * second) };
  const { result, ids } = await expectEnd(context, end, plans, { 'fail-fast': failFast });
  expect(errorOf(result)).toContain(ids[1]);
});

test.for([
  ['two ids with single requests', 2, 0, 2],
  ['three ids with one list', 3, 1, 0],
] as const)('wait-operation asks for %s', async ([, count, listed, single], context) => {
  const { paths } = await expectEnd(context, { status: 'finished', count }, many(count, ended));
  expect([pages(paths()), singles(paths())]).toEqual([listed, single]);
});

test.for([
  [1, 20, '20 ids behind 150 newer operations', 20, 20, 150],
  [2, 0, '21 ids behind 150 newer operations', 21, 21, 150],
  [11, 40, '40 ids behind 1,200 newer operations', 40, 40, 1_200],
] as const)('a poll of wait-operation sends %i list and %i single requests for %s', async (row, context) => {
  const [listed, single, , count, buried, buriedUnder] = row;
  const end = { status: 'finished', count };
  const { paths } = await expectEnd(
    context,
    end,
    many(count, ended),
    { 'poll-interval': '1m' },
    { buried, buriedUnder },
  );
  expect([pages(paths()), singles(paths())]).toEqual([listed, single]);
});

test('wait-operation with operation-id: all still waits for an operation that newer ones push off page 1', async (context) => {
  for (const outcome of ['finished', 'failed']) {
    const plans = [{ ...runs(60), outcome }, ...many(250, { ...ended, startsAfterMs: 10 * second })];
    await expectEnd(context, { status: outcome, count: 251, ms: atLeast(60 * second) }, plans, all);
  }
});

test('wait-operation with operation-id: all asks for each of 40 operations in turn if the list fails', async (context) => {
  const faults = [onOperations(status(503), { from: 2 })];
  const plans = [failsIn(20), ...many(39, forever)];
  await expectEnd(context, { status: 'failed', by: 0 }, plans, { timeout: '2m', ...all }, { faults });
});

test('wait-operation sees the end of operations that the list still shows as running', async (context) => {
  const end = { status: 'finished', count: 15, ms: between(60 * second, 62 * second) };
  const stuck = listsBehind((_, at) => Math.max(0, at - 1));
  await expectEnd(context, end, many(15, runs(59.9)), { timeout: '1m' }, stuck);
});

test.for(['finished', 'failed'])(
  'wait-operation keeps the status %s of an operation although later lists show it as running',
  async (outcome, context) => {
    const plans = [{ ...runs(6), outcome }, runs(40), runs(40), runs(40)];
    const options = listsBehind((_, at) => (at > 12 ? at - 2 : 0));
    const verdict = outcome === 'failed' ? 'failed' : 'timeout';
    for (const [, target] of targets) {
      const inputs = { ...patient, timeout: '30s', ...target };
      const { result, ids } = await expectEnd(context, verdict, plans, inputs, options);
      const seen: { id: string; status: string }[] = JSON.parse(result.outputs['operations'] ?? '');
      expect(seen.find(({ id }) => id === ids[0])?.status).toBe(outcome);
    }
  },
);

test.for(inWords(status(500), status(404), status(423), html))(
  'wait-operation with five ids asks for each one if the list gets %s',
  async ([, fault], context) => {
    const end = { status: 'finished', count: 5, ms: between(10 * second, 14 * second) };
    await expectEnd(context, end, many(5, runs(10)), {}, { faults: [onOperations(fault)] });
  },
);

test('wait-operation with five ids asks for each one if the list does not respond within 5 s', async (context) => {
  for (const seconds of [1, 45]) {
    const end = { status: 'finished', count: 5, ms: between(seconds * second, (seconds + 9) * second) };
    await expectEnd(context, end, many(5, runs(seconds)), {}, { faults: [onOperations(hang)] });
  }
});
