import { describe, expect, test } from 'vitest';
import type { Fault, FaultRule, OperationPlan } from '../../control-plane/index.js';
import { seededRandom } from '../../control-plane/random.js';
import { hang, html, lost, retryAfter, status, truncated } from '../kit/fault.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { errorOf, type Stage, setStage, warningsOf } from '../kit/stage.js';
import { all, ended, failedAtOnce, forever, gaps, minute, second, tookOf, waitFor } from '../kit/wait.js';

const unknownId = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
const seeds = [1, 2, 3, 4, 5];
/** For rules that hold for any length of an operation. */
const manySeeds = Array.from({ length: 20 }, (_, n) => n + 1);
/** Of sums of milliseconds with fractions. */
const rounding = 0.01;

function many(count: number, plan: OperationPlan): OperationPlan[] {
  return Array(count).fill(plan);
}

function endpoints({ service }: Stage): string[] {
  return service.requests.map(({ endpoint }) => endpoint);
}

/** When the requests arrived whose path holds this text. */
function timesOf({ service, times }: Stage, part: string): number[] {
  return times().filter((_, n) => service.requests[n]?.path.includes(part));
}

describe('the outcome of an operation', () => {
  test.for([
    ['finished', 'finished', 'success'],
    ['skipped', 'finished', 'success'],
    ['failed', 'failed', 'failure'],
    ['error', 'failed', 'failure'],
    ['cancelled', 'failed', 'failure'],
  ] as const)('one that ends as %s counts as %s, whatever its action', async ([word, verdict, end], context) => {
    const plan = { lengthMs: 10 * second, schedulingMs: second, action: 'reticulate_splines', outcome: word };
    const { result, ids } = await waitFor(context, [plan]);
    expect(result.conclusion).toBe(end);
    expect(result.outputs).toMatchObject({ status: verdict, count: '1', 'operation-id': ids[0] });
    expect(result.log).toMatch(new RegExp(`reticulate_splines on \\S+ \\[${ids[0]}\\]: running → ${word}`));
    expect(result.summary).toContain(word);
    expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: word }]);
    expect(warningsOf(result)).toEqual([]);
    if (end === 'failure') expect(errorOf(result)).toMatch(new RegExp(`${ids[0]}.*Do not deploy on top of this`));
  });

  test.for<[first: string, then: string, ...warnings: string[]]>([
    ['cancelling', 'cancelling'],
    ['hibernating', 'constructor', expect.stringMatching(/unknown status “hibernating”/)],
  ])('operations that are %s, then %s, are still running; unknown words get one warning', async (row, context) => {
    const [first, then, ...warnings] = row;
    const course = [
      { afterMs: 0, status: first },
      { afterMs: 5 * second, status: then },
      { afterMs: 20 * second, status: 'finished' },
    ] as const;
    const { result, took } = await waitFor(context, many(3, { course }));
    expect(result.conclusion).toBe('success');
    expect(result.log).toContain(`${then} → finished`);
    expect(took).toBeGreaterThanOrEqual(20 * second);
    expect(warningsOf(result)).toEqual(warnings);
  });

  const unknown = ['', 'done', 'Finished', ' finished', 'finished\u0000', 'toString', '__proto__'];
  test.for(unknown)('the unknown status %j never ends a wait with success', async (word, context) => {
    const plan: OperationPlan = { course: [{ afterMs: 0, status: word }] };
    const { result } = await waitFor(context, [plan], { timeout: '1m' });
    // A record without a status is unusable; another word is waited for.
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: word === '' ? 'error' : 'timeout' } });
  });
});

