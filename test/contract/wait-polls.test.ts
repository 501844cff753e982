import { expect, test } from 'vitest';
import type { OperationPlan } from '../../control-plane/index.js';
import { seededRandom } from '../../control-plane/random.js';
import { delay, hang, onOperations, retryAfter, status } from '../kit/fault.js';
import { hour, setStage } from '../kit/stage.js';
import { gaps, maxConcurrent, second, seconds } from '../kit/times.js';
import {
  all,
  during,
  ended,
  every,
  expectAllEnd,
  expectEnd,
  failsIn,
  forever,
  lastPage,
  many,
  nothing,
  runs,
  targets,
  type WaitOptions,
} from '../kit/wait.js';

test.for(targets)(
  'wait-operation with %s pauses for a quarter of the time waited, at least 0.5 s and at most 3.3 s',
  async ([, inputs], context) => {
    const { times } = await expectEnd(context, 'timeout', [forever], { timeout: '2m', ...inputs }, lastPage);
    expect(times()[0]).toBe(0);
    for (const [n, gap] of gaps(times()).slice(0, -1).entries()) {
      const pause = Math.min(3.3, Math.max(0.5, (times()[n] ?? 0) / 4 / second));
      expect(gap).toEqual(seconds(pause - 0.01, pause + 0.05));
    }
  },
);

test.for([
  ['250ms', 0.25],
  ['20s', 20],
] as const)(
  'wait-operation with poll-interval: %s pauses for that time between all polls',
  async ([pause, length], context) => {
    const faults = [{ fault: delay(200) }];
    const { times } = await expectEnd(context, 'timeout', [forever], { timeout: '61s', ...every(pause) }, { faults });
    // The last gap ends with the deadline.
    for (const gap of gaps(times()).slice(0, -1)) expect(gap).toEqual(seconds(length, length + 0.25));
  },
);

const lastPollAt1m = { timeout: '1m', ...every('59s') };

test.for<[verdict: string, what: string, plan: OperationPlan, options?: WaitOptions]>([
  ['finished', 'shows that the operation has just ended', runs(59.9)],
  ['timeout', 'shows that the operation is still running', runs(60.1)],
  ['finished', 'takes 1.4 s', runs(59.9), { faults: [{ from: 3, fault: delay(1_400) }] }],
  ['timeout', 'takes 1.6 s', runs(59.9), { faults: [{ from: 3, fault: delay(1_600) }] }],
  ['finished', 'falls into the pause after a 429', runs(30), { faults: [{ nth: 2, fault: retryAfter(429, 90) }] }],
])('wait-operation ends as %s if its last poll at the deadline %s', async ([verdict, , plan, options], context) => {
  await expectEnd(context, { status: verdict, by: 0, ms: seconds(59, 62) }, [plan], lastPollAt1m, options);
});

test('wait-operation gives a request that is under way at the deadline 1.5 s more', async (context) => {
  const faults = (ms: number) => [
    { nth: 2, fault: delay(ms) },
    { from: 2, fault: hang },
  ];
  // The second poll begins at 58 s.
  const inputs = { timeout: '1m', ...every('58s') };
  await expectEnd(context, { status: 'finished', ms: seconds(60, 61.6) }, [runs(57)], inputs, {
    faults: faults(3_400),
  });
  await expectEnd(context, { status: 'timeout', ms: seconds(60, 62) }, [runs(57)], inputs, { faults: faults(3_600) });
});

test('wait-operation with 30 projects sends eight last requests even in the pause after a 429', async (context) => {
  const plans = Array.from({ length: 30 }, (_, project) => ({ ...forever, project }));
  const options = { projects: 30, ...during(40, 59, retryAfter(429, 90)) };
  const { times } = await expectAllEnd(context, 'timeout', plans, { timeout: '1m', ...every('15s') }, options);
  expect(times().filter((time) => time >= 60 * second)).toHaveLength(8);
});

test('wait-operation asks for each of six ids at the deadline if the list hangs', async (context) => {
  const end = { status: 'finished', count: 6, ms: seconds(60, 62) };
  await expectEnd(context, end, many(6, runs(59.5)), lastPollAt1m, { faults: [onOperations(hang, { from: 2 })] });
});

const once = { timeout: '0' };

test.for(targets)('wait-operation with timeout: 0 and %s polls once', async ([, target], context) => {
  const inputs = { ...once, ...target };
  for (const [plan, verdict] of [
    [ended, 'finished'],
    [failsIn(0), 'failed'],
    [forever, 'timeout'],
  ] as const)
    await expectEnd(context, { status: verdict, count: 1, by: 0, requests: 1, ms: 0 }, [plan], inputs, lastPage);
});

