import { expect, test } from 'vitest';
import { CancelledError, DeadlineExceeded } from '../../../src/time/deadline.js';
import { deadlineAt } from '../../virtual/clock.js';

test('work ends at the deadline or when the step is cancelled, and no work starts after that', async () => {
  for (const cancelAt of [300, Number.POSITIVE_INFINITY]) {
    const { clock, cancellation, deadline } = deadlineAt(1_000);
    clock.schedule(cancelAt, () => cancellation.cancel());
    const cancelled: number[] = [];
    const work = deadline.race((onCancel) => {
      for (const n of [1, 2]) onCancel(() => cancelled.push(n));
      return new Promise(() => {});
    });
    const reason = cancelAt === 300 ? CancelledError : DeadlineExceeded;
    await expect(clock.run(work)).rejects.toBeInstanceOf(reason);
    expect(clock.now()).toBe(Math.min(cancelAt, 1_000));
    const late = () => deadline.race(async () => cancelled.push(3));
    await expect(late()).rejects.toBeInstanceOf(reason);
    cancellation.cancel();
    await expect(late()).rejects.toBeInstanceOf(CancelledError);
    expect(cancelled).toEqual([1, 2]);
  }
});
