import { describe, expect, it } from 'vitest';
import { silent } from '../../../../src/api/log.js';
import { parseFilter } from '../../../../src/modes/list/filter.js';
import type { OperationPlan } from '../../../control-plane/index.js';
import { World } from '../../../virtual/world.js';

const second = 1_000;
const minute = 60 * second;
const forever = { lengthMs: Number.POSITIVE_INFINITY };
const failedAtOnce: OperationPlan = { lengthMs: 0, outcome: 'failed' };

describe('an empty list', () => {
  it('is believed only by a poll 5 s after the first', async () => {
    const world = new World({ operations: 3 });
    const waited = await world.wait('all');
    expect(waited).toMatchObject({ verdict: 'finished', operations: [] });
    expect(world.times.at(-1)).toBeGreaterThanOrEqual(5 * second);
    expect(world.times.at(-1)).toBeLessThan(5.1 * second);
    expect(world.times.length).toBeGreaterThan(3);
  });

  it('is said in the log to be polled again, once for all projects', async () => {
    const world = new World({ projects: 3 });
    const lines: string[] = [];
    const log = { ...silent, info: (line: string) => lines.push(line) };
    await world.wait('all', { projectIds: world.plane.projectIds, log });
    expect(lines.filter((line) => line.includes('No unfinished operation yet. Polling for 5s more'))).toHaveLength(1);
    lines.length = 0;
    await world.wait('all', { timeout: 0, log });
    expect(lines.join()).not.toContain('Polling for 5s more');
  });

  it('is polled after 5 s also where poll-interval is longer', async () => {
    const world = new World();
    const waited = await world.wait('all', { pollInterval: minute });
    expect(waited.verdict).toBe('finished');
    expect(world.times).toEqual([0, 5 * second]);
  });

  it('does not open the gate for an operation that is listed 1.5 s late', async () => {
    const world = new World();
    const late = world.plane.startOperation({ lengthMs: minute, appearsAfterMs: 1_500 });
    const waited = await world.wait('all');
    expect(waited).toMatchObject({ verdict: 'finished', operations: [{ id: late.id }] });
    expect(waited.elapsed).toBeGreaterThanOrEqual(minute);
  });

  it('fails the wait when an operation appears meanwhile that has already failed', async () => {
    const world = new World();
    world.clock.schedule(2.2 * second, () => world.plane.startOperation(failedAtOnce));
    const waited = await world.wait('all');
    expect(waited.verdict).toBe('failed');
    expect(waited.elapsed).toBeLessThan(4 * second);
  });

  it('ends at once when an operation appears meanwhile that has already finished', async () => {
    const world = new World();
    world.clock.schedule(2.2 * second, () => world.plane.startOperation({ lengthMs: 0 }));
    const waited = await world.wait('all', { failOnEmpty: true });
    expect(waited.verdict).toBe('finished');
    expect(waited.operations).toHaveLength(1);
    expect(waited.elapsed).toBeLessThan(5 * second);
  });

  it('is believed at once by the one poll of timeout: 0', async () => {
    const world = new World();
    expect(await world.wait('all', { timeout: 0 })).toMatchObject({ verdict: 'finished' });
    expect(world.times).toEqual([0]);
  });

  it('is no result when the deadline comes first, even with fail-on: empty', async () => {
    for (const failOnEmpty of [false, true]) {
      const world = new World();
      expect(await world.wait('all', { timeout: 4 * second, failOnEmpty })).toMatchObject({ verdict: 'timeout' });
    }
  });

  it('fails the step with fail-on: empty, also an empty list of ids', async () => {
    const world = new World();
    expect(await world.wait('all', { failOnEmpty: true })).toMatchObject({ verdict: 'empty' });
    for (const [failOnEmpty, verdict] of [
      [true, 'empty'],
      [false, 'finished'],
    ] as const)
      expect(await world.wait([], { failOnEmpty })).toMatchObject({ verdict, elapsed: 0 });
  });

  it('is not believed while the poll that would prove it fails', async () => {
    const world = new World({ faults: [{ nth: 2, fault: { kind: 'status', status: 503 } }] });
    const waited = await world.wait('all', { pollInterval: 5 * second });
    expect(waited.verdict).toBe('finished');
    expect(world.times).toEqual([0, 5 * second, 10 * second]);
  });

  it('does not make a throttled wait poll faster', async () => {
    const world = new World({
      faults: [{ nth: 1, fault: { kind: 'status', status: 429, retryAfter: { seconds: 20 } } }],
    });
    const waited = await world.wait('all');
    expect(waited.verdict).toBe('finished');
    expect(world.times[1]).toBeGreaterThanOrEqual(20 * second);
    for (const [n, time] of world.times.slice(2).entries())
      expect(time - (world.times[n + 1] ?? 0)).toBeGreaterThan(5 * second);
  });

  it('says how many unfinished operations the filter excluded', async () => {
    const world = new World();
    for (let n = 0; n < 3; n++) world.plane.startOperation(forever);
    world.plane.startOperation({ ...forever, action: 'suspend_compute' });
    const target = { all: parseFilter('branch_id=other', ['branch_id']) };
    expect(await world.wait('all', { target })).toMatchObject({
      verdict: 'finished',
      operations: [],
      excludedCount: 3,
    });
  });

  it('names what failed in the last 5 minutes of the service, however wrong the clock of the runner is', async () => {
    for (const skew of [-60 * minute, 60 * minute]) {
      const world = new World();
      const failed = (ageMs: number) => world.plane.startOperation({ ...failedAtOnce, ageMs });
      failed(6 * minute);
      const recent = failed(4 * minute);
      const waited = await world.wait('all', { clockSkew: skew });
      expect(waited.failedBefore.map(({ id }) => id)).toEqual([recent.id]);
    }
  });
});

