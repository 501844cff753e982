import { describe, expect, it } from 'vitest';
import { silent } from '../../../../src/api/log.js';
import { RequestError } from '../../../../src/http/errors.js';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import { NotFoundError } from '../../../../src/modes/wait-operation/poll-failures.js';
import { Cancellation } from '../../../../src/time/deadline.js';
import type { Fault, FaultRule, Operation, OperationPlan } from '../../../control-plane/index.js';
import { seededRandom } from '../../../control-plane/random.js';
import { type WaitOptions, World, type WorldOptions } from '../../../virtual/world.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const nobody = '0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11';
const seeds = Array.from({ length: 30 }, (_, n) => n + 1);
/** Of sums of milliseconds with fractions. */
const rounding = 0.01;

/** A wait for one operation. */
async function waitForOne(plan: OperationPlan, options: WaitOptions = {}, worldOptions: WorldOptions = {}) {
  const world = new World({ seed: options.seed ?? 1, ...worldOptions });
  const operation = world.plane.startOperation(plan);
  const waited = await world.wait([operation.id], options);
  return { world, operation, waited, times: world.times };
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? 0));
}

function status(of: number, retryAfterSeconds?: number): Fault {
  return retryAfterSeconds === undefined
    ? { kind: 'status', status: of }
    : { kind: 'status', status: of, retryAfter: { seconds: retryAfterSeconds } };
}

describe('the pace', () => {
  it('looks at once, then never waits longer than 500 ms or a quarter of the time so far, nor than 5 s', async () => {
    await Promise.all(
      seeds.map(async (seed) => {
        const { times } = await waitForOne({ lengthMs: 5 * minute }, { seed });
        expect(times[0]).toBe(0);
        for (const [n, gap] of gaps(times).entries()) {
          const most = Math.min(5 * second, Math.max(500, (times[n] ?? 0) / 4));
          expect(gap).toBeLessThanOrEqual(most + rounding);
          expect(gap).toBeGreaterThan(most / 4);
        }
      }),
    );
  });

  it('tells of an end within 500 ms or a quarter of the length, and within 5 s', async () => {
    const random = seededRandom(7);
    await Promise.all(
      seeds.map(async (seed) => {
        const lengthMs = 200 * (30 * 60 * 5) ** random();
        const { waited } = await waitForOne({ lengthMs }, { seed, timeout: hour });
        expect(waited.verdict).toBe('finished');
        const lag = waited.elapsed - lengthMs;
        expect(lag).toBeLessThanOrEqual(Math.min(5 * second, Math.max(500, lengthMs / 4)) + rounding);
      }),
    );
  });

  it('is not the same for all', async () => {
    const courses = await Promise.all(seeds.map((seed) => waitForOne({ lengthMs: minute }, { seed })));
    expect(new Set(courses.map(({ times }) => times[5])).size).toBe(seeds.length);
  });

  it('is exactly the interval that was asked for', async () => {
    for (const pollInterval of [100, 7 * second, 2 * minute]) {
      const { times } = await waitForOne({ lengthMs: 10 * pollInterval }, { pollInterval, timeout: hour });
      expect(times).toHaveLength(11);
      for (const gap of gaps(times)) expect(gap).toBeCloseTo(pollInterval, 3);
    }
  });

  for (const pollInterval of ['auto', 2 * second] as const) {
    for (const of of [423, 429]) {
      it(`at least doubles with each ${of}, up to 60 s (${pollInterval})`, async () => {
        for (const seed of seeds.slice(0, 8)) {
          const { times } = await waitForOne(
            forever,
            { seed, pollInterval, timeout: 15 * minute },
            { faults: [{ from: 3, count: 12, fault: status(of) }] },
          );
          // Each refused request, from the first on, and the pause before it and after it.
          const pauses = gaps(times);
          for (let n = 1; n <= 12; n++) {
            const [before, after] = [pauses[n] ?? Number.NaN, pauses[n + 1] ?? Number.NaN];
            expect(after).toBeGreaterThanOrEqual(Math.min(minute, 2 * before) - rounding);
            expect(after).toBeLessThanOrEqual(minute + rounding);
          }
        }
      });
    }

    it(`eases back when looks succeed (${pollInterval})`, async () => {
      for (const seed of seeds.slice(0, 4)) {
        const { times } = await waitForOne(
          forever,
          { seed, pollInterval, timeout: 30 * minute },
          { faults: [{ from: 3, count: 8, fault: status(429) }] },
        );
        const pauses = gaps(times);
        expect(pauses[9]).toBe(Math.max(...pauses));
        expect(pauses[9]).toBeGreaterThan(10 * second);
        for (const pause of pauses.slice(-20, -1)) expect(pause).toBeLessThanOrEqual(5 * second + rounding);
      }
    });
  }

  it('never undercuts Retry-After, not even one of more than a minute', async () => {
    for (const seed of seeds.slice(0, 20)) {
      for (const nth of [1, 4]) {
        const { times, waited } = await waitForOne(
          { lengthMs: minute },
          { seed, timeout: hour },
          { faults: [{ nth, fault: status(429, 200) }] },
        );
        expect(waited.verdict).toBe('finished');
        expect(gaps(times)[nth - 1]).toBeGreaterThanOrEqual(200 * second);
      }
    }
  });

  it('lets one who is refused once hear of the end within 10 s', async () => {
    await Promise.all(
      seeds.map(async (seed) => {
        const random = seededRandom(seed);
        const lengthMs = 500 + 3 * minute * random();
        const nth = 1 + Math.floor(random() * 15);
        const { waited } = await waitForOne({ lengthMs }, { seed }, { faults: [{ nth, fault: status(429) }] });
        expect(waited.elapsed - lengthMs).toBeLessThan(10 * second);
      }),
    );
  });
});

