import { expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import { delay, hang, html, lost, onOperations, page, retryAfter, status, truncated } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage } from '../kit/stage.js';
import { atLeast, second, seconds } from '../kit/times.js';
import {
  all,
  during,
  ended,
  every,
  expectEnd,
  failsIn,
  forever,
  many,
  meets,
  patient,
  runs,
  type WaitPlan,
} from '../kit/wait.js';

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
  test.for([status(503), status(302), html, lost])(
    `with ${what}, %o from the start ends the step as error after a minute, not after 58 s`,
    async (fault, context) => {
      const plans = many(count, runs(70));
      await expectEnd(context, { status: 'finished', count }, plans, inputs, during(0, 58, fault));
      await expectEnd(context, { status: 'error', ms: seconds(60, 66) }, plans, inputs, during(0, 75, fault));
    },
  );

  test.for([status(423), status(429), retryAfter(429, 90)])(
    `with ${what}, the minute without a usable response begins anew after each %o`,
    async (fault, context) => {
      const then503 = (to: number) => both(during(0, 90, fault), during(90, to, status(503)));
      await expectEnd(context, { status: 'finished', count }, many(count, runs(1)), inputs, then503(140));
      await expectEnd(context, { status: 'error' }, many(count, runs(1)), inputs, then503(180));
    },
  );
}

const passing: Fault[] = [
  ...[302, 408, 423, 425, 429, 501, 503].map((code) => status(code)),
  ...[page(404), html, lost, truncated, hang],
  ...(['bad-json', 'endless-body'] as const).map((kind) => ({ kind })),
];
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

test('a 407 is final also as an HTML page', (context) => {
  const end = { status: 'error', ms: seconds(20, 34) };
  return expectEnd(context, end, [forever], every('1s'), during(20, 60, page(407)));
});

test.for<[what: string, plans: WaitPlan[], inputs: Inputs, from: number]>([
  ['the only given id', [missing], {}, 10],
  ['one of five given ids', [...many(4, forever), missing], {}, 10],
  ['one of five given ids with fail-fast: false', [...many(4, runs(30)), missing], patient, 30],
])('%s that never appears ends the step as error', async ([, plans, inputs, from], context) => {
  const { result, ids } = await expectEnd(context, { status: 'error', ms: seconds(from, from + 4) }, plans, inputs);
  expect(errorOf(result)).toContain(ids.at(-1));
  expect(result.outputs['operation-id']).toBe(ids.at(-1));
});

test('a project that does not exist ends a wait for all as error after 10 s', (context) =>
  expectEnd(context, { status: 'error', ms: seconds(10, 14), says: /no-such-project/ }, [], {
    ...all,
    'project-id': 'no-such-project',
  }));

test.for([hang, status(503), status(423)])(
  '%o for one operation does not hide the failure of another',
  async (fault, context) => {
    const end = { status: 'failed', by: 1, ms: seconds(20, 26) };
    for (const others of [0, 3])
      await expectEnd(context, end, [meets(forever, fault), failsIn(20), ...many(others, forever)], {}, { buried: 1 });
  },
);

test.for<[delayed: number, status: string, requests?: number]>([
  [4.9, 'finished', 1],
  [5.1, 'finished', 2],
  [9.9, 'finished', 2],
  [10.1, 'finished', 3],
  [19.9, 'finished', 3],
  [20.1, 'error'],
])('with responses that take %f s, a wait for an ended operation ends as %s (requests: %s)', async (row, context) => {
  const [delayed, status, requests] = row;
  const end = requests === undefined ? { status } : { status, requests };
  await expectEnd(context, end, [ended], {}, { faults: [{ fault: delay(delayed * second) }] });
});

test.for([
  [4.9, 'finished'],
  [19.9, 'finished'],
  [20.1, 'error'],
] as const)('with lists that take %f s, a wait for all ends as %s', async ([delayed, verdict], context) => {
  await expectEnd(context, verdict, [ended], all, { faults: [onOperations(delay(delayed * second))] });
});

test.for([423, 429])(
  'a %d that asks for 90 s at the start, and then one 503, do not end a wait',
  async (code, context) => {
    const faults = [
      { fault: retryAfter(code, 90), nth: 1 },
      { fault: status(503), nth: 2 },
    ];
    await expectEnd(context, 'finished', [ended], {}, { faults });
  },
);
