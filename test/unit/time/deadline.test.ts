import { expect, test } from 'vitest';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

function deadlineAt(expiresAt: number) {
  const clock = new VirtualClock();
  const cancellation = new Cancellation();
  return { clock, cancellation, deadline: new Deadline(clock, expiresAt, cancellation) };
}

test('work ends at the deadline or at a cancel, whatever it does, and its listeners are called once', async () => {
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
    expect(cancelled).toEqual([1, 2]);
  }
});

test('work does not begin after the deadline or a cancel', async () => {
  const { cancellation, deadline, clock } = deadlineAt(0);
  let begun = 0;
  const work = async () => begun++;
  await expect(deadline.race(work)).rejects.toBeInstanceOf(DeadlineExceeded);
  cancellation.cancel();
  await expect(new Deadline(clock, 5_000, cancellation).race(work)).rejects.toBeInstanceOf(CancelledError);
  expect(begun).toBe(0);
});

test('a deadline can only be shortened, and one without an end is never expired', async () => {
  const { clock, cancellation, deadline } = deadlineAt(1_000);
  expect([deadline.remaining, deadline.isExpired, deadline.isUnbounded]).toEqual([1_000, false, false]);
  expect([deadline.within(200).expiresAt, deadline.within(2_000).expiresAt]).toEqual([200, 1_000]);
  const unbounded = new Deadline(clock, Number.POSITIVE_INFINITY, cancellation);
  await clock.run(unbounded.sleep(10 ** 9));
  expect([unbounded.isUnbounded, unbounded.isExpired, unbounded.within(50).expiresAt]).toEqual([
    true,
    false,
    10 ** 9 + 50,
  ]);
  expect([deadline.remaining, deadline.isExpired]).toEqual([0, true]);
});

test('work that has ended leaves no listener on the shared cancellation', async () => {
  const { clock, cancellation, deadline } = deadlineAt(1_000);
  let listening = 0;
  const onCancel = cancellation.onCancel.bind(cancellation);
  cancellation.onCancel = (listener) => {
    listening++;
    const remove = onCancel(listener);
    return () => {
      listening--;
      remove();
    };
  };
  await clock.run(deadline.sleep(10));
  await clock.run(deadline.race(async () => 'done'));
  await clock.run(deadline.race(() => Promise.reject(new Error('failed'))).catch(() => {}));
  await clock.run(deadline.sleep(10_000).catch(() => {}));
  expect(listening).toBe(0);
});