describe('the first poll', () => {
  it('takes nothing that has ended for new, in whatever order the service lists it', async () => {
    for (const outcome of ['finished', 'failed']) {
      const world = new World();
      world.plane.startOperation({
        ageMs: minute,
        lengthMs: 0,
        outcome,
        fields: { created_at: '2023-12-31T09:00:00.001Z' },
      });
      world.plane.startOperation({ ageMs: minute, lengthMs: 0, fields: { created_at: '2023-12-31T09:00:00.000Z' } });
      const waited = await world.wait('all', { failOnEmpty: true });
      expect(waited).toMatchObject({ verdict: 'empty', operations: [] });
      expect(waited.elapsed).toBeGreaterThanOrEqual(5 * second);
    }
  });

  it('finds a long operation behind 900 newer ones', async () => {
    const world = new World();
    const long = world.plane.startOperation({ lengthMs: minute });
    for (let n = 0; n < 900; n++) world.plane.startOperation({ lengthMs: 0, action: 'suspend_compute' });
    const waited = await world.wait('all');
    expect(waited).toMatchObject({ verdict: 'finished', operations: [{ id: long.id }] });
    expect(waited.elapsed).toBeGreaterThanOrEqual(minute);
  });

  it('reads the newest 1,000, later ones the newest 200', async () => {
    const world = new World();
    world.plane.startOperation(forever);
    for (let n = 0; n < 1_050; n++) world.plane.startOperation({ lengthMs: 0 });
    expect(await world.wait('all', { pollInterval: 5 * second })).toMatchObject({
      verdict: 'finished',
      operations: [],
    });
    expect(world.times.filter((time) => time === 0)).toHaveLength(10);
    expect(world.times.filter((time) => time > 0)).toHaveLength(2);
  });
});

describe('since', () => {
  const since = 10 * minute;
  const target = { all: parseFilter('', []), since };

  it('counts what failed before the first poll', async () => {
    const world = new World();
    const failed = world.plane.startOperation({ ...failedAtOnce, ageMs: 9 * minute });
    const waited = await world.wait('all', { target });
    expect(waited).toMatchObject({ verdict: 'failed', operations: [{ id: failed.id }] });
    expect(waited.elapsed).toBe(0);
  });

  it('counts what finished before the first poll, so that there is nothing to wait for', async () => {
    const world = new World();
    const finished = world.plane.startOperation({ lengthMs: 0, ageMs: 9 * minute });
    const waited = await world.wait('all', { target, failOnEmpty: true });
    expect(waited).toMatchObject({ verdict: 'finished', operations: [{ id: finished.id }] });
    expect(waited.elapsed).toBe(0);
  });

  it('does not count what was created before it', async () => {
    const world = new World();
    world.plane.startOperation({ ...failedAtOnce, ageMs: 11 * minute });
    expect(await world.wait('all', { target })).toMatchObject({ verdict: 'finished', operations: [] });
  });

  it('does not count what the service starts by itself, or what the filter leaves out', async () => {
    const world = new World();
    world.plane.startOperation({ ...failedAtOnce, ageMs: minute, action: 'check_availability' });
    world.plane.startOperation({ ...failedAtOnce, ageMs: minute, branchId: 'br-theirs' });
    const filtered = { all: parseFilter('branch_id!=br-theirs', ['branch_id']), since };
    expect(await world.wait('all', { target: filtered })).toMatchObject({ verdict: 'finished', operations: [] });
  });

  it('makes the first poll read back to it, behind the newest 1,000', async () => {
    const world = new World();
    const failed = world.plane.startOperation({ ...failedAtOnce, ageMs: 9 * minute });
    for (let n = 0; n < 1_150; n++)
      world.plane.startOperation({ lengthMs: 0, ageMs: 5 * minute, action: 'suspend_compute' });
    expect(await world.wait('all', { target })).toMatchObject({ verdict: 'failed', operations: [{ id: failed.id }] });
  });

  it('makes the first poll read no further than it must', async () => {
    const world = new World();
    for (let n = 0; n < 1_500; n++) world.plane.startOperation({ lengthMs: 0, ageMs: 60 * minute });
    await world.wait('all', { target, timeout: 0 });
    expect(world.times).toHaveLength(10);
  });

  it("is measured on the service's clock", async () => {
    for (const skew of [-60 * minute, 60 * minute]) {
      const world = new World();
      world.plane.startOperation({ ...failedAtOnce, ageMs: 11 * minute });
      const recent = world.plane.startOperation({ ...failedAtOnce, ageMs: 9 * minute });
      const waited = await world.wait('all', { target, clockSkew: skew });
      expect(waited.operations.map(({ id }) => id)).toEqual([recent.id]);
    }
  });
});