describe('the pace of polling', () => {
  test('the first poll is immediate; each pause is random, at most 500 ms or a quarter of the time so far, and 5 s', async (context) => {
    const fifth = new Set<number>();
    for (const seed of seeds) {
      const { times } = await waitFor(context, [{ lengthMs: 5 * minute }], {}, { seed });
      expect(times()[0]).toBe(0);
      for (const [n, gap] of gaps(times()).entries()) {
        const max = Math.min(5 * second, Math.max(500, (times()[n] ?? 0) / 4));
        expect(gap).toBeLessThanOrEqual(max + rounding);
        expect(gap).toBeGreaterThan(max / 4);
      }
      fifth.add(times()[5] ?? Number.NaN);
    }
    expect(fifth.size).toBe(seeds.length);
  });

  test('the lag after an end is under 500 ms or a quarter of the length, and under 5 s', async (context) => {
    const random = seededRandom(7);
    for (const seed of manySeeds) {
      const lengthMs = 200 * (30 * 60 * 5) ** random();
      const { result, took } = await waitFor(context, [{ lengthMs }], { timeout: '6h' }, { seed });
      expect(result.outputs['status']).toBe('finished');
      expect(took - lengthMs).toBeLessThanOrEqual(Math.min(5 * second, Math.max(500, lengthMs / 4)) + 1);
    }
  });

  test.for([
    ['100ms', 100],
    ['7s', 7 * second],
    ['2m', 2 * minute],
  ] as const)('poll-interval: %s is exactly that', async ([interval, ms], context) => {
    const inputs = { 'poll-interval': interval, timeout: '1h' };
    const { times } = await waitFor(context, [{ lengthMs: 10 * ms }], inputs);
    expect(times()).toHaveLength(11);
    for (const gap of gaps(times())) expect(gap).toBeCloseTo(ms, 3);
  });

  test.for([
    [423, 'auto'],
    [429, 'auto'],
    [423, '2s'],
    [429, '2s'],
  ] as const)(
    'each %i at least doubles the pause, up to 60 s, and successful polls bring it back gradually (poll-interval: %s)',
    async ([code, interval], context) => {
      for (const seed of seeds) {
        const options = { seed, faults: [{ from: 3, count: 8, fault: status(code) }] };
        const inputs = { 'poll-interval': interval, timeout: '15m' };
        const { times } = await waitFor(context, [forever], inputs, options);
        const pauses = gaps(times());
        for (let n = 1; n <= 8; n++) {
          const [before, after] = [pauses[n] ?? Number.NaN, pauses[n + 1] ?? Number.NaN];
          expect(after).toBeGreaterThanOrEqual(Math.min(minute, 2 * before) - rounding);
          expect(after).toBeLessThanOrEqual(minute + rounding);
        }
        expect(pauses[9]).toBeGreaterThan(10 * second);
        expect(pauses[10]).toBeGreaterThan(5 * second);
        for (const pause of pauses.slice(-20, -1)) expect(pause).toBeLessThanOrEqual(5 * second + rounding);
      }
    },
  );

  test('a wait that is throttled once learns of the end within 10 s', async (context) => {
    for (const seed of manySeeds) {
      const random = seededRandom(seed);
      const lengthMs = 500 + 3 * minute * random();
      const faults = [{ nth: 1 + Math.floor(random() * 15), fault: status(429) }];
      const { took } = await waitFor(context, [{ lengthMs }], {}, { seed, faults });
      expect(took - lengthMs).toBeLessThan(10 * second);
    }
  });

  test.for<[what: string, nth: number, fault: Fault, seconds: number, most: number]>([
    ['a 429 before the first response', 1, retryAfter(429, 200), 200, Number.POSITIVE_INFINITY],
    ['a 429 after it', 4, retryAfter(429, 600), 600, Number.POSITIVE_INFINITY],
    ['a 503 before the first response', 1, retryAfter(503, 90), 90, 96],
    ['a 503 after it', 3, retryAfter(503, 20), 20, 26],
    ['a 503 that counts as a minute, because it asks for an hour,', 3, retryAfter(503, 3_600), 60, 66],
  ])('the Retry-After of %s is honoured, but does not slow down later polls', async (row, context) => {
    const [, nth, fault, seconds, most] = row;
    for (const seed of seeds) {
      const options = { seed, faults: [{ nth, fault }] };
      const { times, result } = await waitFor(context, [{ lengthMs: 13 * minute }], { timeout: '2h' }, options);
      expect(result.outputs['status']).toBe('finished');
      const [asked, next, afterNext] = gaps(times()).slice(nth - 1);
      expect(asked).toBeGreaterThanOrEqual(seconds * second);
      expect(asked).toBeLessThan(most * second);
      expect(next).toBeLessThanOrEqual(minute);
      expect(afterNext).toBeLessThanOrEqual(25 * second);
    }
  });
});

