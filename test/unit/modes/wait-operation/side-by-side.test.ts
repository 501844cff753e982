import { describe, expect, it } from 'vitest';
import { World } from '../../../virtual/world.js';

const second = 1_000;
const minute = 60 * second;
const forever = { lengthMs: Number.POSITIVE_INFINITY };

describe('requests for single operations', () => {
  it('one that hangs does not hide that another operation failed', async () => {
    for (const failFast of [true, false]) {
      const world = new World();
      const hanging = world.plane.startOperation(forever);
      const failing = world.plane.startOperation({ lengthMs: 2 * second, outcome: 'failed' });
      world.faults.add({ path: hanging.id, fault: { kind: 'hang-before-headers' } });
      const waited = await world.wait([hanging.id, failing.id], { timeout: minute, requestTimeout: minute, failFast });
      expect(waited.verdict).toBe('failed');
      if (failFast) expect(waited.elapsed).toBeLessThan(4 * second);
    }
  });

  it('one that hangs delays no other, with a hundred either', async () => {
    const world = new World();
    const old = Array.from({ length: 100 }, () => world.plane.startOperation({ lengthMs: 10 * second }));
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    world.faults.add({ path: old[3]?.id ?? '', count: 1, fault: { kind: 'hang-before-headers' } });
    const waited = await world.wait(
      old.map(({ id }) => id),
      { timeout: 10 * minute, requestTimeout: 40 * second },
    );
    expect(waited.verdict).toBe('finished');
    // Only the one that hung is late.
    expect(waited.elapsed).toBeLessThan(46 * second);
    const lateRequests = world.exchanges.log.exchanges.filter((_, n) => (world.times[n] ?? 0) > 15 * second);
    expect(new Set(lateRequests.map(({ endpoint }) => endpoint))).toEqual(new Set(['get-operation']));
  });

  it('a hundred behind the newest 200 are all seen within 10 s where a response takes 150 ms', async () => {
    const world = new World({ trip: () => 75 });
    const old = Array.from({ length: 100 }, () => world.plane.startOperation({ lengthMs: 0 }));
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    const waited = await world.wait(
      old.map(({ id }) => id),
      { timeout: 10 * second },
    );
    expect(waited.verdict).toBe('finished');
    expect(waited.elapsed).toBeLessThan(3 * second);
  });

  it('a list that hangs is replaced by them', async () => {
    const world = new World({ faults: [{ endpoint: 'list-operations', fault: { kind: 'hang-before-headers' } }] });
    const plans = [forever, forever, { lengthMs: second, outcome: 'failed' }];
    const ids = plans.map((plan) => world.plane.startOperation(plan).id);
    const waited = await world.wait(ids, { timeout: 10 * minute, requestTimeout: 5 * minute });
    expect(waited.verdict).toBe('failed');
    expect(waited.elapsed).toBeLessThan(3 * second);
  });

  it('a list that cannot be used is replaced by them, and they are not repeated', async () => {
    for (const fault of [
      { kind: 'status', status: 200, body: '{"operations":{}}' },
      { kind: 'bad-json' },
      { kind: 'html', status: 200 },
    ] as const) {
      const world = new World({ faults: [{ endpoint: 'list-operations', fault }] });
      const ids = Array.from({ length: 3 }, () => world.plane.startOperation({ lengthMs: 0 }).id);
      expect(await world.wait(ids)).toMatchObject({ verdict: 'finished', elapsed: 0 });
      expect(world.times).toHaveLength(4);
    }
  });

  it('a broken record of an unrelated operation does not make them red', async () => {
    const world = new World();
    const ids = Array.from({ length: 3 }, () => world.plane.startOperation({ lengthMs: 20 * second }).id);
    world.plane.startOperation({ fields: { status: null } });
    expect(await world.wait(ids)).toMatchObject({ verdict: 'finished' });
  });

  it('of which several are throttled at once slow the wait down once', async () => {
    const world = new World({ trip: () => 20 });
    const ids = Array.from({ length: 12 }, () => world.plane.startOperation({ lengthMs: 2 * second }).id);
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    world.faults.add({ endpoint: 'get-operation', count: 12, fault: { kind: 'status', status: 429 } });
    const waited = await world.wait(ids);
    expect(waited.verdict).toBe('finished');
    expect(waited.elapsed).toBeLessThan(25 * second);
  });

  it('send nothing to a service that said 429 before the time it asked for has passed', async () => {
    const world = new World({ trip: () => 20 });
    const ids = Array.from({ length: 40 }, () => world.plane.startOperation(forever).id);
    for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
    world.faults.add({
      endpoint: 'get-operation',
      nth: 3,
      fault: { kind: 'status', status: 429, retryAfter: { seconds: 30 } },
    });
    await world.wait(ids, { timeout: 20 * second + minute });
    // It arrives after two pages and two others, and its response one trip later; what was sent by then is one trip later still.
    const arrived = world.times[4] ?? 0;
    expect(world.times.filter((time) => time > arrived + 40 && time < arrived + 30 * second)).toEqual([]);
  });

  it('a lock on one operation does not hold up the others', async () => {
    const world = new World();
    const locked = world.plane.startOperation(forever);
    const failing = world.plane.startOperation({ lengthMs: 10 * second, outcome: 'failed' });
    world.faults.add({
      path: locked.id,
      fault: { kind: 'status', status: 423, retryAfter: { seconds: 50 } },
    });
    const waited = await world.wait([locked.id, failing.id], { timeout: 2 * minute });
    expect(waited.verdict).toBe('failed');
    expect(waited.elapsed).toBeLessThan(30 * second);
  });

  it('that are still open when the wait is decided are given up', async () => {
    const world = new World();
    const hanging = world.plane.startOperation(forever);
    const failed = world.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
    world.faults.add({ path: hanging.id, fault: { kind: 'hang-before-headers' } });
    const inner = world.connect();
    let givenUp = 0;
    const waited = await world.wait([hanging.id, failed.id], {
      exchange: (request, onStop) =>
        inner(request, (giveUp) => {
          onStop(() => {
            givenUp++;
            giveUp();
          });
        }),
    });
    expect(waited.verdict).toBe('failed');
    expect(givenUp).toBe(1);
  });
});

describe('a service that never responds', () => {
  it('is named as such, with every project that never got a response', async () => {
    const world = new World({ faults: [{ fault: { kind: 'hang-before-headers' } }] });
    const { id } = world.plane.startOperation(forever);
    const waited = await world.wait([id], { timeout: 20 * second });
    expect(waited).toMatchObject({ verdict: 'timeout', cause: undefined, unresponsiveProjects: [world.projectId] });
  });
});

it('the Retry-After of one operation that failed holds for it alone, also where a list is read', async () => {
  const world = new World();
  const old = world.plane.startOperation(forever);
  for (let n = 0; n < 250; n++) world.plane.startOperation({ lengthMs: 0 });
  const others = [1, 2, 3].map(() => world.plane.startOperation(forever).id);
  world.faults.add({ path: old.id, nth: 2, fault: { kind: 'status', status: 503, retryAfter: { seconds: 20 } } });
  await world.wait([old.id, ...others], { timeout: 30 * second, pollInterval: second });
  const asked = world.times.filter((_, n) => world.exchanges.log.exchanges[n]?.path.includes(old.id));
  expect(asked[2]).toBeGreaterThanOrEqual(21 * second);
  const lists = world.times.filter((_, n) => world.exchanges.log.exchanges[n]?.endpoint === 'list-operations');
  expect(lists.filter((time) => time > second && time < 20 * second).length).toBeGreaterThan(30);
});