describe('several projects', () => {
  function worldOf(projects: number) {
    const world = new World({ projects });
    return { world, projectIds: world.plane.projectIds };
  }

  it('must all be idle', async () => {
    const { world, projectIds } = worldOf(3);
    for (const [n, projectId] of projectIds.entries())
      world.plane.startOperation({ projectId, lengthMs: (n + 1) * 20 * second });
    const waited = await world.wait('all', { projectIds });
    expect(waited.verdict).toBe('finished');
    expect(waited.elapsed).toBeGreaterThanOrEqual(minute);
    expect(waited.operations.map(({ projectId }) => projectId)).toEqual(projectIds);
  });

  it('of which one has nothing unfinished give that one its 5 s', async () => {
    const { world, projectIds } = worldOf(2);
    const [busy = '', idle = ''] = projectIds;
    world.plane.startOperation({ projectId: busy, lengthMs: second });
    world.clock.schedule(3 * second, () => world.plane.startOperation({ ...failedAtOnce, projectId: idle }));
    expect(await world.wait('all', { projectIds })).toMatchObject({ verdict: 'failed' });
  });

  it('of which one is unknown end as an error that names it', async () => {
    const { world, projectIds } = worldOf(2);
    for (const projectId of projectIds) world.plane.startOperation({ ...forever, projectId });
    const waited = await world.wait('all', { projectIds: [...projectIds, 'no-such-project'] });
    expect(waited.verdict).toBe('error');
    expect(waited.cause?.message).toContain('no-such-project');
  });

  it('of which one answers have their own first response: one that keeps failing is given up after 5 attempts', async () => {
    const { world, projectIds } = worldOf(2);
    for (const projectId of projectIds) world.plane.startOperation({ ...forever, projectId });
    const path = `/projects/${projectIds[1]}/`;
    world.faults.add({ path, fault: { kind: 'status', status: 503 } });
    const waited = await world.wait('all', { projectIds });
    expect(waited).toMatchObject({ verdict: 'error', cause: { status: 503 } });
    expect(world.exchanges.log.exchanges.filter((one) => one.path.includes(path))).toHaveLength(5);
  });

  it('of which one hangs still let another fail the wait', async () => {
    const { world, projectIds } = worldOf(2);
    const [hanging, failing = ''] = projectIds;
    world.faults.add({ path: `/projects/${hanging}/`, fault: { kind: 'hang-before-headers' } });
    world.plane.startOperation({ projectId: failing, lengthMs: 10 * second, outcome: 'failed' });
    const waited = await world.wait('all', { projectIds, timeout: 10 * minute, requestTimeout: 5 * minute });
    expect(waited.verdict).toBe('failed');
    expect(waited.elapsed).toBeLessThan(14 * second);
  });

  it('send at most 12 requests at once, and one read a project and poll', async () => {
    const { world, projectIds } = worldOf(100);
    for (const projectId of projectIds) world.plane.startOperation({ projectId, lengthMs: 20 * second });
    const slow = world.connect();
    let open = 0;
    let most = 0;
    const exchange: typeof slow = async (request, onStop) => {
      most = Math.max(most, ++open);
      try {
        await new Promise<void>((resolve) => world.clock.schedule(world.clock.now() + 150, resolve));
        return await slow(request, onStop);
      } finally {
        open--;
      }
    };
    const waited = await world.wait('all', { projectIds, exchange, pollInterval: 5 * second });
    expect(waited.verdict).toBe('finished');
    expect(waited.operations).toHaveLength(100);
    expect(most).toBe(12);
    expect(world.times.length % 100).toBe(0);
  });
});
