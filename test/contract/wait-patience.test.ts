import { expect, test } from 'vitest';
import { delay, hang, html, lost, page, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage } from '../kit/stage.js';
import { atLeast, second, seconds } from '../kit/times.js';
import type { WaitPlan } from '../kit/wait.js';
import { all, during, ended, every, expectEnd, failsIn, forever, many, meets, patient, runs } from '../kit/wait.js';

const targets: [what: string, count: number, inputs: Inputs][] = [
  ['one id', 1, {}],
  ['five ids', 5, {}],
  ['all', 1, all],
];
const missing: WaitPlan = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };

/** First one stage, then another. */
const both = (...stages: { before: (stage: Stage) => void }[]) => ({
  before: (stage: Stage) => {
    for (const { before } of stages) before(stage);
  },
});

for (const [what, count, inputs] of targets) {
  test.for([status(503), html])(
    `with ${what}, %o from the start ends the step as error after a minute, not after 58 s`,
    async (fault, context) => {
      const plans = many(count, runs(70));
      await expectEnd(context, { status: 'finished', count }, plans, inputs, during(0, 58, fault));
      await expectEnd(context, { status: 'error', ms: seconds(60, 66) }, plans, inputs, during(0, 75, fault));
    },
  );

  test.for([status(423), retryAfter(423, 90), retryAfter(429, 90)])(
    `with ${what}, the minute without a usable response begins anew after each %o`,
    async (fault, context) => {
      const then503 = (to: number) => both(during(0, 90, fault), during(90, to, status(503)));
      await expectEnd(context, { status: 'finished', count }, many(count, runs(1)), inputs, then503(140));
      await expectEnd(context, { status: 'error' }, many(count, runs(1)), inputs, then503(180));
    },
  );
}

const passing = [status(302), status(408), status(423), status(425), status(503), page(404), lost, hang];
for (const [what, count, inputs] of targets)
  test.for(passing)(`with ${what}, two minutes of %o after a response do not end the wait`, async (fault, context) => {
    await expectEnd(context, { status: 'finished', count }, many(count, runs(130)), inputs, during(5, 125, fault));
  });

for (const [what, count, inputs] of targets)
  test.for<[what: string, from: number, to: number, pause: string, verdict: string]>([
    ['for 9 s', 20.5, 29.5, '1s', 'finished'],
    ['for 12 s', 20.5, 32.5, '1s', 'error'],
    ['twice in 11 s', 20, 40, '11s', 'finished'],
    ['three times in 22 s', 20, 50, '11s', 'error'],
  ])(`with ${what}, a 4xx %s (seconds %f to %f, polls every %s) ends the step as %s`, async (row, context) => {
    const [, from, to, pause, verdict] = row;
    const isError = verdict === 'error';
    for (const code of [400, 404, 422]) {
      const ms = isError ? seconds(from + 10, to + 0.5) : atLeast(60 * second);
      const end = { status: verdict, ms, says: isError ? new RegExp(`\\b${code}\\b`) : undefined };
      const options = during(from, to, status(code));
      await expectEnd(context, end, many(count, runs(60)), { ...inputs, ...every(pause) }, options);
    }
  });

test('a 4xx for 9 s, again and again with usable responses between, does not end the wait', async (context) => {
  const often = both(...[5, 23, 41].map((from) => during(from, from + 9, status(404))));
  for (const [, count, inputs] of targets)
    await expectEnd(context, 'finished', many(count, runs(70)), { ...inputs, ...every('2s') }, often);
});

test.for<[what: string, plans: WaitPlan[], inputs: Inputs, from: number]>([
  ['the only given id', [missing], {}, 10],
  ['one of five given ids with fail-fast: false', [...many(4, runs(30)), missing], patient, 30],
])('%s that never appears ends the step as error', async ([, plans, inputs, from], context) => {
  const { result, ids } = await expectEnd(context, { status: 'error', ms: seconds(from, from + 4) }, plans, inputs);
  expect(errorOf(result)).toContain(ids.at(-1));
  expect(result.outputs['operation-id']).toBe(ids.at(-1));
});

test.for([hang, status(503), status(423)])(
  '%o for one operation does not hide the failure of another',
  async (fault, context) => {
    const end = { status: 'failed', by: 1, ms: seconds(20, 26) };
    for (const others of [0, 3])
      await expectEnd(context, end, [meets(forever, fault), failsIn(20), ...many(others, forever)], {}, { buried: 1 });
  },
);

test.for([
  [4.9, 1],
  [5.1, 2],
  [9.9, 2],
  [10.1, 3],
] as const)('with responses that take %f s, a wait for an ended operation sends %i requests', async (row, context) => {
  const [delayed, requests] = row;
  const faults = [{ fault: delay(delayed * second) }];
  await expectEnd(context, { status: 'finished', requests }, [ended], {}, { faults });
});

test.for([
  [19.9, 'finished'],
  [20.1, 'error'],
] as const)('with responses that take %f s, a wait ends as %s', async ([delayed, verdict], context) => {
  for (const [, , inputs] of targets)
    await expectEnd(context, verdict, [ended], inputs, { faults: [{ fault: delay(delayed * second) }] });
});

test('a 4xx to the list of given ids ends the wait after 10 s if no other answer ever came', async (context) => {
  const faults = [
    { endpoint: 'list-operations', fault: status(404) },
    { endpoint: 'get-operation', fault: hang },
  ] as const;
  await expectEnd(context, { status: 'error', ms: seconds(10, 16), says: /404/ }, many(5, forever), {}, { faults });
});
