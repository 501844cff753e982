import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault, FaultRule, Operation, OperationPlan } from '../control-plane/index.js';
import { seededRandom } from '../control-plane/random.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { errorOf, type Stage, type StageOptions, setStage, warningsOf } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';

const second = 1_000;
const minute = 60 * second;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const failedAtOnce = { lengthMs: 0, outcome: 'failed' };
const unknownId = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
const seeds = Array.from({ length: 20 }, (_, n) => n + 1);
/** Of sums of milliseconds with fractions. */
const rounding = 0.01;

type Inputs = NonNullable<StepOptions['inputs']>;

/** A wait for one operation. */
async function waitForOne(context: TestContext, plan: OperationPlan, inputs: Inputs = {}, options: StageOptions = {}) {
  const stage = await setStage(context, { operations: 0, ...options });
  const operation = stage.operation(plan);
  const result = await stage.run({ 'operation-id': operation.id, ...inputs });
  return { ...stage, operation, result, times: stage.times(), took: tookOf(result) };
}

function tookOf({ outputs }: StepResult): number {
  return Number(outputs['duration-ms']);
}

function idsOf(operations: readonly Operation[]): string {
  return operations.map(({ id }) => id).join(' ');
}

function many(stage: Stage, count: number, plan: OperationPlan): Operation[] {
  return Array.from({ length: count }, () => stage.operation(plan));
}

/** More ended operations than one read of the newest 200 shows. */
function bury(stage: Stage): void {
  many(stage, 250, { lengthMs: 0 });
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? 0));
}

function status(code: number, retryAfterSeconds?: number): Fault {
  return retryAfterSeconds === undefined
    ? { kind: 'status', status: code }
    : { kind: 'status', status: code, retryAfter: { seconds: retryAfterSeconds } };
}

function endpoints({ service }: Pick<Stage, 'service'>): string[] {
  return service.requests.map(({ endpoint }) => endpoint);
}

describe('the outcome of an operation', () => {
  test('an operation that finishes lets the step succeed', async (context) => {
    const { result, operation } = await waitForOne(context, { lengthMs: 10 * second, schedulingMs: 2 * second });

    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'finished', count: '1', 'operation-id': operation.id });
    expect(result.log).toMatch(/create_branch on \S+ \[.+\]: running → finished/);
  });

  test('an operation that fails makes the step fail, and the error says what to do', async (context) => {
    const { result, operation } = await waitForOne(context, { lengthMs: second, outcome: 'failed' });

    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': operation.id });
    expect(errorOf(result)).toContain(operation.id);
    expect(errorOf(result)).toMatch(/Do not deploy on top of this/);
  });

  test.for([
    ['skipped', 'finished', 'success'],
    ['error', 'failed', 'failure'],
    ['cancelled', 'failed', 'failure'],
  ] as const)(
    'an operation that ends as %s counts as %s and is reported as such',
    async ([word, verdict, end], context) => {
      const { result } = await waitForOne(context, { lengthMs: second, outcome: word });

      expect(result.outputs).toMatchObject({ status: verdict, count: '1' });
      expect(result.conclusion).toBe(end);
      expect(result.log).toMatch(new RegExp(`→ ${word}`));
      expect(result.summary).toContain(word);
      expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: word }]);
      expect(warningsOf(result)).toEqual([]);
    },
  );

  test('an operation that is cancelling is still running', async (context) => {
    const course = [
      { afterMs: 0, status: 'cancelling' },
      { afterMs: minute, status: 'finished' },
    ] as const;
    const { result, took } = await waitForOne(context, { course });

    expect(result.conclusion).toBe('success');
    expect(result.log).toMatch(/cancelling → finished/);
    expect(took).toBeGreaterThanOrEqual(minute);
    expect(warningsOf(result)).toEqual([]);
  });

  test('an unknown status is still running, with one warning for all operations', async (context) => {
    const stage = await setStage(context);
    const course = [
      { afterMs: 0, status: 'hibernating' },
      { afterMs: 5 * second, status: 'constructor' },
      { afterMs: 20 * second, status: 'finished' },
    ] as const;
    const result = await stage.run({ 'operation-id': idsOf(many(stage, 3, { course })) });

    expect(result.conclusion).toBe('success');
    expect(tookOf(result)).toBeGreaterThanOrEqual(20 * second);
    expect(warningsOf(result)).toEqual([expect.stringMatching(/unknown status “hibernating”/)]);
  });

  test.for(['', 'done', 'Finished', ' finished', 'toString', '__proto__'])(
    'the unknown status “%s” ends no wait',
    async (word, context) => {
      const { result } = await waitForOne(context, { course: [{ afterMs: 0, status: word }] }, { timeout: '1m' });

      expect(result.conclusion).toBe('failure');
      // A record without a status is unusable; another word is waited for.
      expect(result.outputs['status']).toBe(word === '' ? 'error' : 'timeout');
    },
  );

  test('any word of action is accepted', async (context) => {
    const { result } = await waitForOne(context, { lengthMs: 0, action: 'reticulate_splines' });

    expect(result.conclusion).toBe('success');
    expect(result.log).toContain('reticulate_splines');
    expect(warningsOf(result)).toEqual([]);
  });
});