describe('failures', () => {
  test('a retried first request that succeeds is not named as the last error', async (context) => {
    const faults = [{ nth: 1, fault: status(503) }];
    const { result } = await waitFor(context, [forever], { timeout: '1m' }, { faults });
    expect(result.outputs['status']).toBe('timeout');
    expect(result.log.match(/The service is responding again/g)).toHaveLength(1);
    expect(errorOf(result)).not.toMatch(/Last error/);
  });

  const failing: readonly Fault[] = [
    ...[status(500), status(503), lost, truncated, html],
    { kind: 'bad-json' },
    { kind: 'redirect', location: '/' },
    { kind: 'hang-mid-body' },
    { kind: 'drip', intervalMs: second },
    { kind: 'delay', ms: minute },
    { kind: 'endless-body' },
  ];
  for (const inputs of [{}, all])
    test.for(failing)(
      `polling continues after the first response until the deadline, and the last error is named: %o ${Object.values(inputs)}`,
      async (fault, context) => {
        const slow = { timeout: '10m', 'request-timeout': '10s', ...inputs };
        const options = { faults: [{ from: 2, fault }] };
        const { times, result, took, ids } = await waitFor(context, [{ lengthMs: minute }], slow, options);
        expect(result.outputs['status']).toBe('timeout');
        expect(result.outputs['operations']).toContain(ids[0]);
        expect(errorOf(result)).toMatch(/Last error: /);
        expect(times().length).toBeGreaterThan(30);
        expect(Math.max(...gaps(times()))).toBeLessThanOrEqual(15 * second + rounding);
        expect(took).toBeLessThanOrEqual(10 * minute + 2 * second);
      },
    );

  test.for(failing)('a wait survives them, and logs them and the recovery once: %o', async (fault, context) => {
    const inputs = { timeout: '1h', 'request-timeout': '10s' };
    const options = { faults: [{ from: 2, count: 12, fault }] };
    const { result } = await waitFor(context, [{ lengthMs: minute }], inputs, options);
    expect(result.conclusion).toBe('success');
    expect(result.log.match(/The service is responding again/g)).toHaveLength(1);
    // A truncated body has another length each time.
    if (fault !== truncated) expect(result.log.match(/Poll failed, will retry/g)).toHaveLength(1);
  });

  test.for([400, 401, 403, 405, 409, 410, 422])('%i is final, also after the first response', async (code, context) => {
    const faults = (id: string) => [{ path: id, nth: 4, fault: status(code) }];
    const { paths, ids, result } = await waitFor(context, [forever, ended], {}, { faults });
    expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': ids[0] });
    expect(errorOf(result)).toMatch(new RegExp(`status ${code}.*1 of 2 operations had ended`));
    expect(result.log).not.toMatch(/will retry/);
    expect(paths().filter((path) => path.includes(ids[0] ?? ''))).toHaveLength(4);
  });
});