describe('failures before the first good answer', () => {
  const failing: readonly Fault[] = [
    status(503),
    status(408),
    status(425),
    status(520),
    status(530),
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'empty-body' },
    { kind: 'html' },
    { kind: 'hang-before-headers' },
  ];
  for (const fault of failing) {
    it(`are given up after 5 tries: ${JSON.stringify(fault)}`, async () => {
      const { times, waited } = await waitForOne({ lengthMs: 0 }, {}, { faults: [{ fault }] });
      expect(times).toHaveLength(5);
      expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(RequestError) });
    });
  }

  it('do not add up with those of other kinds of requests, nor with requests for patience', async () => {
    const faults: FaultRule[] = [
      { nth: 1, fault: status(503) },
      { from: 2, count: 10, fault: status(429) },
      { from: 12, count: 3, fault: { kind: 'cut-mid-body' } },
    ];
    const { times, waited } = await waitForOne({ lengthMs: 0 }, { timeout: hour }, { faults });
    expect(waited.verdict).toBe('finished');
    expect(times).toHaveLength(15);
  });

  it('where the service asks for patience, it gets it until the deadline', async () => {
    for (const of of [423, 429]) {
      const { times, waited } = await waitForOne(
        forever,
        { timeout: 30 * minute },
        { faults: [{ fault: status(of) }] },
      );
      expect(waited).toMatchObject({ verdict: 'timeout', cause: { status: of } });
      expect(times.length).toBeGreaterThan(20);
      expect(times.at(-1)).toBe(30 * minute);
    }
  });

  it('keep to a Retry-After of more than a minute', async () => {
    const { times, waited } = await waitForOne({ lengthMs: 0 }, {}, { faults: [{ nth: 1, fault: status(503, 90) }] });
    expect(waited.verdict).toBe('finished');
    expect(times[1]).toBeGreaterThanOrEqual(90 * second);
  });
});