describe('the pace of polling', () => {
  test('the first poll is immediate, and each pause is at most 500 ms or a quarter of the time so far, and 5 s', async (context) => {
    for (const seed of seeds) {
      const { times } = await waitForOne(context, { lengthMs: 5 * minute }, {}, { seed });
      expect(times[0]).toBe(0);
      for (const [n, gap] of gaps(times).entries()) {
        const max = Math.min(5 * second, Math.max(500, (times[n] ?? 0) / 4));
        expect(gap).toBeLessThanOrEqual(max + rounding);
        expect(gap).toBeGreaterThan(max / 4);
      }
    }
  });

  test('the lag after an end is under 500 ms or a quarter of the length, and under 5 s', async (context) => {
    const random = seededRandom(7);
    for (const seed of seeds) {
      const lengthMs = 200 * (30 * 60 * 5) ** random();
      const { result, took } = await waitForOne(context, { lengthMs }, { timeout: '6h' }, { seed });
      expect(result.outputs['status']).toBe('finished');
      expect(took - lengthMs).toBeLessThanOrEqual(Math.min(5 * second, Math.max(500, lengthMs / 4)) + 1);
    }
  });

  test('waits that start together do not poll together', async (context) => {
    const fifth = new Set<number | undefined>();
    for (const seed of seeds) fifth.add((await waitForOne(context, { lengthMs: minute }, {}, { seed })).times[5]);
    expect(fifth.size).toBe(seeds.length);
  });

  test.for(['100ms', '7s', '2m'])('poll-interval: %s is exactly that', async (interval, context) => {
    const ms = { '100ms': 100, '7s': 7 * second, '2m': 2 * minute }[interval] ?? 0;
    const { times } = await waitForOne(context, { lengthMs: 10 * ms }, { 'poll-interval': interval, timeout: '1h' });
    expect(times).toHaveLength(11);
    for (const gap of gaps(times)) expect(gap).toBeCloseTo(ms, 3);
  });

  for (const interval of ['auto', '2s']) {
    test.for([423, 429])(
      `each %i at least doubles the pause, up to 60 s (poll-interval: ${interval})`,
      async (code, context) => {
        for (const seed of seeds.slice(0, 8)) {
          const faults = [{ from: 3, count: 12, fault: status(code) }];
          const inputs = { 'poll-interval': interval, timeout: '15m' };
          const pauses = gaps((await waitForOne(context, forever, inputs, { seed, faults })).times);
          for (let n = 1; n <= 12; n++) {
            const [before, after] = [pauses[n] ?? Number.NaN, pauses[n + 1] ?? Number.NaN];
            expect(after).toBeGreaterThanOrEqual(Math.min(minute, 2 * before) - rounding);
            expect(after).toBeLessThanOrEqual(minute + rounding);
          }
        }
      },
    );

    test(`successful polls bring a slow pace back gradually (poll-interval: ${interval})`, async (context) => {
      for (const seed of seeds.slice(0, 4)) {
        const faults = [{ from: 3, count: 8, fault: status(429) }];
        const inputs = { 'poll-interval': interval, timeout: '30m' };
        const pauses = gaps((await waitForOne(context, forever, inputs, { seed, faults })).times);
        expect(pauses[9]).toBe(Math.max(...pauses));
        expect(pauses[9]).toBeGreaterThan(10 * second);
        expect(pauses[10]).toBeGreaterThan(5 * second);
        for (const pause of pauses.slice(-20, -1)) expect(pause).toBeLessThanOrEqual(5 * second + rounding);
      }
    });
  }

  test.for([1, 4])('a Retry-After of 200 s on request %i is never undercut', async (nth, context) => {
    for (const seed of seeds) {
      const faults = [{ nth, fault: status(429, 200) }];
      const { times, result } = await waitForOne(context, { lengthMs: minute }, { timeout: '1h' }, { seed, faults });
      expect(result.outputs['status']).toBe('finished');
      expect(gaps(times)[nth - 1]).toBeGreaterThanOrEqual(200 * second);
    }
  });

  test('a long Retry-After does not slow down the polls after it', async (context) => {
    for (const seed of seeds) {
      const faults = [{ nth: 3, fault: status(429, 600) }];
      const { times } = await waitForOne(context, forever, { timeout: '1h' }, { seed, faults });
      expect(gaps(times)[2]).toBeGreaterThanOrEqual(600 * second);
      expect(gaps(times)[3]).toBeLessThanOrEqual(minute);
      expect(gaps(times)[4]).toBeLessThanOrEqual(25 * second);
    }
  });

  test('a wait that is throttled once learns of the end within 10 s', async (context) => {
    for (const seed of seeds) {
      const random = seededRandom(seed);
      const lengthMs = 500 + 3 * minute * random();
      const faults = [{ nth: 1 + Math.floor(random() * 15), fault: status(429) }];
      const { took } = await waitForOne(context, { lengthMs }, {}, { seed, faults });
      expect(took - lengthMs).toBeLessThan(10 * second);
    }
  });

  // Only the two dates of one response tell how long to wait: the clock of the service may be wrong.
  test.for([
    ['seconds', { kind: 'status', status: 503, retryAfter: { seconds: 20 } }],
    ['a date of a service in the past', dated(503, '01 Jan 2001 00:00')],
    ['a date of a service in the future', dated(503, '01 Jan 2091 00:00')],
  ] as [string, Fault][])(
    'a Retry-After as %s is honoured before and after the first response',
    async ([, fault], context) => {
      for (const nth of [1, 3]) {
        const { times } = await waitForOne(context, { lengthMs: minute }, {}, { faults: [{ nth, fault }] });
        expect(gaps(times)[nth - 1]).toBeGreaterThanOrEqual(20 * second);
        expect(gaps(times)[nth - 1]).toBeLessThan(26 * second);
      }
    },
  );
});

function dated(code: number, minutes: string): Fault {
  return { kind: 'status', status: code, headers: { date: `${minutes}:00 GMT`, 'retry-after': `${minutes}:20 GMT` } };
}

