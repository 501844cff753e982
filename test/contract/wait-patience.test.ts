import { expect, test } from 'vitest';
import { delay, hang, html, inWords, lost, page, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage } from '../kit/stage.js';
import { atLeast, second, seconds } from '../kit/times.js';
import type { WaitPlan } from '../kit/wait.js';
import { all, during, ended, every, expectEnd, failsIn, forever, many, meets, patient, runs } from '../kit/wait.js';

const targets: [what: string, count: number, inputs: Inputs][] = [
  ['one id', 1, {}],
  ['five ids', 5, {}],
  ['operation-id: all', 1, all],
];
const missing: WaitPlan = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };

/** First one stage, then another. */
const both = (...stages: { before: (stage: Stage) => void }[]) => ({
  before: (stage: Stage) => {
    for (const { before } of stages) before(stage);
  },
});

for (const [what, count, inputs] of targets) {
  test.for(inWords(status(503), html))(
    `wait-operation with ${what} fails after a minute, not after 58 s, if it only gets %s`,
    async ([, fault], context) => {
      const plans = many(count, runs(70));
      await expectEnd(context, { status: 'finished', count }, plans, inputs, during(0, 58, fault));
      await expectEnd(context, { status: 'error', ms: seconds(60, 66) }, plans, inputs, during(0, 75, fault));
    },
  );

  test.for(inWords(status(423), retryAfter(423, 90), retryAfter(429, 90)))(
    `wait-operation with ${what} does not fail before a minute after %s`,
    async ([, fault], context) => {
      const then503 = (to: number) => both(during(0, 90, fault), during(90, to, status(503)));
      await expectEnd(context, { status: 'finished', count }, many(count, runs(1)), inputs, then503(140));
      await expectEnd(context, { status: 'error' }, many(count, runs(1)), inputs, then503(180));
    },
  );
}

const passing = inWords(...[302, 408, 423, 425, 503].map((code) => status(code)), page(404), lost, hang);
for (const [what, count, inputs] of targets)
  test.for(passing)(
    `wait-operation with ${what} goes on after a response if it gets %s for two minutes`,
    async ([, fault], context) => {
      await expectEnd(context, { status: 'finished', count }, many(count, runs(130)), inputs, during(5, 125, fault));
    },
  );

for (const [what, count, inputs] of targets)
  test.for<[what: string, from: number, to: number, pause: string, verdict: string]>([
    ['goes on after a 4xx for 9 s', 20.5, 29.5, '1s', 'finished'],
    ['fails after a 4xx for 12 s', 20.5, 32.5, '1s', 'error'],
    ['goes on after two 4xx in 11 s', 20, 40, '11s', 'finished'],
    ['fails after three 4xx in 22 s', 20, 50, '11s', 'error'],
  ])(`wait-operation with ${what} %s`, async (row, context) => {
    const [, from, to, pause, verdict] = row;
    const isError = verdict === 'error';
    for (const code of [400, 404, 422]) {
      const ms = isError ? seconds(from + 10, to + 0.5) : atLeast(60 * second);
      const end = { status: verdict, ms, says: isError ? new RegExp(`\\b${code}\\b`) : undefined };
      const options = during(from, to, status(code));
      await expectEnd(context, end, many(count, runs(60)), { ...inputs, ...every(pause) }, options);
    }
  });

test('wait-operation goes on if it gets a 404 for 9 s three times, with usable responses between', async (context) => {
  const often = both(...[5, 23, 41].map((from) => during(from, from + 9, status(404))));
  for (const [, count, inputs] of targets)
    await expectEnd(context, 'finished', many(count, runs(70)), { ...inputs, ...every('2s') }, often);
});

test.for<[what: string, plans: WaitPlan[], inputs: Inputs, from: number]>([
  ['its only id', [missing], {}, 10],
  ['one of five ids', [...many(4, runs(30)), missing], patient, 30],
])('wait-operation fails if %s never appears', async ([, plans, inputs, from], context) => {
  const { result, ids } = await expectEnd(context, { status: 'error', ms: seconds(from, from + 4) }, plans, inputs);
  expect(errorOf(result)).toContain(ids.at(-1));
  expect(result.outputs['operation-id']).toBe(ids.at(-1));
});

test.for(inWords(hang, status(503), status(423)))(
  'wait-operation sees the failure of one operation while it gets %s for another',
  async ([, fault], context) => {
    const end = { status: 'failed', by: 1, ms: seconds(20, 26) };
    for (const others of [0, 3])
      await expectEnd(context, end, [meets(forever, fault), failsIn(20), ...many(others, forever)], {}, { buried: 1 });
  },
);

test.for([
  ['one request', 4.9, 1],
  ['two requests', 5.1, 2],
  ['two requests', 9.9, 2],
  ['three requests', 10.1, 3],
] as const)('wait-operation gives up slow responses: it sends %s if each response takes %f s', async (row, context) => {
  const [, delayed, requests] = row;
  const faults = [{ fault: delay(delayed * second) }];
  await expectEnd(context, { status: 'finished', requests }, [ended], {}, { faults });
});

test.for([
  ['finished', 19.9],
  ['error', 20.1],
] as const)('wait-operation ends as %s if each response takes %f s', async ([verdict, delayed], context) => {
  for (const [, , inputs] of targets)
    await expectEnd(context, verdict, [ended], inputs, { faults: [{ fault: delay(delayed * second) }] });
});

test('wait-operation with five ids fails after 10 s if the list gets a 404 and single requests hang', async (context) => {
  const faults = [
    { endpoint: 'list-operations', fault: status(404) },
    { endpoint: 'get-operation', fault: hang },
  ] as const;
  await expectEnd(context, { status: 'error', ms: seconds(10, 16), says: /404/ }, many(5, forever), {}, { faults });
});