describe('failures after the first good answer', () => {
  const failing: readonly Fault[] = [
    status(500),
    status(503),
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'bad-json' },
    { kind: 'html' },
    { kind: 'redirect', location: '/' },
    { kind: 'hang-mid-body' },
    { kind: 'endless-body' },
  ];
  for (const fault of failing) {
    it(`are no verdict until the deadline: ${JSON.stringify(fault)}`, async () => {
      const options = { timeout: 20 * minute, requestTimeout: 10 * second };
      const { times, waited } = await waitForOne({ lengthMs: minute }, options, { faults: [{ from: 2, fault }] });
      expect(waited).toMatchObject({ verdict: 'timeout', cause: expect.any(RequestError) });
      expect(times.length).toBeGreaterThan(30);
      expect(Math.max(...gaps(times))).toBeLessThanOrEqual(15 * second + rounding);
      expect(waited.elapsed).toBeLessThanOrEqual(20 * minute + 2 * second);
    });

    it(`are survived: ${JSON.stringify(fault)}`, async () => {
      const faults = [{ from: 2, count: 12, fault }];
      const { waited } = await waitForOne({ lengthMs: minute }, { timeout: hour }, { faults });
      expect(waited.verdict).toBe('finished');
    });
  }

  it('count a Retry-After of more than a minute as a minute', async () => {
    const { times } = await waitForOne(
      { lengthMs: 5 * minute },
      { timeout: hour },
      { faults: [{ nth: 3, fault: status(503, 3_600) }] },
    );
    expect(gaps(times)[2]).toBeGreaterThanOrEqual(minute);
    expect(gaps(times)[2]).toBeLessThan(minute + 6 * second);
  });

  it('keep to a shorter one', async () => {
    const { times } = await waitForOne({ lengthMs: minute }, {}, { faults: [{ nth: 3, fault: status(503, 20) }] });
    expect(gaps(times)[2]).toBeGreaterThanOrEqual(20 * second);
    expect(gaps(times)[2]).toBeLessThan(26 * second);
  });

  for (const of of [400, 401, 403, 405, 409, 410, 422]) {
    it(`are final where the service says ${of}`, async () => {
      const { times, waited } = await waitForOne(forever, {}, { faults: [{ nth: 4, fault: status(of) }] });
      expect(waited).toMatchObject({ verdict: 'error', cause: { status: of } });
      expect(times).toHaveLength(4);
    });
  }
});