describe('failures before the first successful response', () => {
  const failing: readonly Fault[] = [
    ...[408, 425, 503, 520, 530].map((code) => status(code)),
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'empty-body' },
    { kind: 'html' },
    { kind: 'hang-before-headers' },
  ];
  test.for(failing)('a request is given up after 5 attempts: %o', async (fault, context) => {
    const { times, result } = await waitForOne(context, { lengthMs: 0 }, {}, { faults: [{ fault }] });
    expect(times).toHaveLength(5);
    expect(result.outputs['status']).toBe('error');
  });

  test('423 and 429 are no failures, and attempts of each kind of failure add up', async (context) => {
    const faults: FaultRule[] = [
      { nth: 1, fault: status(503) },
      { from: 2, count: 10, fault: status(429) },
      { from: 12, count: 3, fault: { kind: 'cut-mid-body' } },
    ];
    const { times, result } = await waitForOne(context, { lengthMs: 0 }, { timeout: '1h' }, { faults });
    expect(result.outputs['status']).toBe('finished');
    expect(times).toHaveLength(15);
  });

  test.for([423, 429])('%i is retried until the deadline', async (code, context) => {
    const { times, result } = await waitForOne(
      context,
      forever,
      { timeout: '30m' },
      { faults: [{ fault: status(code) }] },
    );
    expect(result.outputs['status']).toBe('timeout');
    expect(errorOf(result)).toContain(`status ${code}`);
    expect(times.length).toBeGreaterThan(20);
    expect(times.at(-1)).toBe(30 * minute);
  });

  test('a Retry-After of more than a minute is honoured', async (context) => {
    const { times, result } = await waitForOne(
      context,
      { lengthMs: 0 },
      {},
      { faults: [{ nth: 1, fault: status(503, 90) }] },
    );
    expect(result.outputs['status']).toBe('finished');
    expect(times[1]).toBeGreaterThanOrEqual(90 * second);
  });

  test('a retried request that succeeds is not named as the last error', async (context) => {
    const faults: FaultRule[] = [{ nth: 1, fault: status(503) }];
    const { result } = await waitForOne(context, forever, { timeout: '1m' }, { faults });
    expect(result.outputs['status']).toBe('timeout');
    expect(result.log.match(/The service responds again/g)).toHaveLength(1);
    expect(errorOf(result)).not.toMatch(/Last error/);
  });
});

describe('failures after the first successful response', () => {
  const failing: readonly Fault[] = [
    status(500),
    status(503),
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'bad-json' },
    { kind: 'html' },
    { kind: 'redirect', location: '/' },
    { kind: 'hang-mid-body' },
    { kind: 'drip', intervalMs: second },
    { kind: 'delay', ms: minute },
    { kind: 'endless-body' },
  ];
  test.for(failing)('polling continues until the deadline, and the last error is named: %o', async (fault, context) => {
    const inputs = { timeout: '20m', 'request-timeout': '10s' };
    const { times, result, took, operation } = await waitForOne(context, { lengthMs: minute }, inputs, {
      faults: [{ from: 2, fault }],
    });
    expect(result.outputs['status']).toBe('timeout');
    expect(result.outputs['operations']).toContain(operation.id);
    expect(errorOf(result)).toMatch(/Last error: /);
    expect(times.length).toBeGreaterThan(30);
    expect(Math.max(...gaps(times))).toBeLessThanOrEqual(15 * second + rounding);
    expect(took).toBeLessThanOrEqual(20 * minute + 2 * second);
  });

  test.for(failing)('a wait survives them: %o', async (fault, context) => {
    const faults = [{ from: 2, count: 12, fault }];
    const { result } = await waitForOne(
      context,
      { lengthMs: minute },
      { timeout: '1h', 'request-timeout': '10s' },
      { faults },
    );
    expect(result.conclusion).toBe('success');
  });

  test('a Retry-After of more than a minute counts as a minute', async (context) => {
    const faults = [{ nth: 3, fault: status(503, 3_600) }];
    const { times } = await waitForOne(context, { lengthMs: 5 * minute }, { timeout: '1h' }, { faults });
    expect(gaps(times)[2]).toBeGreaterThanOrEqual(minute);
    expect(gaps(times)[2]).toBeLessThan(minute + 6 * second);
  });

  test.for([400, 401, 403, 405, 409, 410, 422])('%i is final', async (code, context) => {
    const { times, result } = await waitForOne(context, forever, {}, { faults: [{ nth: 4, fault: status(code) }] });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toContain(`status ${code}`);
    expect(result.log).not.toMatch(/will retry/);
    expect(times).toHaveLength(4);
  });

  test('the log reports a failing poll once, and the recovery once', async (context) => {
    const faults = [{ from: 2, count: 5, fault: status(502) }];
    const { result } = await waitForOne(context, { lengthMs: minute }, {}, { faults });
    expect(result.conclusion).toBe('success');
    expect(result.log.match(/Poll failed, will retry/g)).toHaveLength(1);
    expect(result.log.match(/The service responds again/g)).toHaveLength(1);
  });

  test('a deadline that interrupts a request is not reported as its request-timeout', async (context) => {
    const faults: FaultRule[] = [{ from: 2, fault: { kind: 'hang-before-headers' } }];
    const { result } = await waitForOne(context, forever, { timeout: '10s', 'request-timeout': '30s' }, { faults });
    expect(result.outputs['status']).toBe('timeout');
    expect(result.log).not.toContain('request-timeout');
  });
});

