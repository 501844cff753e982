import { expect, test } from 'vitest';
import { CancelledError, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { deadlineAt } from '../../virtual/deadline.js';

test('work ends at the deadline or at a cancel, and its cancel listeners are called once', async () => {
  for (const cancelAt of [300, Number.POSITIVE_INFINITY]) {
    const { clock, cancellation, deadline } = deadlineAt(1_000);
    clock.schedule(cancelAt, () => cancellation.cancel());
    const cancelled: number[] = [];
    const work = deadline.race((onCancel) => {
      for (const n of [1, 2]) onCancel(() => cancelled.push(n));
      return new Promise(() => {});
    });
    await expect(clock.run(work)).rejects.toBeInstanceOf(cancelAt === 300 ? CancelledError : DeadlineExceeded);
    expect(clock.now()).toBe(Math.min(cancelAt, 1_000));
    cancellation.cancel();
    expect(cancelled).toEqual([1, 2]);
  }
});

test('work does not start after the deadline or a cancel, and if both have come, the cancel wins', async () => {
  const { cancellation, deadline, clock } = deadlineAt(0);
  let begun = 0;
  const work = async () => begun++;
  await expect(deadline.race(work)).rejects.toBeInstanceOf(DeadlineExceeded);
  cancellation.cancel();
  for (const time of [0, 5_000])
    await expect(new Deadline(clock, time, cancellation).race(work)).rejects.toBeInstanceOf(CancelledError);
  expect(begun).toBe(0);
});

test('neither the deadline nor a cancel calls the listeners of work that has ended', async () => {
  const { clock, cancellation, deadline } = deadlineAt(1_000);
  let told = 0;
  for (const end of [async () => 'done', () => Promise.reject(new Error('failed'))]) {
    const work = deadline.race((onCancel) => {
      onCancel(() => told++);
      return end();
    });
    await work.catch(() => {});
  }
  await clock.run(clock.sleep(2_000));
  cancellation.cancel();
  expect(told).toBe(0);
});
