import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import { Cooldown, exponentialBackoff, isTransientStatus, withRetries } from '../../../src/http/retry.js';
import type { Clock } from '../../../src/time/clock.js';
import { Cancellation, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

const retry = exponentialBackoff(() => 0.5);

test('only the statuses 408, 423, 425, 429, 500, 502 to 504 and 520 to 530 are transient', () => {
  const transient = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  expect(transient).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...Array.from({ length: 11 }, (_, n) => 520 + n)]);
});

test('if the deadline passes before a 429 without Retry-After is parsed, the error is DeadlineExceeded', async () => {
  let now = 0;
  const clock: Clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn: async () => {} };
  const attempt = async () => {
    // No timer can interrupt a parser.
    now = 1_001;
    throw new RequestError('later', { status: 429, transient: true });
  };
  const ended = withRetries(attempt, { deadline: new Deadline(clock, 1_000, new Cancellation()), retry });
  await expect(ended).rejects.toBeInstanceOf(DeadlineExceeded);
  await expect(ended).rejects.toMatchObject({ cause: { status: 429 } });
});

test('an error other than a RequestError is thrown without a retry', async () => {
  const defect = new TypeError('a defect');
  let attempts = 0;
  const attempt = () => Promise.reject(attempts++ === 0 ? defect : new Error('retried'));
  const deadline = new Deadline(new VirtualClock(), 1_000, new Cancellation());
  await expect(withRetries(attempt, { deadline, retry })).rejects.toBe(defect);
});

test('of the Retry-After of parallel requests, the longest counts, whichever comes last', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(clock, 60_000, new Cancellation());
  const cooldown = new Cooldown(clock);
  for (const retryAfterMs of [10_000, 2_000])
    cooldown.note(new RequestError('later', { status: 429, transient: true, retryAfterMs }));
  await clock.run(cooldown.wait(deadline));
  expect(clock.now()).toBe(10_000);
});