describe('an operation that is not found', () => {
  test('one that was never seen is an error after 5 s, and the error names likely causes', async (context) => {
    for (const seed of seeds) {
      const stage = await setStage(context, { seed });
      const result = await stage.run({ 'operation-id': unknownId });
      const lastAt = stage.times().at(-1);
      expect(result.outputs['status']).toBe('error');
      expect(lastAt).toBeGreaterThanOrEqual(5 * second);
      expect(lastAt).toBeLessThan(7 * second);
      expect(errorOf(result)).toMatch(new RegExp(`Project ${stage.projectId} has no operation ${unknownId} .*404`));
      expect(errorOf(result)).toMatch(/There is no such operation\./);
      expect(errorOf(result)).toMatch(
        /Does it belong to another project\? Check base-url \(it usually ends in \/v2\) and project-id\. A key without access gets 404 too/,
      );
    }
  });

  test('one that appears within 5 s of its first 404 is waited for', async (context) => {
    const early = await waitForOne(context, { appearsAfterMs: 4_900, lengthMs: 20 * second });
    const faults = [{ nth: 1, fault: status(503, 30) }];
    const late = await waitForOne(context, { appearsAfterMs: 33 * second, lengthMs: minute }, {}, { faults });
    for (const { result } of [early, late]) expect(result.outputs['status']).toBe('finished');
  });

  test.for([{ 'operation-id': unknownId }, { 'operation-id': 'all', 'project-id': 'no-such-project' }])(
    'with timeout: 0 it is an error at once: %o',
    async (inputs, context) => {
      const stage = await setStage(context);
      const result = await stage.run({ ...inputs, timeout: '0' });
      expect(result.outputs['status']).toBe('error');
      expect(stage.times()).toEqual([0]);
      expect(errorOf(result)).toMatch(/key without access gets 404/);
    },
  );

  test.for([{ 'operation-id': unknownId }, { 'operation-id': 'all', 'project-id': 'no-such-project' }])(
    'a deadline that comes first is a timeout that names the 404: %o',
    async (inputs, context) => {
      const stage = await setStage(context);
      const result = await stage.run({ ...inputs, timeout: '3s' });
      expect(result.outputs['status']).toBe('timeout');
      expect(errorOf(result)).toMatch(/key without access gets 404/);
    },
  );

  test('one that was seen is looked for during 30 s', async (context) => {
    for (const seed of seeds) {
      const { result, times } = await waitForOne(context, { ...forever, vanishesAfterMs: 40 * second }, {}, { seed });
      const firstMissed = times.find((time) => time >= 40 * second) ?? Number.NaN;
      expect(result.outputs['status']).toBe('error');
      expect((times.at(-1) ?? 0) - firstMissed).toBeGreaterThanOrEqual(30 * second);
      expect((times.at(-1) ?? 0) - firstMissed).toBeLessThan(36 * second);
      expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'running' }]);
    }
  });

  test('one that comes back within 30 s is waited for, and may vanish again', async (context) => {
    const stage = await setStage(context);
    const { plane } = stage.service;
    const plan = { ...forever, id: unknownId };
    let operation = stage.operation(plan);
    for (const away of [20 * second, 70 * second]) {
      stage.after(away, () => plane.removeOperation(operation));
      stage.after(away + 24 * second, () => {
        operation = stage.operation(plan);
      });
    }
    stage.after(2 * minute, () => plane.endOperation(operation));
    expect((await stage.run({ 'operation-id': unknownId })).outputs['status']).toBe('finished');
  });

  test('one that the list has shown again gets another 30 s', async (context) => {
    const stage = await setStage(context);
    const others = many(stage, 2, forever);
    const operation = stage.operation({ ...forever, appearsAfterMs: 1_200, vanishesAfterMs: 36 * second });
    const result = await stage.run({ 'operation-id': idsOf([...others, operation]) });
    expect(result.outputs['status']).toBe('error');
    expect(tookOf(result)).toBeGreaterThan(65 * second);
  });

  test('others are followed meanwhile, but the step fails', async (context) => {
    const stage = await setStage(context);
    const others = many(stage, 3, { lengthMs: second });
    const result = await stage.run({ 'operation-id': `${idsOf(others)} ${unknownId}` });
    expect(result.outputs).toMatchObject({ status: 'error', count: '3' });
    expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([1, 2, 3].map(() => ({ status: 'finished' })));
    expect(errorOf(result)).toContain(unknownId);
  });
});

