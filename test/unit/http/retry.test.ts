import { describe, expect, it } from 'vitest';
import { RequestError, RetryAfterExceedsDeadline } from '../../../src/http/errors.js';
import {
  Cooldown,
  exponentialBackoff,
  isTransientStatus,
  noRetry,
  type RetryRule,
  withRetries,
} from '../../../src/http/retry.js';
import type { Clock } from '../../../src/time/clock.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { seededRandom } from '../../control-plane/random.js';
import { VirtualClock } from '../../virtual/clock.js';

const unavailable = new RequestError('not now', { status: 503, transient: true });
const forbidden = new RequestError('no', { status: 403, transient: false });
const cut = new RequestError('cut', { transient: true });

function asked(status: number, retryAfter?: number): RequestError {
  return new RequestError('later', { status, transient: true, retryAfterMs: retryAfter });
}

interface Course {
  readonly times: number[];
  readonly ended: unknown;
  readonly at: number;
}

/** What becomes of a request that fails so, the last way again and again; `undefined` is a success. */
async function attempts(
  failures: readonly (Error | undefined)[],
  { retry = exponentialBackoff(() => 0.999), timeout = 3_600_000, cancelAt = Number.POSITIVE_INFINITY } = {} as {
    retry?: RetryRule;
    timeout?: number;
    cancelAt?: number;
  },
): Promise<Course> {
  const clock = new VirtualClock();
  const cancel = new Cancellation();
  clock.schedule(cancelAt, () => cancel.cancel());
  const times: number[] = [];
  const attempt = async () => {
    const failure = failures[Math.min(times.length, failures.length - 1)];
    times.push(clock.now());
    if (failure !== undefined) throw failure;
    return 'good';
  };
  const limit = new Deadline(clock, timeout, cancel);
  const ended = await clock.run(withRetries(attempt, { deadline: limit, retry }).catch((error: unknown) => error));
  return { times, ended, at: clock.now() };
}

function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, n) => time - (times[n] ?? 0));
}