test.for(targets)(
  'wait-operation with timeout: 0 and %s repeats a failed request for a minute',
  async ([, target], context) => {
    const inputs = { ...once, ...target };
    for (const fault of [status(503), status(429)]) {
      await expectEnd(context, { status: 'finished', ms: seconds(50, 60) }, [ended], inputs, during(0, 50, fault));
      const end = { status: expect.stringMatching(/^(error|timeout)$/), ms: seconds(60, 66) };
      await expectEnd(context, end, [ended], inputs, { faults: [{ fault }] });
    }
  },
);

test('wait-operation with timeout: 0 reads all pages of each project, even after a 503', async (context) => {
  const hourAgo = { ageMs: hour, project: 2 };
  const plans = [{ ...forever, ...hourAgo }, ...many(210, { ...ended, ...hourAgo })];
  const options = { projects: 3, faults: [{ nth: 4, fault: status(503) }], ...lastPage };
  await expectAllEnd(context, { status: 'timeout', by: 0 }, plans, once, options);
});

test('a step has at most 12 open requests at once', async (context) => {
  const options = { projects: 40, faults: [{ fault: delay(1_900) }] };
  const { service } = await expectAllEnd(context, 'finished', [], {}, options);
  expect(maxConcurrent(service.requests)).toBeLessThanOrEqual(12);
  expect(maxConcurrent(service.requests)).toBeGreaterThanOrEqual(11);
});

test('a step sends at most 9.5 requests a second after a first burst of 8', async (context) => {
  const end = { ...nothing, requests: 200, ms: seconds(20, 23) };
  const { times } = await expectAllEnd(context, end, [], {}, { projects: 100 });
  expect(times().filter((time) => time === 0)).toHaveLength(8);
  for (const [n, time] of times().entries()) expect(n + 1).toBeLessThanOrEqual(8 + (9.5 * time) / second + 0.1);
});

test.for<[what: string, seconds: number, fault: ReturnType<typeof status>, most: number]>([
  ['with Retry-After: 10', 10, retryAfter(429, 10), 13],
  ['without Retry-After', 1, status(429), 2.3],
])(
  'a 429 %s stops all requests of a step for %i s and a random time more',
  async ([, length, fault, most], context) => {
    const resumed = new Set<number>();
    for (let seed = 1; seed <= 3; seed++) {
      const options = { seed: 7_919 * seed, projects: 40, clockAheadMs: hour, faults: [{ nth: 20, fault }] };
      const { times } = await expectAllEnd(context, 'finished', [], {}, options);
      const [heldFrom = 0, next = 0] = times().slice(19);
      expect(next - heldFrom).toEqual(seconds(length, most));
      resumed.add(next);
      const after = times().filter((time) => time >= next && time < next + 3 * second).length;
      expect(after).toBeLessThan(9.5 * 3);
    }
    expect(resumed.size).toBeGreaterThan(1);
  },
);

test('a step lowers its request rate once for several 429s of one burst, and raises it again', async (context) => {
  const sentIn10s = async (count: number) => {
    // At the lower rate, all would take 35 s.
    const end = { status: 'finished', ms: seconds(20, 30) };
    const faults = [{ count, fault: status(429) }];
    const { times } = await expectAllEnd(context, end, [], {}, { trip: () => 50, projects: 100, faults });
    return times().filter((time) => time < 10 * second).length;
  };
  expect(await sentIn10s(8)).toBeGreaterThan(0.8 * (await sentIn10s(1)));
});

test('wait-operation reads 100 idle projects in at most 1.6 times the ideal time at 10 requests a second', async (context) => {
  for (let seed = 1; seed <= 2; seed++) {
    const random = seededRandom(seed);
    const limit = { perSecond: 10, bucket: 10, retryAfter: undefined };
    const options = { seed, projects: 100, limit, trip: () => 10 + 190 * random() };
    await expectAllEnd(context, { ...nothing, ms: seconds(5, 32.8) }, [], {}, options);
  }
});

test('30 parallel steps of one job all succeed if the service allows 12 requests a second', async (context) => {
  const random = seededRandom(1);
  const limit = { perSecond: 12, bucket: 12, retryAfter: undefined };
  const stage = await setStage(context, { operations: 0, oneJob: true, limit, trip: () => 10 + 190 * random() });
  const results = await Promise.all(Array.from({ length: 30 }, () => stage.start(all).done));
  expect(results.map(({ outputs }) => outputs['status'])).toEqual(Array(30).fill('finished'));
});