describe('several operations', () => {
  test('two are requested singly', async (context) => {
    const stage = await setStage(context);
    const result = await stage.run({ 'operation-id': idsOf(many(stage, 2, { lengthMs: 5 * second })) });
    expect(result.conclusion).toBe('success');
    expect(new Set(endpoints(stage))).toEqual(new Set(['get-operation']));
  });

  test('a hundred need two requests a poll', async (context) => {
    const stage = await setStage(context);
    const operations = many(stage, 100, { lengthMs: 5 * second });
    const result = await stage.run({ 'operation-id': idsOf(operations), 'poll-interval': '1s' });
    expect(result.conclusion).toBe('success');
    expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual(operations.map(({ id }) => id));
    expect(endpoints(stage).length).toBeLessThanOrEqual(2 * 6);
    expect(new Set(endpoints(stage))).toEqual(new Set(['list-operations']));
  });

  test('the list is read only while more than two are pending', async (context) => {
    const stage = await setStage(context);
    const ids = [second, 20 * second, 20 * second].map((lengthMs) => stage.operation({ lengthMs }).id);
    await stage.run({ 'operation-id': ids.join(), 'poll-interval': '3s' });
    expect(endpoints(stage).slice(0, 4)).toEqual([
      'list-operations',
      'list-operations',
      'get-operation',
      'get-operation',
    ]);
  });

  test('only those that the newest 200 do not show are requested singly', async (context) => {
    const stage = await setStage(context);
    const old = many(stage, 2, { lengthMs: 10 * second });
    bury(stage);
    const young = many(stage, 5, { lengthMs: 10 * second });
    const result = await stage.run({ 'operation-id': idsOf([...old, ...young]), 'poll-interval': '1m' });
    expect(result.conclusion).toBe('success');
    const first = stage.service.requests.filter((_, n) => stage.times()[n] === 0);
    expect(first.map(({ path }) => path.replace(/.*operations/, '').replace(/&?cursor=[^&]*/, ''))).toEqual([
      '?limit=100',
      '?limit=100',
      ...old.map(({ id }) => `/${id}`),
    ]);
  });

  test.for([
    ['true', 10],
    ['false', 60],
  ] as const)(
    'with fail-fast: %s a failure among them ends the step after about %i s',
    async ([failFast, took], context) => {
      const stage = await setStage(context);
      const plans = [
        { lengthMs: 10 * second, outcome: 'failed', failuresCount: 7 },
        { lengthMs: minute },
        { lengthMs: 5 * second },
      ];
      const operations = plans.map((plan) => stage.operation(plan));
      const result = await stage.run({ 'operation-id': idsOf(operations), 'fail-fast': failFast });
      const [failed, slow] = operations.map(({ id }) => id);
      expect(result.outputs).toMatchObject({ status: 'failed', count: '3', 'operation-id': failed });
      expect(tookOf(result)).toBeGreaterThanOrEqual(took * second);
      expect(tookOf(result)).toBeLessThan(took * 1.3 * second);
      expect(errorOf(result)).toMatch(
        new RegExp(`^1 of 3 operations in project \\S+ failed: .*${failed}.*failures_count 7`),
      );
      const stopped = new RegExp(`Stopped waiting for: .*${slow}`);
      if (failFast === 'true') expect(errorOf(result)).toMatch(stopped);
      else expect(errorOf(result)).not.toMatch(stopped);
    },
  );

  test('failed takes precedence over timeout', async (context) => {
    const stage = await setStage(context);
    const operations = [failedAtOnce, forever].map((plan) => stage.operation(plan));
    const result = await stage.run({ 'operation-id': idsOf(operations), 'fail-fast': 'false', timeout: '1m' });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': operations[0]?.id });
    expect(errorOf(result)).toContain(operations[1]?.id);
  });

  test.for(['true', 'false'])(
    'a request that hangs does not hide that another operation failed (fail-fast: %s)',
    async (failFast, context) => {
      const stage = await setStage(context);
      const [hanging, failing] = [forever, { lengthMs: 2 * second, outcome: 'failed' }].map((plan) =>
        stage.operation(plan),
      );
      stage.service.faults.add({ path: hanging?.id ?? '', fault: { kind: 'hang-before-headers' } });
      const inputs = { timeout: '1m', 'request-timeout': '1m', 'fail-fast': failFast };
      const result = await stage.run({ 'operation-id': `${hanging?.id} ${failing?.id}`, ...inputs });
      expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failing?.id });
      if (failFast === 'true') expect(tookOf(result)).toBeLessThan(4 * second);
    },
  );

  test('a status of 500 for one operation does not hide that another failed', async (context) => {
    const stage = await setStage(context);
    const [unseen, failing] = [forever, { lengthMs: 10 * second, outcome: 'failed' }].map((plan) =>
      stage.operation(plan),
    );
    stage.service.faults.add({ path: unseen?.id ?? '', from: 2, fault: status(500) });
    const result = await stage.run({ 'operation-id': `${unseen?.id} ${failing?.id}`, timeout: '1m' });
    expect(result.outputs['status']).toBe('failed');
    expect(tookOf(result)).toBeLessThanOrEqual(13 * second);
  });

  test('a request that hangs delays none of a hundred others', async (context) => {
    const stage = await setStage(context);
    const old = many(stage, 100, { lengthMs: 10 * second });
    bury(stage);
    stage.service.faults.add({ path: old[3]?.id ?? '', count: 1, fault: { kind: 'hang-before-headers' } });
    const result = await stage.run({ 'operation-id': idsOf(old), 'request-timeout': '40s' });
    expect(result.conclusion).toBe('success');
    expect(tookOf(result)).toBeLessThan(46 * second);
    const late = stage.service.requests.filter((_, n) => (stage.times()[n] ?? 0) > 15 * second);
    expect(new Set(late.map(({ path }) => path.split('/').at(-1)))).toEqual(new Set([old[3]?.id]));
  });

  test('a hundred outside the newest 200 are seen within 3 s where a response takes 150 ms, at most 12 at once', async (context) => {
    const stage = await setStage(context, { faults: [{ fault: { kind: 'delay', ms: 150 } }] });
    const old = many(stage, 100, { lengthMs: 0 });
    bury(stage);
    const result = await stage.run({ 'operation-id': idsOf(old), timeout: '10s' });
    expect(result.conclusion).toBe('success');
    expect(tookOf(result)).toBeLessThan(3 * second);
    expect(maxConcurrent(stage.service.requests)).toBe(12);
  });

  const unusable: readonly Fault[] = [
    { kind: 'status', status: 200, body: '{"operations":{}}' },
    { kind: 'bad-json' },
    { kind: 'html', status: 200 },
  ];
  test.for(unusable)('an unusable list falls back to single requests: %o', async (fault, context) => {
    const stage = await setStage(context, { faults: [{ endpoint: 'list-operations', fault }] });
    const result = await stage.run({ 'operation-id': idsOf(many(stage, 3, { lengthMs: 0 })), 'request-timeout': '5m' });
    expect(result.outputs['status']).toBe('finished');
    expect(tookOf(result)).toBe(0);
    expect(endpoints(stage).sort()).toEqual(['get-operation', 'get-operation', 'get-operation', 'list-operations']);
  });

  test('a list whose pages never end falls back to single requests', async (context) => {
    const id = (n: number) => unknownId.replace(/.$/, String(n));
    const record = (n: number) => ({ id: id(n), status: 'finished' });
    const stage = await setStage(context, {
      respond: (path, n) =>
        path.includes('?')
          ? JSON.stringify({ operations: [record(9)], pagination: { cursor: `c${n}` } })
          : JSON.stringify({ operation: record(Number(path.at(-1))) }),
    });
    const result = await stage.run({ 'operation-id': [1, 2, 3].map(id).join() });
    expect(result.outputs).toMatchObject({ status: 'finished', count: '3' });
    expect(result.log).not.toMatch(/will retry/);
  });

  test('a list that hangs is replaced by single requests', async (context) => {
    const stage = await setStage(context, {
      faults: [{ endpoint: 'list-operations', fault: { kind: 'hang-before-headers' } }],
    });
    const plans = [forever, forever, { lengthMs: second, outcome: 'failed' }];
    const operations = plans.map((plan) => stage.operation(plan));
    const result = await stage.run({ 'operation-id': idsOf(operations), 'request-timeout': '5m' });
    expect(result.outputs['status']).toBe('failed');
    expect(tookOf(result)).toBeLessThan(3 * second);
  });

  test('an unusable record of an unrelated operation does not fail the step', async (context) => {
    const stage = await setStage(context);
    const operations = many(stage, 3, { lengthMs: 20 * second });
    stage.operation({ fields: { status: null } });
    expect((await stage.run({ 'operation-id': idsOf(operations) })).outputs['status']).toBe('finished');
  });

  test('several 429 of one burst slow the wait down once', async (context) => {
    const stage = await setStage(context, { trip: () => 20 });
    const operations = many(stage, 12, { lengthMs: 2 * second });
    bury(stage);
    stage.service.faults.add({ endpoint: 'get-operation', count: 12, fault: status(429) });
    const result = await stage.run({ 'operation-id': idsOf(operations) });
    expect(result.conclusion).toBe('success');
    expect(tookOf(result)).toBeLessThan(25 * second);
  });

  test('after a 429 nothing is sent before its Retry-After has passed', async (context) => {
    const stage = await setStage(context, { trip: () => 20 });
    const operations = many(stage, 40, forever);
    bury(stage);
    stage.service.faults.add({ endpoint: 'get-operation', nth: 3, fault: status(429, 30) });
    await stage.run({ 'operation-id': idsOf(operations), timeout: '80s' });
    // The 429 answers the fifth request, behind two pages. What was sent before its response arrived takes two trips.
    const throttledAt = stage.times()[4] ?? Number.NaN;
    expect(stage.times().filter((time) => time > throttledAt + 40 && time < throttledAt + 30 * second)).toEqual([]);
    expect(stage.times().some((time) => time > throttledAt + 30 * second)).toBe(true);
  });

  test.for([423, 503])(
    'the Retry-After of a %i for one operation does not hold up the others',
    async (code, context) => {
      const stage = await setStage(context);
      const [held, failing] = [forever, { lengthMs: 10 * second, outcome: 'failed' }].map((plan) =>
        stage.operation(plan),
      );
      stage.service.faults.add({ path: held?.id ?? '', from: 2, fault: status(code, 50) });
      const result = await stage.run({ 'operation-id': `${held?.id} ${failing?.id}`, timeout: '2m' });
      expect(result.outputs['status']).toBe('failed');
      expect(tookOf(result)).toBeLessThan(30 * second);
      const heldTimes = stage.times().filter((_, n) => stage.service.requests[n]?.path.includes(held?.id ?? ''));
      expect(heldTimes).toHaveLength(2);
    },
  );

  test('the Retry-After of one operation does not hold up the list of the others', async (context) => {
    const stage = await setStage(context);
    const old = stage.operation(forever);
    bury(stage);
    const others = many(stage, 3, forever);
    stage.service.faults.add({ path: old.id, nth: 2, fault: status(503, 20) });
    await stage.run({ 'operation-id': idsOf([old, ...others]), timeout: '30s', 'poll-interval': '1s' });
    const timesOf = (part: string) => stage.times().filter((_, n) => stage.service.requests[n]?.path.includes(part));
    expect(timesOf(old.id)[2]).toBeGreaterThanOrEqual(21 * second);
    expect(timesOf('?limit').filter((time) => time > second && time < 20 * second).length).toBeGreaterThan(30);
  });
});