describe('what is not found', () => {
  it('at the first look is looked at again for 5 s', async () => {
    for (const seed of seeds.slice(0, 20)) {
      const world = new World();
      const waited = await world.wait([nobody], { seed });
      expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(NotFoundError) });
      expect(world.times.at(-1)).toBeGreaterThanOrEqual(5 * second);
      expect(world.times.at(-1)).toBeLessThan(7 * second);
      expect(world.times.length).toBeGreaterThan(5);
    }
  });

  it('and appears in that time is waited for', async () => {
    const { waited } = await waitForOne({ appearsAfterMs: 4_900, lengthMs: 20 * second });
    expect(waited.verdict).toBe('finished');
  });

  it('counts its 5 s from the first 404, not from the begin of the wait', async () => {
    const { waited } = await waitForOne(
      { appearsAfterMs: 33 * second, lengthMs: minute },
      {},
      { faults: [{ nth: 1, fault: status(503, 30) }] },
    );
    expect(waited.verdict).toBe('finished');
  });

  it('with one look is an error at once', async () => {
    const world = new World();
    expect(await world.wait([nobody], { timeout: 0 })).toMatchObject({
      verdict: 'error',
      cause: expect.any(NotFoundError),
    });
    expect(world.times).toEqual([0]);
  });

  it('where the deadline comes first is a timeout that knows why', async () => {
    const world = new World();
    const waited = await world.wait([nobody], { timeout: 3 * second });
    expect(waited.verdict).toBe('timeout');
    expect(waited.cause?.message).toMatch(/There is no such operation/);
  });

  it('after a good look is looked at again for 30 s', async () => {
    for (const seed of seeds.slice(0, 20)) {
      const { waited, times } = await waitForOne({ ...forever, vanishesAfterMs: 40 * second }, { seed });
      expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(NotFoundError) });
      const firstMissed = times.find((time) => time >= 40 * second) ?? Number.NaN;
      expect((times.at(-1) ?? 0) - firstMissed).toBeGreaterThanOrEqual(30 * second);
      expect((times.at(-1) ?? 0) - firstMissed).toBeLessThan(36 * second);
      expect(waited.operations[0]?.operation?.status).toBe('running');
    }
  });

  it('and comes back in that time is waited for, and may be away again', async () => {
    const world = new World();
    const { plane, clock } = world;
    const plan = { ...forever, id: nobody };
    let operation = plane.startOperation(plan);
    for (const away of [20 * second, 70 * second]) {
      clock.schedule(away, () => plane.removeOperation(operation));
      clock.schedule(away + 24 * second, () => {
        operation = plane.startOperation(plan);
      });
    }
    clock.schedule(2 * minute, () => plane.endOperation(operation));
    expect(await world.wait([nobody])).toMatchObject({ verdict: 'finished' });
  });

  it('does not hold up the others, but the step ends red', async () => {
    const world = new World();
    const others = [1, 2, 3].map(() => world.plane.startOperation({ lengthMs: second }));
    const waited = await world.wait([...others.map(({ id }) => id), nobody]);
    expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(NotFoundError) });
    expect(waited.operations.map(({ operation }) => operation?.status)).toEqual([
      'finished',
      'finished',
      'finished',
      undefined,
    ]);
  });

  it('a project is looked at for 5 s, and is never an empty list', async () => {
    const world = new World();
    const waited = await world.wait('all', { projectIds: ['no-such-project'] });
    expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(NotFoundError) });
    expect(world.times.at(-1)).toBeGreaterThanOrEqual(5 * second);
  });

  it('a project that goes away is looked for for 30 s', async () => {
    const world = new World();
    world.plane.startOperation(forever);
    world.clock.schedule(20 * second, () => world.plane.removeProject(world.projectId));
    const waited = await world.wait('all');
    expect(waited).toMatchObject({ verdict: 'error', cause: expect.any(NotFoundError) });
    expect(world.times.at(-1)).toBeGreaterThanOrEqual(50 * second);
    expect(world.times.at(-1)).toBeLessThan(62 * second);
  });
});

describe('the sign of life', () => {
  it('comes once a minute, and tells what is awaited and how long it may still take', async () => {
    const said: { readonly at: number; readonly line: string }[] = [];
    const world = new World();
    const operation = world.plane.startOperation({ ...forever, schedulingMs: 0 });
    const log = { ...silent, info: (line: string) => said.push({ at: world.clock.now(), line }) };
    await world.wait([operation.id], { timeout: 10.5 * minute, log });
    const signs = said.filter(({ line }) => line.includes('Still waiting'));
    expect(signs.map(({ at }) => Math.round(at / minute))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const { line } of signs) expect(line).toContain(operation.id);
    expect(signs[8]?.line).toMatch(/1m 30s left/);
    expect(Math.max(...gaps(said.map(({ at }) => at)))).toBeLessThanOrEqual(minute + rounding);
  });
});

