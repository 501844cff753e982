import { expect, it } from 'vitest';
import { isTransientStatus } from '../../../../src/http/retry.js';
import { Cancellation } from '../../../../src/time/deadline.js';
import { World } from '../../../virtual/world.js';

const second = 1_000;
const forever = { lengthMs: Number.POSITIVE_INFINITY };

it('a cancel after one has failed and while others are awaited is a cancel', async () => {
  const cancel = new Cancellation();
  const world = new World();
  const ids = [
    world.plane.startOperation({ lengthMs: 0, outcome: 'failed' }).id,
    world.plane.startOperation(forever).id,
  ];
  world.clock.schedule(12_345, () => cancel.cancel());
  const waited = await world.wait(ids, { cancel, failFast: false });
  expect(waited.verdict).toBe('cancelled');
});

it('the last look also asks for what a Retry-After has put off, with one operation or several', async () => {
  const fault = { kind: 'status', status: 503, retryAfter: { seconds: 44 } } as const;
  for (const others of [0, 3]) {
    const world = new World();
    const late = world.plane.startOperation({ lengthMs: 20 * second });
    const ids = [late.id, ...Array.from({ length: others }, () => world.plane.startOperation({ lengthMs: 0 }).id)];
    world.faults.add({ from: 2, count: 1, fault });
    const waited = await world.wait(ids, { timeout: 30 * second, pollInterval: 5 * second });
    expect(waited).toMatchObject({ verdict: 'finished', elapsed: 30 * second });
  }
});

it('a cancel during the one poll of timeout: 0 is a cancel', async () => {
  for (const what of ['all', 'one'] as const) {
    const cancel = new Cancellation();
    const world = new World({ faults: [{ fault: { kind: 'hang-before-headers' } }] });
    const { id } = world.plane.startOperation(forever);
    world.clock.schedule(1_234, () => cancel.cancel());
    const waited = await world.wait(what === 'all' ? what : [id], { cancel, timeout: 0 });
    expect(waited).toMatchObject({ verdict: 'cancelled', elapsed: 1_234 });
  }
});

it('the first failure that is seen ends the wait, whatever else is pending', async () => {
  const world = new World();
  const ids = [
    world.plane.startOperation({ lengthMs: 0, outcome: 'failed' }).id,
    world.plane.startOperation(forever).id,
  ];
  const waited = await world.wait(ids);
  expect(waited.verdict).toBe('failed');
  expect(world.times).toEqual([0, 0]);
});

it('one that cannot be seen does not hide another that fails', async () => {
  const world = new World();
  const unseen = world.plane.startOperation(forever);
  const failing = world.plane.startOperation({ lengthMs: 10 * second, outcome: 'failed' });
  world.faults.add({ path: unseen.id, from: 2, fault: { kind: 'status', status: 500 } });
  const waited = await world.wait([unseen.id, failing.id], { timeout: 60 * second });
  expect(waited.verdict).toBe('failed');
  expect(waited.elapsed).toBeLessThanOrEqual(13 * second);
});

it('the one look of timeout: 0 goes on behind one that is not found', async () => {
  const world = new World();
  const failed = world.plane.startOperation({ lengthMs: 0, outcome: 'failed' });
  const waited = await world.wait(['0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11', failed.id], { timeout: 0 });
  expect(waited.verdict).toBe('failed');
});

it('one that the list has shown again has all of its 30 seconds when it is gone once more', async () => {
  const world = new World();
  const others = Array.from({ length: 2 }, () => world.plane.startOperation(forever).id);
  const operation = world.plane.startOperation({ ...forever, appearsAfterMs: 1_200, vanishesAfterMs: 36 * second });
  const waited = await world.wait([...others, operation.id], { timeout: 600 * second });
  expect(waited.verdict).toBe('error');
  expect(waited.elapsed).toBeGreaterThan(65 * second);
});

it('one that appears and fails behind a first look that broke off counts as failed', async () => {
  const world = new World({
    operations: 2,
    notShown: { maximumPageSize: 1, overMaximum: 'clamp' },
    faults: [{ endpoint: 'list-operations', from: 2, count: 2, fault: { kind: 'status', status: 500 } }],
  });
  world.clock.schedule(300, () => world.plane.startOperation({ lengthMs: 50, outcome: 'failed' }));
  const waited = await world.wait('all');
  expect(waited.verdict).toBe('failed');
});

it('why something is not found is told, though others are', async () => {
  const world = new World();
  const seen = world.plane.startOperation(forever);
  const waited = await world.wait(['0f6b0f0e-5d3c-4b57-9a55-9a3a1f3d7c11', seen.id], { timeout: 3 * second });
  expect(waited).toMatchObject({ verdict: 'timeout', cause: { status: 404 } });
});

it('no other look is announced where none follows', async () => {
  for (const [faults, timeout] of [
    [[{ fault: { kind: 'status', status: 401 } }], 60 * second],
    [[{ from: 3, fault: { kind: 'status', status: 403 } }], 60 * second],
    [[{ fault: { kind: 'status', status: 404 } }], 0],
    [[{ fault: { kind: 'status', status: 503 } }], 0],
  ] as const) {
    const world = new World({ faults });
    const operation = world.plane.startOperation(forever);
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const log = { info: say, notice: say, warning: say, debug: () => undefined };
    expect((await world.wait([operation.id], { timeout, log })).verdict).toBe('error');
    expect(lines.join('\n')).not.toContain('another follows');
  }
});

it('the last look is taken once, and what it met is told', async () => {
  const world = new World({ faults: [{ from: 2, fault: { kind: 'status', status: 503 } }] });
  const operation = world.plane.startOperation(forever);
  const waited = await world.wait([operation.id], { timeout: 10 * second, pollInterval: 20 * second });
  expect(waited.verdict).toBe('timeout');
  expect(world.times).toEqual([0, 10 * second]);
  expect(waited.cause).toMatchObject({ status: 503 });
});

it.each([{ kind: 'status', status: 503 }, { kind: 'cut-before-headers' }] as const)(
  'the last look is not repeated where it meets %o',
  async (fault) => {
    const world = new World({ faults: [{ from: 2, fault }] });
    const operation = world.plane.startOperation(forever);
    await world.wait([operation.id], { timeout: 10 * second, pollInterval: 100 });
    expect(world.times.filter((time) => time >= 10 * second)).toHaveLength(1);
  },
);

it('a deadline that strikes a request is not called its request-timeout', async () => {
  const world = new World({ faults: [{ from: 2, fault: { kind: 'hang-before-headers' } }] });
  const operation = world.plane.startOperation(forever);
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const log = { info: say, notice: say, warning: say, debug: say };
  const waited = await world.wait([operation.id], { timeout: 10 * second, requestTimeout: 30 * second, log });
  expect(waited.verdict).toBe('timeout');
  expect(lines.join('\n')).not.toContain('request-timeout');
});

it('exactly those statuses are worth another try', () => {
  const worth = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  const beyond = Array.from({ length: 11 }, (_, n) => 520 + n);
  expect(worth).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...beyond]);
});