describe('progress', () => {
  test('the log names what is waited for and the timeout, then each change, then the end', async (context) => {
    const inputs = { timeout: '1h30m', 'poll-interval': '100ms' };
    const { result, operation, projectId } = await waitForOne(
      context,
      { ageMs: 90 * second, lengthMs: 91 * second, branchId: 'br-1' },
      inputs,
    );
    expect(
      result.log
        .trimEnd()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      `0ms  Waiting for 1 operation in project ${projectId} (timeout 1h 30m).`,
      `0ms  create_branch on br-1 [${operation.id}]: running, created 1m 30s ago`,
      `1s  create_branch on br-1 [${operation.id}]: running → finished after 1m 31s`,
      '1 operation finished.',
    ]);
  });

  test('a minute without a change gets a heartbeat that names what is pending and the time left', async (context) => {
    const { result, operation } = await waitForOne(
      context,
      { course: [{ afterMs: 0, status: 'running' }], branchId: 'br-1' },
      { timeout: '3m30s' },
    );
    const lines = result.log.split('\n').filter((line) => line.includes('Still waiting'));
    expect(lines.map((line) => line.trim())).toEqual([
      `1m  Still waiting for create_branch on br-1 [${operation.id}] (running); 2m 30s left.`,
      `2m  Still waiting for create_branch on br-1 [${operation.id}] (running); 1m 30s left.`,
      `3m  Still waiting for create_branch on br-1 [${operation.id}] (running); 30s left.`,
    ]);
  });

  test('a change starts the minute of the heartbeat anew', async (context) => {
    const { result } = await waitForOne(context, { schedulingMs: 50 * second, lengthMs: 105 * second });
    expect(result.conclusion).toBe('success');
    expect(result.log).not.toContain('Still waiting');
  });

  test('a heartbeat names three of many pending operations, and counts the others', async (context) => {
    const stage = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
    const operations = many(stage, 5, forever);
    const result = await stage.run({ 'operation-id': idsOf(operations), timeout: '90s', 'request-timeout': '80s' });
    const [one, two, three] = operations.map(({ id }) => id);
    expect(result.log).toContain(`Still waiting for [${one}], [${two}], [${three}], and 2 more; 30s left.`);
  });

  test('a heartbeat before the first list says so', async (context) => {
    const stage = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
    const result = await stage.run({ 'operation-id': 'all', timeout: '90s', 'request-timeout': '80s' });
    expect(result.log).toContain('Still waiting for the list of operations; 30s left.');
  });
});

