import { expect, it } from 'vitest';
import { VirtualClock } from '../../virtual/clock.js';

const pause = (clock: VirtualClock, ms: number): Promise<void> =>
  new Promise((resolve) => clock.schedule(clock.now() + ms, resolve));

it('the virtual clock calls in order of time, of two at the same time the older first, and never what was cancelled', async () => {
  const clock = new VirtualClock();
  const called: string[] = [];
  for (const [name, time] of Object.entries({ c: 30, a: 10, d: 30, b: 20, past: -5 }))
    clock.schedule(time, () => called.push(`${name}@${clock.now()}`));
  let kept = 0;
  const cancels = Array.from({ length: 1_000 }, (_, n) => clock.schedule(1_000 - n, () => kept++));
  for (const [n, cancel] of cancels.entries()) if (n % 10 !== 0) cancel();

  await clock.run(pause(clock, 2_000));

  expect(called).toEqual(['past@0', 'a@10', 'b@20', 'c@30', 'd@30']);
  expect(kept).toBe(100);
});

it('virtual time stands still until all work of a moment is done', async () => {
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

it('virtual time ends with the work, and fails if nothing is left to happen', async () => {
  const clock = new VirtualClock();
  let wasCalled = false;
  clock.schedule(50, () => {
    wasCalled = true;
  });

  expect(await clock.run(pause(clock, 20).then(() => 'done'))).toBe('done');
  expect(wasCalled).toBe(false);
  clock.schedule(Number.POSITIVE_INFINITY, () => undefined);
  await expect(clock.run(new Promise(() => undefined))).rejects.toThrow('Nothing is left to happen');
  expect(wasCalled).toBe(true);
});

it('the service has the same virtual time, counted from 1970', async () => {
  const clock = new VirtualClock(1_000_000);
  const seen: number[] = [];
  clock.service.schedule(250, () => seen.push(clock.service.now()));

  await clock.run(pause(clock, 300));

  expect([...seen, clock.epochMs()]).toEqual([1_000_250, 1_000_300]);
});