describe('retries', () => {
  it('a 429 without Retry-After that comes after the deadline is no pause that the service asks for', async () => {
    let now = 0;
    const clock: Clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined };
    const deadline = new Deadline(clock, 1_000, new Cancellation());
    const attempt = async () => {
      // A parser that takes longer than the remaining time: no timer can interrupt it.
      now = 1_001;
      throw asked(429);
    };

    const ended = await withRetries(attempt, { deadline, retry: exponentialBackoff(() => 0.5) }).catch(
      (error: unknown) => error,
    );

    expect(ended).toBeInstanceOf(DeadlineExceeded);
    expect((ended as DeadlineExceeded).cause).toMatchObject({ status: 429 });
  });

  it('gives up after five tries with the last error', async () => {
    for (const error of [unavailable, cut]) {
      const { times, ended } = await attempts([error]);
      expect(times).toHaveLength(5);
      expect(ended).toBe(error);
    }
  });

  it('stops at what will not be better, at once', async () => {
    const { times, ended } = await attempts([unavailable, forbidden]);
    expect(times).toHaveLength(2);
    expect(ended).toBe(forbidden);
  });

  it('ends with the first success', async () => {
    const { times, ended } = await attempts([unavailable, cut, unavailable, cut, undefined]);
    expect(times).toHaveLength(5);
    expect(ended).toBe('good');
  });

  it('repeats nothing where once is enough', async () => {
    const { times } = await attempts([unavailable], { retry: noRetry });
    expect(times).toEqual([0]);
  });

  it('backs off exponentially, with full jitter', async () => {
    const courses = await Promise.all(
      Array.from({ length: 400 }, (_, seed) =>
        attempts([unavailable], { retry: exponentialBackoff(seededRandom(seed)) }),
      ),
    );
    const ranges = [0, 1, 2, 3].map((n) => {
      const all = courses.map(({ times }) => gaps(times)[n] ?? Number.NaN);
      return { least: Math.min(...all), most: Math.max(...all) };
    });
    for (const [n, { least, most }] of ranges.entries()) {
      expect(least).toBeLessThan(0.05 * most);
      const before = ranges[n - 1]?.most;
      if (before !== undefined) {
        expect(most).toBeGreaterThan(1.8 * before);
        expect(most).toBeLessThan(2.2 * before);
      }
    }
  });

  it('waits at least as long as Retry-After says, of a 5xx too', async () => {
    const { times } = await attempts([asked(503, 90_000)]);
    expect(times).toHaveLength(5);
    for (const gap of gaps(times)) expect(gap).toBeGreaterThanOrEqual(90_000);
  });

  it('does not count requests for patience as failures', async () => {
    for (const status of [423, 429]) {
      const patience = Array.from({ length: 20 }, () => asked(status));
      const { times, ended } = await attempts([...patience, unavailable, asked(status), unavailable]);
      expect(times).toHaveLength(20 + 1 + 1 + 4);
      expect(ended).toBe(unavailable);
      expect(Math.max(...gaps(times))).toBeLessThanOrEqual(60_000);
    }
  });

  it('ends at once where the service asks for more patience than there is time', async () => {
    for (const status of [423, 429]) {
      const { times, ended } = await attempts([asked(status, 61_000)], { timeout: 60_000 });
      expect(times).toEqual([0]);
      expect(ended).toBeInstanceOf(RetryAfterExceedsDeadline);
      expect(ended).toMatchObject({ message: expect.stringMatching(/1m 01s.*1m/) });
    }
  });

  it('ends at the limit, in the middle of a pause', async () => {
    const { ended, at } = await attempts([asked(503, 61_000)], { timeout: 60_000 });
    expect(ended).toBeInstanceOf(DeadlineExceeded);
    expect(at).toBe(60_000);
  });

  it('ends when it is cancelled, in the middle of a pause', async () => {
    const { ended, at } = await attempts([asked(503, 61_000)], { cancelAt: 20_000 });
    expect(ended).toBeInstanceOf(CancelledError);
    expect(at).toBe(20_000);
  });

  it('lets go what is no error of the API', async () => {
    const defect = new TypeError('a defect');
    const { times, ended } = await attempts([defect]);
    expect(times).toEqual([0]);
    expect(ended).toBe(defect);
  });

  describe('of those who ask side by side', () => {
    /** When each of two asks, of which the first is told so, and how both end. */
    async function beside(told: RequestError): Promise<{ times: number[][]; ends: unknown[] }> {
      const clock = new VirtualClock();
      const manner = {
        deadline: new Deadline(clock, 60_000, new Cancellation()),
        retry: exponentialBackoff(() => 0),
        cooldown: new Cooldown(),
      };
      const times: [number[], number[]] = [[], []];
      const first = async () => {
        times[0].push(clock.now());
        if (times[0].length === 1) throw told;
      };
      const second = async () => void times[1].push(clock.now());
      const work = Promise.allSettled([
        withRetries(first, manner),
        manner.deadline.sleep(100).then(() => withRetries(second, manner)),
      ]);
      const ends = (await clock.run(work)).map((end) => (end.status === 'rejected' ? end.reason : 'good'));
      return { times, ends };
    }

    it.each([429, 503])('what one is told with a %d all others wait for', async (status) => {
      expect(await beside(asked(status, 5_000))).toEqual({ times: [[0, 5_000], [5_000]], ends: ['good', 'good'] });
    });

    it('a lock is one on a single thing', async () => {
      expect(await beside(asked(423, 5_000))).toEqual({ times: [[0, 5_000], [100]], ends: ['good', 'good'] });
    });

    it('nobody waits for what ends too late', async () => {
      const { times, ends } = await beside(asked(429, 61_000));
      expect(times).toEqual([[0], []]);
      expect(ends).toEqual([expect.any(RetryAfterExceedsDeadline), expect.any(RetryAfterExceedsDeadline)]);
    });
  });
});

it('408, 423, 425, 429, 500, 502 to 504 and 520 to 530 are retried, and no other status', () => {
  const transient = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  expect(transient).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...Array.from({ length: 11 }, (_, n) => 520 + n)]);
});