describe('an operation that is not found', () => {
  test('one that was never seen is an error after 5 s, and the error names likely causes', async (context) => {
    for (const seed of seeds) {
      const { result, times, projectId } = await waitFor(context, [], { 'operation-id': unknownId }, { seed });
      expect(result.outputs['status']).toBe('error');
      expect(times().at(-1)).toBeGreaterThanOrEqual(5 * second);
      expect(times().at(-1)).toBeLessThan(7 * second);
      const says = `Project ${projectId} has no operation ${unknownId} .*404.* There is no such operation\\.`;
      expect(errorOf(result)).toMatch(new RegExp(says));
      expect(errorOf(result)).toMatch(
        /Does it belong to another project\? Check project-id and base-url \(it usually ends in \/v2\)\. A key without access gets 404 too/,
      );
    }
  });

  test.for<[OperationPlan, FaultRule[]]>([
    [{ appearsAfterMs: 4_900, lengthMs: 20 * second }, []],
    [{ appearsAfterMs: 33 * second, lengthMs: minute }, [{ nth: 1, fault: retryAfter(503, 30) }]],
  ])('one that appears within 5 s of its first 404 is waited for: %o', async ([plan, faults], context) => {
    const { result } = await waitFor(context, [plan], {}, { faults });
    expect(result.outputs['status']).toBe('finished');
  });

  for (const inputs of [{ 'operation-id': unknownId }, { ...all, 'project-id': 'no-such-project' }])
    test.for([
      ['0', 'error', 0],
      ['3s', 'timeout', 3 * second],
    ] as const)(`with timeout: %s its 404 ends the step as %s: ${Object.values(inputs)}`, async (row, context) => {
      const [timeout, outcome, ms] = row;
      const { result, took } = await waitFor(context, [], { ...inputs, timeout });
      expect(result.outputs).toMatchObject({ status: outcome, count: '0', operations: '[]' });
      expect(took).toBe(ms);
      expect(errorOf(result)).toMatch(/key without access gets 404/);
    });

  test.for([{}, all])('one that was seen is looked for during 30 s: %o', async (inputs, context) => {
    const before = ({ after, service, projectId }: Stage) =>
      after(40 * second, () => service.plane.removeProject(projectId));
    for (const seed of seeds) {
      const { result, times } = await waitFor(context, [forever], inputs, { seed, before });
      const firstMissed = times().find((time) => time >= 40 * second) ?? Number.NaN;
      expect(result.outputs['status']).toBe('error');
      expect((times().at(-1) ?? 0) - firstMissed).toBeGreaterThanOrEqual(30 * second);
      expect((times().at(-1) ?? 0) - firstMissed).toBeLessThan(36 * second);
      expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'running' }]);
    }
  });

  test('one that comes back within 30 s is waited for, and may vanish again', async (context) => {
    const inputs = { 'poll-interval': '2s' };
    const faults = [10, 35].map((from) => ({ from, count: 12, fault: status(404) }));
    const { result } = await waitFor(context, [{ lengthMs: 2 * minute }], inputs, { faults });
    expect(result.outputs['status']).toBe('finished');
  });

  test('one that the list has shown again gets another 30 s', async (context) => {
    const plans = [...many(2, forever), { ...forever, appearsAfterMs: 1_200, vanishesAfterMs: 36 * second }];
    const { result, took } = await waitFor(context, plans);
    expect(result.outputs['status']).toBe('error');
    expect(took).toBeGreaterThan(65 * second);
  });

  test('others are followed meanwhile, but the step fails', async (context) => {
    const missing = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };
    const { result, ids } = await waitFor(context, [...many(3, { lengthMs: second }), missing]);
    expect(result.outputs).toMatchObject({ status: 'error', count: '3' });
    const ends = (JSON.parse(result.outputs['operations'] ?? '') as { status: string }[]).map((one) => one.status);
    expect(ends).toEqual(['finished', 'finished', 'finished']);
    expect(errorOf(result)).toContain(ids[3]);
  });
});

