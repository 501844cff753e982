import { expect, test } from 'vitest';
import { VirtualClock } from '../virtual/clock.js';

test('calls come in order of time, and of two at the same time the older one first', async () => {
  const clock = new VirtualClock();
  const called: string[] = [];
  for (const [name, time] of Object.entries({ c: 30, a: 10, d: 30, b: 20, past: -5 }))
    clock.schedule(time, () => called.push(`${name}@${clock.now()}`));
  await clock.run(clock.sleep(1_000));
  expect(called).toEqual(['past@0', 'a@10', 'b@20', 'c@30', 'd@30']);
});

test('everything that follows from one moment happens before the next', async () => {
  const clock = new VirtualClock();
  const times: number[] = [];
  const work = async () => {
    for (let turn = 0; turn < 3; turn++) {
      await clock.sleep(10);
      for (let step = 0; step < 50; step++) await null;
      times.push(clock.now());
    }
  };
  clock.schedule(10.5, () => times.push(clock.now()));
  await clock.run(work());
  expect(times).toEqual([10, 10.5, 20, 30]);
});

test('no cancelled call is made, however many there are', async () => {
  const clock = new VirtualClock();
  let called = 0;
  const cancels = Array.from({ length: 1_000 }, (_, n) => clock.schedule(1_000 - n, () => called++));
  for (const [n, cancel] of cancels.entries()) if (n % 10 !== 0) cancel();
  await clock.run(clock.sleep(2_000));
  expect(called).toBe(100);
});

test('time stops with the work, and work that nothing can end is rejected', async () => {
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

test('the service has the same time, counted from 1970', async () => {
  const clock = new VirtualClock(1_000_000);
  const seen: number[] = [];
  clock.service.schedule(250, () => seen.push(clock.service.now()));
  await clock.run(clock.sleep(300));
  expect([seen, clock.epochMs()]).toEqual([[1_000_250], 1_000_300]);
});