describe('several operations', () => {
  function requestsOf(world: World): string[] {
    return world.exchanges.log.exchanges.map(({ endpoint }) => endpoint);
  }

  it('are asked for singly while they are no more than two', async () => {
    const world = new World({ operations: 20 });
    const ids = [1, 2].map(() => world.plane.startOperation({ lengthMs: 5 * second }).id);
    expect(await world.wait(ids)).toMatchObject({ verdict: 'finished' });
    expect(new Set(requestsOf(world))).toEqual(new Set(['get-operation']));
  });

  it('are seen in the list when they are more', async () => {
    const world = new World({ operations: 20 });
    const ids = Array.from({ length: 100 }, () => world.plane.startOperation({ lengthMs: 5 * second }).id);
    const waited = await world.wait(ids, { pollInterval: second });
    expect(waited.verdict).toBe('finished');
    expect(waited.operations.map(({ id }) => id)).toEqual(ids);
    expect(requestsOf(world).length).toBeLessThanOrEqual(2 * 6);
    expect(new Set(requestsOf(world))).toEqual(new Set(['list-operations']));
  });

  it('turn to single requests when two are left', async () => {
    const world = new World();
    const ids = [second, 20 * second, 20 * second].map((lengthMs) => world.plane.startOperation({ lengthMs }).id);
    await world.wait(ids, { pollInterval: 3 * second });
    expect(requestsOf(world).slice(0, 4)).toEqual([
      'list-operations',
      'list-operations',
      'get-operation',
      'get-operation',
    ]);
  });

  it('that the newest 200 do not show are asked for singly, and only they', async () => {
    const world = new World();
    const old = [1, 2].map(() => world.plane.startOperation({ lengthMs: 10 * second }));
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    const young = Array.from({ length: 5 }, () => world.plane.startOperation({ lengthMs: 10 * second }));
    const waited = await world.wait(
      [...old, ...young].map(({ id }) => id),
      { pollInterval: minute },
    );
    expect(waited.verdict).toBe('finished');
    const first = world.exchanges.log.exchanges.filter((_, n) => world.times[n] === 0);
    expect(first.map(({ path }) => path.replace(/.*operations/, '').replace(/&?cursor=[^&]*/, ''))).toEqual([
      '?limit=100',
      '?limit=100',
      ...old.map(({ id }) => `/${id}`),
    ]);
  });

  it('end with the first that fails, or are all seen to their end', async () => {
    for (const [failFast, took] of [
      [true, 10],
      [false, 60],
    ] as const) {
      const world = new World();
      const plans = [{ lengthMs: 10 * second, outcome: 'failed' }, { lengthMs: minute }, { lengthMs: 5 * second }];
      const ids = plans.map((plan) => world.plane.startOperation(plan).id);
      const waited = await world.wait(ids, { failFast });
      expect(waited.verdict).toBe('failed');
      expect(waited.elapsed).toBeGreaterThanOrEqual(took * second);
      expect(waited.elapsed).toBeLessThan(took * 1.3 * second);
    }
  });

  it('of which one failed are failed, though the deadline struck before the others had ended', async () => {
    const world = new World();
    const ids = [{ lengthMs: second, outcome: 'failed' }, forever].map((plan) => world.plane.startOperation(plan).id);
    expect(await world.wait(ids, { failFast: false, timeout: minute })).toMatchObject({ verdict: 'failed' });
  });
});