describe('several operations', () => {
  test.for([
    [2, 'get-operation'],
    [100, 'list-operations'],
  ] as const)('%i need two requests a poll, all of %s', async ([count, endpoint], context) => {
    const inputs = { 'poll-interval': '1s' };
    const { result, ids, ...stage } = await waitFor(context, many(count, { lengthMs: 5 * second }), inputs);
    expect(result.conclusion).toBe('success');
    expect(JSON.parse(result.outputs['operation-ids'] ?? '')).toEqual(ids);
    expect(endpoints(stage).length).toBeLessThanOrEqual(2 * new Set(stage.times()).size);
    expect(new Set(endpoints(stage))).toEqual(new Set([endpoint]));
  });

  test('the list is read only while more than two are pending', async (context) => {
    const plans = [second, 20 * second, 20 * second].map((lengthMs) => ({ lengthMs }));
    const stage = await waitFor(context, plans, { 'poll-interval': '3s' });
    const [listed, single] = ['list-operations', 'get-operation'];
    expect(endpoints(stage).slice(0, 4)).toEqual([listed, listed, single, single]);
  });

  test('only those that the newest 200 do not show are requested singly', async (context) => {
    const plans = many(7, { lengthMs: 10 * second });
    const stage = await waitFor(context, plans, { 'poll-interval': '1m' }, { buried: 2 });
    expect(stage.result.conclusion).toBe('success');
    const first = stage.paths().filter((_, n) => stage.times()[n] === 0);
    expect(first.map((path) => path.replace(/.*operations/, '').replace(/&?cursor=[^&]*/, ''))).toEqual([
      '?limit=100',
      '?limit=100',
      ...stage.ids.slice(0, 2).map((id) => `/${id}`),
    ]);
  });

  test.for([
    ['true', 10],
    ['false', 60],
  ] as const)('with fail-fast: %s a failure among them ends the step after about %i s', async (row, context) => {
    const [failFast, seconds] = row;
    const failing = { lengthMs: 10 * second, outcome: 'failed', failuresCount: 7 };
    const plans = [failing, { lengthMs: minute }, { lengthMs: 5 * second }];
    const { result, took, ids } = await waitFor(context, plans, { 'fail-fast': failFast });
    expect(result.outputs).toMatchObject({ status: 'failed', count: '3', 'operation-id': ids[0] });
    expect(took).toBeGreaterThanOrEqual(seconds * second);
    expect(took).toBeLessThan(seconds * 1.3 * second);
    const named = `^1 of 3 operations in project \\S+ failed: .*${ids[0]}.*failures_count 7`;
    expect(errorOf(result)).toMatch(new RegExp(named));
    const isStopped = new RegExp(`Stopped waiting for: .*${ids[1]}`).test(errorOf(result));
    expect(isStopped).toBe(failFast === 'true');
  });

  test('the error names some of many that failed, and counts the others', async (context) => {
    const { result, ids } = await waitFor(context, many(40, failedAtOnce), { 'fail-fast': 'false' });
    const named = ids.filter((id) => errorOf(result).includes(id));
    expect(errorOf(result)).toMatch(/^40 operations in project \S+ failed/);
    expect(named.length).toBeGreaterThan(0);
    expect(errorOf(result)).toContain(`and ${40 - named.length} more`);
    expect(errorOf(result).length).toBeLessThan(4_096);
  });

  const failingIn = (seconds: number): OperationPlan => ({ lengthMs: seconds * second, outcome: 'failed' });
  test.for<[what: string, rule: FaultRule, failFast: string, within: number]>([
    ['a request that hangs', { fault: hang }, 'true', 13],
    ['a request that hangs', { fault: hang }, 'false', 61],
    ['a status of 500', { from: 2, fault: status(500) }, 'true', 13],
    ['a 423 with a Retry-After', { from: 2, fault: retryAfter(423, 50) }, 'true', 13],
    ['a 503 with a Retry-After', { from: 2, fault: retryAfter(503, 50) }, 'true', 13],
  ])('%s for one operation does not hide that another failed: %o, fail-fast: %s', async (row, context) => {
    const [, rule, failFast, within] = row;
    const inputs = { timeout: '1m', 'request-timeout': '1m', 'fail-fast': failFast };
    const faults = (id: string) => [{ path: id, ...rule }];
    const { result, took, ids, ...stage } = await waitFor(context, [forever, failingIn(10)], inputs, { faults });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
    expect(errorOf(result)).toContain(ids[0]);
    expect(took).toBeLessThanOrEqual(within * second);
    if (rule.fault.kind === 'status' && rule.fault.retryAfter) expect(timesOf(stage, ids[0] ?? '')).toHaveLength(2);
  });

  test('a request that hangs delays none of a hundred others', async (context) => {
    const options = { buried: 100, faults: (id: string) => [{ path: id, count: 1, fault: hang }] };
    const plans = many(100, { lengthMs: 10 * second });
    const { result, took, ids, ...stage } = await waitFor(context, plans, { 'request-timeout': '40s' }, options);
    expect(result.conclusion).toBe('success');
    expect(took).toBeLessThan(46 * second);
    const late = stage.paths().filter((_, n) => (stage.times()[n] ?? 0) > 15 * second);
    expect(new Set(late.map((path) => path.split('/').at(-1)))).toEqual(new Set([ids[0]]));
  });

  test('a hundred outside the newest 200 are seen within 3 s where a response takes 150 ms, at most 12 at once', async (context) => {
    const options = { buried: 100, faults: [{ fault: { kind: 'delay', ms: 150 } as const }] };
    const { result, took, service } = await waitFor(context, many(100, ended), { timeout: '10s' }, options);
    expect(result.conclusion).toBe('success');
    expect(took).toBeLessThan(3 * second);
    expect(maxConcurrent(service.requests)).toBe(12);
  });

  const unusable = [status(200, { body: '{"operations":{}}' }), { kind: 'bad-json' }, html, hang] as const;
  test.for(unusable)('a list that is unusable or hangs is replaced by single requests: %o', async (fault, context) => {
    const options = { faults: [{ endpoint: 'list-operations', fault } as const] };
    const plans = [forever, forever, failingIn(1)];
    const { result, took, ...stage } = await waitFor(context, plans, { 'request-timeout': '5m' }, options);
    expect(result.outputs['status']).toBe('failed');
    expect(took).toBeLessThan(3 * second);
    expect(endpoints(stage).slice(0, 4)).toEqual(['list-operations', ...Array(3).fill('get-operation')]);
    if (fault !== hang) expect(stage.times()[3]).toBe(0);
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

  test('an unusable record of an unrelated operation does not fail the step', async (context) => {
    const before = (stage: Stage) => stage.operation({ fields: { status: null } });
    const { result } = await waitFor(context, many(3, { lengthMs: 20 * second }), {}, { before });
    expect(result.outputs['status']).toBe('finished');
  });

  test('several 429 of one burst slow the wait down once', async (context) => {
    const faults = [{ endpoint: 'get-operation', count: 12, fault: status(429) } as const];
    const options = { trip: () => 20, buried: 12, faults };
    const { result, took } = await waitFor(context, many(12, { lengthMs: 2 * second }), {}, options);
    expect(result.conclusion).toBe('success');
    expect(took).toBeLessThan(25 * second);
  });

  test('after a 429 nothing is sent before its Retry-After has passed', async (context) => {
    const faults = [{ endpoint: 'get-operation', nth: 3, fault: retryAfter(429, 30) } as const];
    const options = { trip: () => 20, buried: 40, faults };
    const { times } = await waitFor(context, many(40, forever), { timeout: '80s' }, options);
    // The 429 answers the fifth request, behind two pages. What was sent before its response arrived takes two trips.
    const throttledAt = times()[4] ?? Number.NaN;
    expect(times().filter((time) => time > throttledAt + 40 && time < throttledAt + 30 * second)).toEqual([]);
    expect(times().some((time) => time > throttledAt + 30 * second)).toBe(true);
  });

  test('the Retry-After of one operation does not hold up the list of the others', async (context) => {
    const inputs = { timeout: '30s', 'poll-interval': '1s' };
    const options = { buried: 1, faults: (id: string) => [{ path: id, nth: 2, fault: retryAfter(503, 20) }] };
    const { ids, ...stage } = await waitFor(context, many(4, forever), inputs, options);
    expect(timesOf(stage, ids[0] ?? '')[2]).toBeGreaterThanOrEqual(21 * second);
    const listed = timesOf(stage, '?limit').filter((time) => time > second && time < 20 * second);
    expect(listed.length).toBeGreaterThan(30);
  });
});

describe('progress', () => {
  test('the log names what is waited for and the timeout, then each change, then the end', async (context) => {
    const plan = { ageMs: 90 * second, lengthMs: 91 * second, branchId: 'br-1' };
    const inputs = { timeout: '1h30m', 'poll-interval': '100ms' };
    const { result, ids, projectId } = await waitFor(context, [plan], inputs);
    expect(result.log.trim().split(/\n\s*/)).toEqual([
      `0ms  Waiting for 1 operation in project ${projectId} (timeout 1h 30m).`,
      `0ms  create_branch on br-1 [${ids[0]}]: running, created 1m 30s ago`,
      `1s  create_branch on br-1 [${ids[0]}]: running → finished after 1m 31s`,
      '1 operation finished.',
    ]);
  });

  test('a minute without a change gets a heartbeat that names what is pending and the time left', async (context) => {
    const plan = { ...forever, schedulingMs: 50 * second, branchId: 'br-1' };
    const inputs = { timeout: '3m', 'poll-interval': '10s' };
    const { result, ids } = await waitFor(context, [plan], inputs);
    expect(result.log.match(/\S.*Still waiting.*/g)).toEqual([
      `1m 50s  Still waiting for create_branch on br-1 [${ids[0]}] (running); 1m 10s left.`,
      `2m 50s  Still waiting for create_branch on br-1 [${ids[0]}] (running); 10s left.`,
    ]);
  });

  test.for([
    ['names three of many pending operations, and counts the others', {}],
    ['before the first list says so', all],
  ] as const)('a heartbeat %s', async ([, inputs], context) => {
    const slow = { timeout: '90s', 'request-timeout': '80s', ...inputs };
    const { result, ids } = await waitFor(context, many(5, forever), slow, { faults: [{ fault: hang }] });
    const [one, two, three] = ids;
    const named = inputs === all ? 'the list of operations' : `[${one}], [${two}], [${three}], and 2 more`;
    expect(result.log).toContain(`Still waiting for ${named}; 30s left.`);
  });
});

describe('the deadline', () => {
  const closed: FaultRule = { nth: 1, fault: { kind: 'close-on-next-request' } };
  test.for<[what: string, plan: OperationPlan, verdict: string, ...faults: FaultRule[]]>([
    ['sees what has just finished', { lengthMs: 59_999 }, 'finished'],
    ['sees what has just failed', { lengthMs: 59_999, outcome: 'failed' }, 'failed'],
    ['that shows no end is a timeout', { lengthMs: 60_001 }, 'timeout'],
    ['is sent again if the idle connection was closed', { lengthMs: second }, 'finished', closed],
    ['is not repeated after a 503, and the error names it', forever, 'timeout', { from: 2, fault: status(503) }],
    ['is not repeated if it is lost, and the error names that', forever, 'timeout', { from: 2, fault: lost }],
    [
      'is sent before a Retry-After of 503 ends',
      { lengthMs: second },
      'finished',
      { nth: 1, fault: retryAfter(503, 90) },
    ],
  ])('one final poll %s', async ([, plan, verdict, ...faults], context) => {
    const inputs = { timeout: '1m', 'poll-interval': '1h' };
    const { result, times, ids } = await waitFor(context, [plan], inputs, { faults });
    expect(result.outputs).toMatchObject({ status: verdict, 'operation-id': ids[0] });
    expect(times()).toEqual(faults[0] === closed ? [0, minute, minute] : [0, minute]);
    if (verdict !== 'timeout') return;
    expect(errorOf(result)).toMatch(/^Timed out after 1m\. 1 operation in project \S+ had not finished: /);
    expect(errorOf(result)).toMatch(faults.length > 0 ? /Last error: / : /raise timeout/);
  });

  test.for([1, 2, 4])('the final poll of %i also requests what a Retry-After has put off', async (count, context) => {
    const inputs = { timeout: '30s', 'poll-interval': '5s' };
    const faults = [{ nth: 2, fault: retryAfter(503, 44) }];
    const { result } = await waitFor(context, many(count, { lengthMs: 25 * second }), inputs, { faults });
    expect(result.outputs).toMatchObject({ status: 'finished', count: String(count) });
  });

  test.for<[rule: FaultRule, operations: number]>([
    [{ from: 1, fault: hang }, 1],
    [{ from: 5, fault: hang }, 1],
    [{ from: 1, fault: { kind: 'hang-mid-body' } }, 1],
    [{ from: 5, fault: { kind: 'hang-mid-body' } }, 1],
    [{ from: 2, fault: { kind: 'delay', ms: 900 } }, 20],
  ])('%o does not move it by 2 s, with %i operations', async ([rule, count], context) => {
    const options = { buried: count, faults: [rule] };
    const { result, took } = await waitFor(context, many(count, forever), { timeout: '20s' }, options);
    expect(result.outputs['status']).toBe('timeout');
    expect(took).toBeGreaterThanOrEqual(20 * second);
    expect(took).toBeLessThan(22 * second);
  });

  test.for([423, 429])('a %i that asks to wait beyond it ends the step at once', async (code, context) => {
    const faults = [{ nth: 6, fault: retryAfter(code, 61) }];
    const { result, times, took } = await waitFor(context, [forever], { timeout: '1m' }, { faults });
    expect(result.outputs['status']).toBe('timeout');
    const says = `^Stopped early, because the service asked for a pause that ends after the timeout.*status ${code}.*1m 01s`;
    expect(errorOf(result)).toMatch(new RegExp(says));
    expect(times(), 'no final poll').toHaveLength(6);
    expect(Math.abs(took - (times().at(-1) ?? Number.NaN))).toBeLessThan(1);
  });

  test.for([
    ['a control API that never responded', 2, /API never responded\. Check base-url, and the network and proxy/],
    ['an operation that no response showed', 1, /never reported the status of 1 operation\. Check base-url/],
  ] as const)('%s is named as such, and neither timeout is blamed', async ([, silent, says], context) => {
    const faults = (...ids: string[]) => ids.slice(0, silent).map((path) => ({ path, fault: hang }));
    const { result } = await waitFor(context, many(2, forever), { timeout: '20s' }, { faults });
    expect(errorOf(result)).toMatch(says);
    expect(errorOf(result)).not.toMatch(/raise timeout|may still finish/);
    expect(result.log).not.toContain('request-timeout');
  });
});

describe('timeout: 0', () => {
  test.for<[plan: OperationPlan, verdict: string, ms: number]>([
    [ended, 'finished', 0],
    [failedAtOnce, 'failed', 0],
    [forever, 'timeout', 0],
    [ended, 'finished', 9 * second],
  ])('checks once: %o is %s, also if the response takes %i ms', async ([plan, verdict, ms], context) => {
    const faults: FaultRule[] = [{ fault: { kind: 'delay', ms } }];
    const { result, times, took } = await waitFor(
      context,
      [plan],
      { timeout: '0', 'request-timeout': '10s' },
      { faults },
    );
    expect(result.outputs).toMatchObject({ status: verdict, count: '1' });
    expect(times()).toEqual([0]);
    expect(took).toBe(ms);
    if (verdict === 'timeout') expect(errorOf(result)).toMatch(/^Polled once \(timeout: 0\)\./);
  });

  const failing: readonly Fault[] = [
    ...[status(503), status(404), retryAfter(429, 1), lost, truncated, hang],
    { kind: 'bad-json' },
    { kind: 'hang-mid-body' },
    { kind: 'drip', intervalMs: 100 },
  ];
  test.for(failing)('repeats nothing, and takes at most request-timeout: %o', async (fault, context) => {
    const inputs = { timeout: '0', 'request-timeout': '10s' };
    const { result, times, took } = await waitFor(context, [ended], inputs, { faults: [{ fault }] });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
    expect(result.log).not.toMatch(/will retry/);
    expect(times()).toEqual([0]);
    expect(took).toBeLessThanOrEqual(10 * second);
    if (fault.kind.startsWith('hang')) expect(errorOf(result)).toContain('request-timeout');
  });

  test('a failed operation is seen behind one that is not found', async (context) => {
    const missing = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };
    const { result, ids } = await waitFor(context, [missing, failedAtOnce], { timeout: '0' });
    expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
  });
});

test.for<[moment: string, timeout: string, faults: FaultRule[]]>([
  ['between two polls', '10m', []],
  ['while a request hangs', '10m', [{ from: 3, fault: hang }]],
  ['during a back-off', '10m', [{ from: 3, fault: retryAfter(503, 50) }]],
  ['while the service asks to wait', '10m', [{ from: 3, fault: retryAfter(429, 50) }]],
  ['before the first response', '10m', [{ fault: hang }]],
  ['before the only response', '0', [{ fault: hang }]],
  ['during the final poll', '12s', [{ from: 3, fault: hang }]],
])('a cancel %s ends the step at once, with timeout: %s', async ([, timeout, faults], context) => {
  const stage = await setStage(context, { faults });
  const ids = [forever, failedAtOnce].map((plan) => stage.operation(plan).id);
  const step = stage.start({ 'operation-id': ids.join(), 'fail-fast': 'false', timeout });
  stage.after(12_345, () => void step.cancel());
  const result = await step.done;
  expect(result.outputs['status']).toBe('cancelled');
  expect(tookOf(result)).toBe(12_345);
  expect(result.exitCode).toBe(1);
  expect(() => errorOf(result)).toThrow(/found 0/);
  expect(result.summary).toMatch(/Cancelled; [01] of 2 operations had ended/);
});