describe('the deadline', () => {
  test.for(['finished', 'failed'])('one final poll sees what has just %s', async (outcome, context) => {
    const inputs = { timeout: '1m', 'poll-interval': '50s' };
    const { result, times } = await waitForOne(context, { lengthMs: 59_999, outcome }, inputs);
    expect(result.outputs['status']).toBe(outcome);
    expect(times).toEqual([0, 50 * second, minute]);
  });

  test('the final poll is one more request also if the service has closed the idle connection', async (context) => {
    const faults: FaultRule[] = [{ nth: 1, fault: { kind: 'close-on-next-request' } }];
    const { result } = await waitForOne(
      context,
      { lengthMs: 5 * second },
      { timeout: '8s', 'poll-interval': '1h' },
      { faults },
    );
    expect(result.outputs['status']).toBe('finished');
  });

  test('a final poll that shows no end is a timeout, and the error says what is pending', async (context) => {
    const { result, times, operation } = await waitForOne(
      context,
      { lengthMs: 60_001 },
      { timeout: '1m', 'poll-interval': '1h' },
    );
    expect(result.outputs).toMatchObject({ status: 'timeout', 'operation-id': operation.id });
    expect(errorOf(result)).toMatch(
      /^Timed out after 1m\. 1 operation in project \S+ had not finished: .*raise timeout/,
    );
    expect(times).toEqual([0, minute]);
  });

  test.for([status(503), { kind: 'cut-before-headers' }] as Fault[])(
    'the final poll is not repeated, and its failure is named: %o',
    async (fault, context) => {
      const inputs = { timeout: '10s', 'poll-interval': '1h' };
      const { result, times } = await waitForOne(context, forever, inputs, { faults: [{ from: 2, fault }] });
      expect(result.outputs['status']).toBe('timeout');
      expect(times).toEqual([0, 10 * second]);
      expect(errorOf(result)).toMatch(/Last error: /);
    },
  );

  test('the final poll also requests what a Retry-After has put off', async (context) => {
    for (const count of [1, 2, 4]) {
      const stage = await setStage(context);
      const operations = many(stage, count, { lengthMs: 25 * second });
      stage.service.faults.add({ nth: 2, fault: status(503, 44) });
      const result = await stage.run({ 'operation-id': idsOf(operations), timeout: '30s', 'poll-interval': '5s' });
      expect(result.outputs).toMatchObject({ status: 'finished', count: String(count) });
    }
  });

  for (const kind of ['hang-before-headers', 'hang-mid-body'] as const) {
    test.for([1, 5])(`${kind} from request %i on does not move it by 2 s`, async (from, context) => {
      const { result, took } = await waitForOne(
        context,
        forever,
        { timeout: '20s' },
        { faults: [{ from, fault: { kind } }] },
      );
      expect(result.outputs['status']).toBe('timeout');
      expect(took).toBeGreaterThanOrEqual(20 * second);
      expect(took).toBeLessThan(22 * second);
    });
  }

  test('slow responses to a final poll of many do not move it by 2 s', async (context) => {
    const stage = await setStage(context, { faults: [{ from: 2, fault: { kind: 'delay', ms: 900 } }] });
    const old = many(stage, 20, forever);
    bury(stage);
    const result = await stage.run({ 'operation-id': idsOf(old), timeout: '20s' });
    expect(result.outputs['status']).toBe('timeout');
    expect(tookOf(result)).toBeLessThan(22 * second);
  });

  for (const nth of [1, 6]) {
    test.for([423, 429])(
      `a Retry-After of %i on request ${nth} that ends later ends the step at once, without a final poll`,
      async (code, context) => {
        const { result, times, took } = await waitForOne(
          context,
          forever,
          { timeout: '1m' },
          { faults: [{ nth, fault: status(code, 61) }] },
        );
        expect(result.outputs['status']).toBe('timeout');
        expect(errorOf(result)).toMatch(
          new RegExp(`^Stopped early, because the service asks to wait beyond the timeout.*status ${code}.*1m 01s`),
        );
        expect(times).toHaveLength(nth);
        expect(Math.abs(took - (times.at(-1) ?? Number.NaN))).toBeLessThan(1);
      },
    );
  }

  test('a Retry-After of 503 that ends later leaves the final poll', async (context) => {
    const { result, times } = await waitForOne(
      context,
      { lengthMs: second },
      { timeout: '1m' },
      { faults: [{ nth: 1, fault: status(503, 90) }] },
    );
    expect(result.outputs['status']).toBe('finished');
    expect(times).toEqual([0, minute]);
  });

  test('a control API that never responded is named as such, and a longer timeout is not advised', async (context) => {
    const { result } = await waitForOne(
      context,
      forever,
      { timeout: '20s' },
      { faults: [{ fault: { kind: 'hang-before-headers' } }] },
    );
    expect(errorOf(result)).toMatch(/The control API never responded\. Check base-url, and the network and proxy/);
    expect(errorOf(result)).not.toMatch(/raise timeout|may still finish/);
  });

  test('operations that no response showed are counted', async (context) => {
    const stage = await setStage(context);
    const operations = many(stage, 2, forever);
    stage.service.faults.add({ path: operations[0]?.id ?? '', fault: { kind: 'hang-before-headers' } });
    const result = await stage.run({ 'operation-id': idsOf(operations), timeout: '20s' });
    expect(errorOf(result)).toMatch(/The control API never reported the status of 1 operation\. Check base-url/);
  });
});