describe('all', () => {
  it('is every unfinished one, and also what begins meanwhile', async () => {
    const world = new World({ operations: 30 });
    const first = world.plane.startOperation({ lengthMs: 10 * second });
    let later: Operation | undefined;
    world.clock.schedule(8 * second, () => {
      later = world.plane.startOperation({ lengthMs: 20 * second });
    });
    const waited = await world.wait('all');
    expect(waited.verdict).toBe('finished');
    expect(waited.operations.map(({ id }) => id)).toEqual([first.id, later?.id]);
    expect(waited.elapsed).toBeGreaterThanOrEqual(28 * second);
  });

  it('is nothing where nothing is unfinished, and names what failed in the last 5 minutes', async () => {
    const world = new World();
    const failed = (ageMs: number, plan: OperationPlan = {}) =>
      world.plane.startOperation({ ageMs, lengthMs: second, outcome: 'failed', ...plan });
    failed(6 * minute);
    failed(20 * second, { action: 'suspend_compute' });
    const recent = [failed(4 * minute), failed(2 * second)];
    world.plane.startOperation({ ageMs: minute });
    const waited = await world.wait('all');
    expect(waited).toMatchObject({ verdict: 'finished', operations: [] });
    expect(waited.failedBefore.map(({ id }) => id)).toEqual(recent.map(({ id }) => id).reverse());
  });

  it('can be told that nothing is not enough', async () => {
    const world = new World({ operations: 3 });
    expect(await world.wait('all', { failOnEmpty: true })).toMatchObject({ verdict: 'empty' });
  });

  it('does not see what had failed before', async () => {
    const world = new World();
    world.plane.startOperation({ ageMs: 10 * second, lengthMs: second, outcome: 'failed' });
    world.plane.startOperation({ lengthMs: 10 * second });
    expect(await world.wait('all')).toMatchObject({ verdict: 'finished' });
  });

  it('counts as failed what appeared and failed between two looks', async () => {
    const world = new World();
    world.plane.startOperation({ lengthMs: minute });
    let failed: Operation | undefined;
    world.clock.schedule(25 * second, () => {
      failed = world.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
    });
    const waited = await world.wait('all', { pollInterval: 10 * second });
    expect(waited.verdict).toBe('failed');
    expect(waited.operations.map(({ id }) => id)).toContain(failed?.id);
    expect(waited.elapsed).toBeCloseTo(30 * second, 0);
  });

  it('counts it also where it appeared at the look that shows the last one finished', async () => {
    const world = new World();
    world.plane.startOperation({ lengthMs: 15 * second });
    world.clock.schedule(16 * second, () => world.plane.startOperation({ lengthMs: 0, outcome: 'failed' }));
    expect(await world.wait('all', { pollInterval: 10 * second })).toMatchObject({ verdict: 'failed' });
  });

  it('follows what has left the newest 200 to its end', async () => {
    for (const [outcome, verdict] of [
      ['finished', 'finished'],
      ['failed', 'failed'],
    ] as const) {
      const world = new World();
      const operation = world.plane.startOperation({ lengthMs: minute, outcome });
      world.clock.schedule(20 * second, () => {
        for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
      });
      const waited = await world.wait('all');
      expect(waited.verdict).toBe(verdict);
      expect(waited.operations.find(({ id }) => id === operation.id)?.operation?.status).toBe(outcome);
      expect(waited.elapsed).toBeGreaterThanOrEqual(minute);
    }
  });

  it('does not count old ones that slide into the newest 200 when others are deleted', async () => {
    const world = new World();
    const plan = { lengthMs: second, ageMs: hour };
    for (let n = 0; n < 20; n++) world.plane.startOperation({ ...plan, ageMs: 2 * hour, outcome: 'failed' });
    const later = Array.from({ length: 199 }, () => world.plane.startOperation(plan));
    world.plane.startOperation({ lengthMs: minute });
    world.clock.schedule(20 * second, () => {
      for (const operation of later.slice(0, 50)) world.plane.removeOperation(operation);
    });
    const waited = await world.wait('all');
    expect(waited.verdict).toBe('finished');
    expect(waited.operations).toHaveLength(1);
  });

  it('leaves out what the service starts by itself, unless the filter names the action', async () => {
    const world = new World();
    for (const action of ['suspend_compute', 'check_availability']) world.plane.startOperation({ ...forever, action });
    expect(await world.wait('all')).toMatchObject({ verdict: 'finished', operations: [] });
    world.clock.schedule(world.clock.now() + 5 * second, () => {
      world.plane.startOperation({ action: 'suspend_compute', lengthMs: 0, outcome: 'failed' });
    });
    world.plane.startOperation({ lengthMs: 20 * second });
    expect(await world.wait('all', { failFast: false })).toMatchObject({ verdict: 'finished' });
    const target = { all: parseFilter('action=suspend_*', ['action']) };
    const waited = await world.wait('all', { target, timeout: minute });
    expect(waited.verdict).toBe('timeout');
    expect(waited.operations).toHaveLength(1);
  });

  const partly: Readonly<Record<string, FaultRule>> = {
    'a list that never comes': { fault: { kind: 'hang-before-headers' } },
    'a list that is refused patiently': { fault: status(429) },
    'a second page that never comes': { path: 'cursor=', fault: { kind: 'hang-mid-body' } },
    'a second page that is refused patiently': { path: 'cursor=', fault: status(423) },
    'a second page that is gone': { path: 'cursor=', fault: status(404) },
  };
  for (const [name, fault] of Object.entries(partly)) {
    it(`is never taken for nothing because of ${name}`, async () => {
      const world = new World({ faults: [fault] });
      world.plane.startOperation({ ...forever, ageMs: minute });
      for (let n = 0; n < 150; n++) world.plane.startOperation({ lengthMs: 0 });
      const waited = await world.wait('all', { timeout: 20 * second });
      expect(['timeout', 'error']).toContain(waited.verdict);
    });
  }
});

