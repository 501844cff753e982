import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import {
  Cooldown,
  exponentialBackoff,
  isTransientStatus,
  parseRetryAfter,
  withRetries,
} from '../../../src/http/retry.js';
import { Cancellation, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { deadlineAt } from '../../virtual/deadline.js';

const retry = exponentialBackoff(() => 0.5);

test('only the statuses 408, 423, 425, 429, 500, 502 to 504 and 520 to 530 are transient', () => {
  const transient = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  expect(transient).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...Array.from({ length: 11 }, (_, n) => 520 + n)]);
});

test('a Retry-After shorter than the backoff does not shorten the pause', () => {
  const pauses = [0, 1_999, 2_001].map((retryAfterMs) =>
    retry(new RequestError('later', { status: 503, transient: true, retryAfterMs }), 3, 0),
  );
  expect(pauses).toEqual([2_000, 2_000, 2_001]);
});

test('if the deadline passes before a 429 without Retry-After is parsed, the error is DeadlineExceeded', async () => {
  let now = 0;
  const clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn: async () => {} };
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
  const { deadline } = deadlineAt(1_000);
  await expect(withRetries(attempt, { deadline, retry })).rejects.toBe(defect);
});

test.for([
  [10_000, 2_000],
  [2_000, 10_000],
])('parallel requests wait for the longest Retry-After: %i ms, then %i ms', async (pauses) => {
  const { clock, deadline } = deadlineAt(12_000);
  const cooldown = new Cooldown(clock);
  for (const retryAfterMs of pauses)
    cooldown.note(new RequestError('later', { status: 429, transient: true, retryAfterMs }));
  await clock.run(clock.sleep(5_000));
  await clock.run(cooldown.wait(deadline));
  expect(clock.now()).toBe(10_000);
});

const now = Date.parse('2024-01-01T12:00:00Z');
const days = 86_400_000;
const inNineSeconds = 'Mon, 01 Jan 2024 12:00:09 GMT';

test.for([
  ['in seconds is read', '7', undefined, 7_000],
  ['of 0 seconds means no wait', '0', undefined, 0],
  ['with a fraction of a second is read', '1.5', undefined, 1_500],
  ['with spaces around it is read', ' 7 ', undefined, 7_000],
  ['with a date is read', inNineSeconds, undefined, 9_000],
  ['with a past date means no wait', 'Mon, 01 Jan 2024 11:00:00 GMT', undefined, 0],
  ['with an asctime date is read as UTC', 'Mon Jan  1 12:00:09 2024', undefined, 9_000],
  ['with an asctime date on the 16th is read', 'Tue Jan 16 12:00:09 2024', undefined, 15 * days + 9_000],
  ['with a date counts from the Date of the response', inNineSeconds, 'Mon, 01 Jan 2024 12:00:01 GMT', 8_000],
  ['with a date counts from the clock if Date is invalid', inNineSeconds, 'today', 9_000],
  ['with a date of the year 9999 is cut to 366 days', 'Fri, 31 Dec 9999 23:59:59 GMT', undefined, 366 * days],
  ['with a date after a Date of the year 1 is cut to 366 days', inNineSeconds, '0001-01-01T00:00:00Z', 366 * days],
  ['of 300 digits is cut to 366 days', '1'.repeat(300), undefined, 366 * days],
  ...['never GMT', '-1', '1e300', '', undefined, 'soon'].map((value) => [`${value} is ignored`, value] as const),
] as const)('Retry-After %s', ([, value, date, ms]) => {
  expect(parseRetryAfter({ 'retry-after': value, date }, now)).toBe(ms);
});