describe('timeout: 0', () => {
  test.for([
    [{ lengthMs: 0 }, 'finished'],
    [failedAtOnce, 'failed'],
    [forever, 'timeout'],
  ] as const)('checks once: %o is %s', async ([plan, verdict], context) => {
    const { result, times } = await waitForOne(context, plan, { timeout: '0' });
    expect(result.outputs).toMatchObject({ status: verdict, count: '1' });
    expect(times).toEqual([0]);
    if (verdict === 'timeout') expect(errorOf(result)).toMatch(/^Polled once \(timeout: 0\)\./);
  });

  const failing: readonly Fault[] = [
    status(503),
    status(404),
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'bad-json' },
    { kind: 'hang-before-headers' },
    { kind: 'hang-mid-body' },
    { kind: 'drip', intervalMs: 100 },
  ];
  test.for(failing)('repeats nothing, and takes at most request-timeout: %o', async (fault, context) => {
    const inputs = { timeout: '0', 'request-timeout': '10s' };
    const { result, times, took } = await waitForOne(context, { lengthMs: 0 }, inputs, { faults: [{ fault }] });
    expect(result.outputs['status']).toBe('error');
    expect(result.conclusion).toBe('failure');
    expect(result.log).not.toMatch(/will retry/);
    expect(times).toEqual([0]);
    expect(took).toBeLessThanOrEqual(10 * second);
    if (fault.kind.startsWith('hang')) expect(errorOf(result)).toContain('request-timeout');
  });

  test('a 429 is not retried', async (context) => {
    const { result, times } = await waitForOne(
      context,
      { lengthMs: 0 },
      { timeout: '0' },
      { faults: [{ fault: status(429, 1) }] },
    );
    expect(result.outputs['status']).toMatch(/^(error|timeout)$/);
    expect(times).toEqual([0]);
  });

  test('a failed operation is seen behind one that is not found', async (context) => {
    const stage = await setStage(context);
    const failed = stage.operation(failedAtOnce);
    const result = await stage.run({ 'operation-id': `${unknownId} ${failed.id}`, timeout: '0' });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': failed.id });
  });
});

describe('a cancel', () => {
  const moments: Readonly<Record<string, FaultRule[]>> = {
    'between two polls': [],
    'while a request hangs': [{ from: 3, fault: { kind: 'hang-before-headers' } }],
    'during a back-off': [{ from: 3, fault: status(503, 50) }],
    'while the service asks to wait': [{ from: 3, fault: status(429, 50) }],
    'before the first response': [{ fault: { kind: 'hang-before-headers' } }],
  };
  for (const timeout of ['10m', '0']) {
    test.for(Object.entries(moments))(
      `ends the step at once, with timeout: ${timeout}, %s`,
      async ([, faults], context) => {
        const stage = await setStage(context, { faults });
        const operations = [forever, failedAtOnce].map((plan) => stage.operation(plan));
        const step = stage.start({ 'operation-id': idsOf(operations), 'fail-fast': 'false', timeout });
        stage.after(12_345, () => void step.cancel());
        const result = await step.done;
        if (timeout === '0' && faults[0]?.from !== undefined) return expect(result.conclusion).toBe('failure');
        if (timeout === '0' && faults.length === 0) return expect(result.outputs['status']).toBe('failed');
        expect(result.outputs['status']).toBe('cancelled');
        expect(tookOf(result)).toBe(12_345);
        expect(result.exitCode).toBe(1);
        expect(() => errorOf(result)).toThrow(/found 0/);
        expect(result.summary).toMatch(/Cancelled; [01] of 2 operations had ended/);
      },
    );
  }
});

test('a bad network opens no gate', async (context) => {
  const kinds: readonly Fault[] = [
    ...(['hang-before-headers', 'hang-mid-body', 'cut-before-headers', 'cut-mid-body', 'bad-json'] as const).map(
      (kind) => ({ kind }),
    ),
    ...(['empty-body', 'html', 'endless-body', 'close-on-next-request'] as const).map((kind) => ({ kind })),
    { kind: 'drip', intervalMs: 1_000 },
    { kind: 'delay', ms: 3_000 },
    { kind: 'redirect', location: 'https://elsewhere.test/' },
    ...[status(500), status(503, 10), status(404), status(429), status(423, 5)],
  ];
  const verdicts: string[] = [];
  for (let seed = 0; seed < 150; seed++) {
    const random = seededRandom(seed);
    const faults = kinds.map((fault) => ({ fault, probability: 0.06 * random() }));
    const stage = await setStage(context, { seed, operations: 5, trip: () => 200 * random(), faults });
    const operations = Array.from({ length: 1 + (seed % 4) }, () =>
      stage.operation({
        lengthMs: random() < 0.15 ? Number.POSITIVE_INFINITY : 90 * second * random(),
        outcome: random() < 0.1 ? 'failed' : 'finished',
      }),
    );
    const isAll = seed % 3 === 0;
    const inputs = { timeout: '2m', 'request-timeout': '5s', 'fail-fast': random() < 0.5 };
    const result = await stage.run({ 'operation-id': isAll ? 'all' : idsOf(operations), ...inputs });
    const verdict = result.outputs['status'] ?? '';
    const truth = operations.map((operation) => stage.service.plane.statusOf(operation));
    expect(tookOf(result)).toBeLessThan(2 * minute + 2 * second);
    expect(result.conclusion).toBe(verdict === 'finished' ? 'success' : 'failure');
    if (verdict === 'failed') expect(truth).toContain('failed');
    // An operation that failed before the first successful poll does not count for `all`.
    if (verdict === 'finished')
      expect(truth.filter((word) => word !== 'finished' && !(isAll && word === 'failed'))).toEqual([]);
    verdicts.push(verdict);
  }
  expect(verdicts.filter((verdict) => verdict === 'finished').length).toBeGreaterThan(30);
  expect(new Set(verdicts).size).toBeGreaterThan(2);
});