describe('the deadline', () => {
  it('brings one last look, which finds what ended a moment ago', async () => {
    for (const outcome of ['finished', 'failed']) {
      const { waited, times } = await waitForOne(
        { lengthMs: 59_999, outcome },
        { timeout: minute, pollInterval: 50 * second },
      );
      expect(waited.verdict).toBe(outcome);
      expect(times).toEqual([0, 50 * second, minute]);
    }
  });

  it('is a timeout where the last look shows no end', async () => {
    const { waited, times } = await waitForOne({ lengthMs: 60_001 }, { timeout: minute, pollInterval: 50 * second });
    expect(waited.verdict).toBe('timeout');
    expect(times.at(-1)).toBe(minute);
    expect(times).toHaveLength(3);
  });

  for (const kind of ['hang-before-headers', 'hang-mid-body'] as const) {
    for (const from of [1, 5]) {
      it(`is kept within 2 s where requests from the ${from}. on ${kind}`, async () => {
        const { waited, times } = await waitForOne(
          forever,
          { timeout: 20 * second },
          { faults: [{ from, fault: { kind } }] },
        );
        expect(waited.verdict).toBe('timeout');
        expect(times.at(-1)).toBe(20 * second);
        expect(waited.elapsed).toBeLessThan(22 * second);
      });
    }
  }

  it('is kept within 2 s where many are to be looked at for the last time', async () => {
    const world = new World({ faults: [{ from: 2, fault: { kind: 'delay', ms: 900 } }] });
    const old = Array.from({ length: 20 }, () => world.plane.startOperation(forever).id);
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    const waited = await world.wait(old, { timeout: 20 * second });
    expect(waited.verdict).toBe('timeout');
    expect(waited.elapsed).toBeLessThan(22 * second);
  });

  for (const of of [423, 429]) {
    for (const nth of [1, 6]) {
      it(`that a Retry-After of ${of} would overshoot ends the wait at once, without a last look (${nth})`, async () => {
        const { waited, times } = await waitForOne(
          forever,
          { timeout: minute },
          { faults: [{ nth, fault: status(of, 61) }] },
        );
        expect(waited).toMatchObject({ verdict: 'timeout', cause: { status: of } });
        expect(waited.cause?.message).toMatch(/asks to wait 1m 01s/);
        expect(times).toHaveLength(nth);
        expect(waited.elapsed).toBeCloseTo(times.at(-1) ?? Number.NaN, 2);
      });
    }
  }

  it('that a Retry-After of a 503 would overshoot is waited for, with a last look', async () => {
    const { waited, times } = await waitForOne(
      { lengthMs: second },
      { timeout: minute },
      { faults: [{ nth: 1, fault: status(503, 90) }] },
    );
    expect(waited.verdict).toBe('finished');
    expect(times).toEqual([0, minute]);
  });
});

