import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual/clock.js';

test('the virtual clock runs scheduled calls in the order of their times, and skips cancelled calls', async () => {
  const clock = new VirtualClock(1_000_000);
  const called: string[] = [];
  const note = (name: string) => () => called.push(`${name}@${clock.now()}`);
  for (const [name, time] of Object.entries({ c: 30, a: 10, d: 30, b: 20.5, past: -5 }))
    clock.schedule(time, note(name));
  for (const time of [10, 15, 30]) clock.schedule(time, note('cancelled'))();
  clock.service.schedule(25, () => called.push(`service@${clock.service.now()}`));
  const work = async () => {
    await clock.sleep(10);
    for (let step = 0; step < 50; step++) await Promise.resolve();
    note('work')();
    await clock.sleep(100);
  };
  await clock.run(work());
  expect(called).toEqual(['past@0', 'a@10', 'work@10', 'b@20.5', 'service@1000025', 'c@30', 'd@30']);
});

test('virtual time stops when the work ends, and work that can never end is rejected', async () => {
  const clock = new VirtualClock();
  let isLate = false;
  clock.schedule(50, () => {
    isLate = true;
  });
  expect(await clock.run(clock.sleep(20).then(() => 'done'))).toBe('done');
  expect([isLate, clock.now()]).toEqual([false, 20]);
  clock.schedule(Number.POSITIVE_INFINITY, () => {});
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('Nothing is left to happen');
  expect(isLate).toBe(true);
});
