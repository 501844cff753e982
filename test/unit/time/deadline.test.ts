import { describe, expect, it } from 'vitest';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

function stage(at = 1_000) {
  const clock = new VirtualClock();
  const cancel = new Cancellation();
  return { clock, cancel, limit: new Deadline(clock, at, cancel) };
}

describe('a limit', () => {
  it('ends with the work, well or ill', async () => {
    const { clock, limit } = stage();
    const after = (ms: number) =>
      new Promise<string>((resolve) => clock.schedule(clock.now() + ms, () => resolve('done')));
    expect(await clock.run(limit.race(() => after(999)))).toBe('done');
    await expect(clock.run(limit.race(() => Promise.reject(new Error('ill'))))).rejects.toThrow('ill');
    expect(clock.now()).toBe(999);
  });

  it('ends at its time, whatever the work does, and tells it', async () => {
    const { clock, limit } = stage();
    let stopped = Number.NaN;
    const ended = limit.race((onStop) => {
      onStop(() => {
        stopped = clock.now();
      });
      return new Promise(() => {});
    });
    await expect(clock.run(ended)).rejects.toBeInstanceOf(DeadlineExceeded);
    expect([clock.now(), stopped]).toEqual([1_000, 1_000]);
  });

  it('ends when it is cancelled, and tells the work', async () => {
    const { clock, cancel, limit } = stage();
    clock.schedule(300, () => cancel.cancel());
    let stopped = 0;
    const ended = limit.race((onStop) => {
      onStop(() => stopped++);
      onStop(() => stopped++);
      return new Promise(() => {});
    });
    await expect(clock.run(ended)).rejects.toBeInstanceOf(CancelledError);
    expect(clock.now()).toBe(300);
    expect(stopped).toBe(2);
  });

  it('does not begin what is over already', async () => {
    const { clock, cancel, limit } = stage(0);
    let begun = 0;
    const work = async () => {
      begun++;
    };
    await expect(clock.run(limit.race(work))).rejects.toBeInstanceOf(DeadlineExceeded);
    cancel.cancel();
    await expect(clock.run(new Deadline(clock, 5_000, cancel).race(work))).rejects.toBeInstanceOf(CancelledError);
    expect(begun).toBe(0);
  });

  it('sleeps as long as is asked, until it strikes, or until it is cancelled', async () => {
    const { clock, cancel, limit } = stage();
    await clock.run(limit.sleep(400));
    expect(clock.now()).toBe(400);
    await expect(clock.run(limit.sleep(601))).rejects.toBeInstanceOf(DeadlineExceeded);
    expect(clock.now()).toBe(1_000);
    clock.schedule(1_500, () => cancel.cancel());
    await expect(clock.run(new Deadline(clock, 9_000, cancel).sleep(5_000))).rejects.toBeInstanceOf(CancelledError);
    expect(clock.now()).toBe(1_500);
  });

  it('tells what is left, and shortens, but never lengthens', () => {
    const { limit, clock, cancel } = stage();
    expect([limit.remaining, limit.isExpired, limit.isUnbounded]).toEqual([1_000, false, false]);
    expect(limit.within(200).expiresAt).toBe(200);
    expect(limit.within(2_000).expiresAt).toBe(1_000);
    const endless = new Deadline(clock, Number.POSITIVE_INFINITY, cancel);
    expect([endless.isUnbounded, endless.isExpired, endless.within(50).expiresAt]).toEqual([true, false, 50]);
  });

  it('works without an end, until it is cancelled', async () => {
    const { clock, cancel } = stage();
    const endless = new Deadline(clock, Number.POSITIVE_INFINITY, cancel);
    await clock.run(endless.sleep(10 ** 9));
    expect(clock.now()).toBe(10 ** 9);
    clock.schedule(10 ** 9 + 1, () => cancel.cancel());
    await expect(clock.run(endless.race(() => new Promise(() => {})))).rejects.toBeInstanceOf(CancelledError);
  });

  it('leaves nothing behind on the signal that all share', async () => {
    const { clock, cancel, limit } = stage();
    let listening = 0;
    const on = cancel.onCancel.bind(cancel);
    cancel.onCancel = (call) => {
      listening++;
      const forget = on(call);
      return () => {
        listening--;
        forget();
      };
    };
    await clock.run(limit.sleep(10));
    await clock.run(limit.race(async () => 'done'));
    await clock.run(limit.sleep(10_000).catch(() => {}));
    expect(listening).toBe(0);
  });
});
