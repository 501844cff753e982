import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../virtual/clock.js';

function pause(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(clock.now() + ms, resolve));
}

describe('the virtual clock', () => {
  it('calls in order of time, and of two at the same time the older appointment first', async () => {
    const clock = new VirtualClock();
    const called: string[] = [];
    for (const [name, time] of [
      ['c', 30],
      ['a', 10],
      ['d', 30],
      ['b', 20],
      ['past', -5],
    ] as const) {
      clock.schedule(time, () => called.push(`${name}@${clock.now()}`));
    }
    await clock.run(pause(clock, 1_000));
    expect(called).toEqual(['past@0', 'a@10', 'b@20', 'c@30', 'd@30']);
  });

  it('lets all that a moment brings about happen before the next', async () => {
    const clock = new VirtualClock();
    const course: number[] = [];
    const work = async () => {
      for (let turn = 0; turn < 3; turn++) {
        await pause(clock, 10);
        for (let step = 0; step < 50; step++) await null;
        course.push(clock.now());
      }
    };
    clock.schedule(10.5, () => course.push(clock.now()));
    await clock.run(work());
    expect(course).toEqual([10, 10.5, 20, 30]);
  });

  it('does not call what was called off, however much of it there is', async () => {
    const clock = new VirtualClock();
    let called = 0;
    const offs = Array.from({ length: 1_000 }, (_, n) => clock.schedule(1_000 - n, () => called++));
    for (const [n, off] of offs.entries()) if (n % 10 !== 0) off();
    await clock.run(pause(clock, 2_000));
    expect(called).toBe(100);
    for (const off of offs) off();
    expect(clock.now()).toBe(2_000);
  });

  it('stops with the work, and says so where nothing is left to happen', async () => {
    const clock = new VirtualClock();
    let late = false;
    clock.schedule(50, () => {
      late = true;
    });
    expect(await clock.run(pause(clock, 20).then(() => 'done'))).toBe('done');
    expect(late).toBe(false);
    clock.schedule(Number.POSITIVE_INFINITY, () => {});
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow('Nothing is left to happen');
    expect(late).toBe(true);
  });

  it('tells the service the same time, counted from 1970', async () => {
    const clock = new VirtualClock(1_000_000);
    const seen: number[] = [];
    clock.service.schedule(250, () => seen.push(clock.service.now()));
    await clock.run(pause(clock, 300));
    expect(seen).toEqual([1_000_250]);
    expect(clock.epochMs()).toBe(1_000_300);
  });
});