describe('a cancel', () => {
  for (const [name, fault] of Object.entries({
    'between two looks': undefined,
    'while a request hangs': { kind: 'hang-before-headers' },
    'during a back-off': status(503, 50),
    'while patience is asked for': status(429, 50),
  } satisfies Record<string, Fault | undefined>)) {
    it(`ends the wait at once ${name}`, async () => {
      const cancel = new Cancellation();
      const world = new World({ faults: fault === undefined ? [] : [{ from: 3, fault }] });
      const operation = world.plane.startOperation(forever);
      world.clock.schedule(12_345, () => cancel.cancel());
      const waited = await world.wait([operation.id], { cancel });
      expect(waited.verdict).toBe('cancelled');
      expect(waited.elapsed).toBeCloseTo(12_345, 0);
      expect(waited.operations[0]?.operation?.id).toBe(operation.id);
    });
  }
});

describe('one look', () => {
  it('says what it saw, and is never repeated', async () => {
    const verdictOf = async (plan: OperationPlan, faults: FaultRule[] = []) => {
      const { waited, times } = await waitForOne(plan, { timeout: 0 }, { faults });
      expect(times).toHaveLength(1);
      return waited.verdict;
    };
    expect(await verdictOf({ lengthMs: 0 })).toBe('finished');
    expect(await verdictOf({ lengthMs: 0, outcome: 'failed' })).toBe('failed');
    expect(await verdictOf(forever)).toBe('timeout');
    expect(await verdictOf({ lengthMs: 0 }, [{ fault: status(503) }])).toBe('error');
    expect(await verdictOf({ lengthMs: 0 }, [{ fault: { kind: 'hang-before-headers' } }])).toBe('error');
  });
});

describe('a bad network', () => {
  const kinds: readonly Fault[] = [
    { kind: 'hang-before-headers' },
    { kind: 'hang-mid-body' },
    { kind: 'drip', intervalMs: 1_000 },
    { kind: 'delay', ms: 3_000 },
    { kind: 'cut-before-headers' },
    { kind: 'cut-mid-body' },
    { kind: 'bad-json' },
    { kind: 'empty-body' },
    { kind: 'html' },
    { kind: 'redirect', location: 'https://elsewhere.test/' },
    { kind: 'endless-body' },
    { kind: 'close-on-next-request' },
    status(500),
    status(503, 10),
    status(404),
    status(429),
    status(423, 5),
  ];

  it('makes no wait green that is not', async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, async (_, seed) => {
        const random = seededRandom(seed);
        const world = new World({
          seed,
          operations: 5,
          trip: () => 200 * random(),
          faults: kinds.map((fault) => ({ fault, probability: 0.06 * random() })),
        });
        const operations = Array.from({ length: 1 + (seed % 4) }, () =>
          world.plane.startOperation({
            lengthMs: random() < 0.15 ? Number.POSITIVE_INFINITY : 90 * second * random(),
            outcome: random() < 0.1 ? 'failed' : 'finished',
          }),
        );
        const truth = () => operations.map((operation) => world.plane.statusOf(operation));
        const waited = await world.wait(seed % 3 === 0 ? 'all' : operations.map(({ id }) => id), {
          seed,
          timeout: 2 * minute,
          requestTimeout: 5 * second,
          failFast: random() < 0.5,
        });
        expect(waited.elapsed).toBeLessThan(2 * minute + 2 * second);
        if (waited.verdict === 'failed') expect(truth()).toContain('failed');
        if (waited.verdict === 'finished') {
          const stillToEnd = truth().filter((word) => word !== 'finished');
          // Of all, what had failed before the first good look is nobody's business.
          expect(seed % 3 === 0 ? stillToEnd.filter((word) => word !== 'failed') : stillToEnd).toEqual([]);
        }
        return waited.verdict;
      }),
    );
    // It is no proof of anything if all end alike.
    expect(verdicts.filter((verdict) => verdict === 'finished').length).toBeGreaterThan(30);
    expect(new Set(verdicts).size).toBeGreaterThan(2);
  });
});
