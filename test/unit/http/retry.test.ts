import { expect, test } from 'vitest';
import {
  RequestError,
  type RequestErrorOptions,
  RetryAfterExceedsDeadline,
  TransportError,
} from '../../../src/http/errors.js';
import { type Attempt, isTransientStatus, withRetries } from '../../../src/http/retry.js';
import { Cancellation, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { gaps } from '../../kit/times.js';
import { deadlineAt } from '../../virtual/deadline.js';
import { silent } from '../../virtual/silent.js';

const hour = 3_600_000;
/** `Math.random` returns less than this. */
const most = 1;

const failed = (status: number, details: Partial<RequestErrorOptions> = {}) =>
  new RequestError(`status ${status}`, { status, transient: isTransientStatus(status), ...details });
const closed = new TransportError('The connection closed');
const silence = new TransportError('No complete response', { isSilence: true });

/** Sends a request until it succeeds. `fail`: the error of an attempt, and how long the attempt takes. */
function setUp(expiresAt: number, random: number, fail: (n: number) => Error | undefined, takes = 0) {
  const { clock, deadline } = deadlineAt(expiresAt);
  const sentAt: number[] = [];
  const attempts: Attempt[] = [];
  const send = withRetries({ deadline, random: () => random, log: silent });
  const ended = send(async (attempt) => {
    sentAt.push(clock.now());
    const error = fail(attempts.push(attempt));
    if (takes > 0) await clock.sleep(takes);
    if (error !== undefined) throw error;
    return 'a response';
  });
  return { clock, sentAt, attempts, ended: clock.run(ended.catch((error: unknown) => error)) };
}

test('only the statuses 408, 423, 425, 429, 500, 502 to 504 and 520 to 530 are transient', () => {
  const transient = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  expect(transient).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...Array.from({ length: 11 }, (_, n) => 520 + n)]);
});

test.for([
  ['503', failed(503)],
  ['408', failed(408)],
  ['closed connection', closed],
  ['unusable response', failed(200, { transient: true })],
] as const)('a request with a %s each time is sent five times', async ([, error]) => {
  const { sentAt, ended } = setUp(hour, 0, () => error);
  expect(await ended).toBe(error);
  expect(sentAt.length).toBe(5);
});

test('a pause is random between nothing and 1 s, 2 s, 4 s and 8 s', async () => {
  for (const share of [0, 0.5, most]) {
    const { sentAt, ended } = setUp(hour, share, () => failed(503));
    await ended;
    expect(gaps(sentAt)).toEqual([1_000, 2_000, 4_000, 8_000].map((longest) => longest * share));
  }
});

test('a response ends the repetition', async () => {
  const { sentAt, ended } = setUp(hour, most, (n) => (n < 3 ? failed(503) : undefined));
  expect(await ended).toBe('a response');
  expect(sentAt).toEqual([0, 1_000, 3_000]);
});

test.for([400, 403, 404, 409, 501])('a request with a %i is not repeated', async (status) => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(status));
  expect(await ended).toMatchObject({ status });
  expect(sentAt).toEqual([0]);
});

test.for([
  [60_000, [0, 60_000]],
  [60_001, [0]],
] as const)(
  'a Retry-After of %i ms with a 503 leads to attempts at %j: none begins after 60 s',
  async ([ms, times]) => {
    const { sentAt, ended } = setUp(hour, 0, (n) => (n === 1 ? failed(503, { retryAfterMs: ms }) : undefined));
    await ended;
    expect(sentAt).toEqual(times);
  },
);

test('no attempt begins after 60 s, however few there were', async () => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(503), 25_000);
  await ended;
  expect(sentAt).toEqual([0, 25_000, 50_000]);
});

test('a Retry-After counts from below only: a longer one replaces the random pause', async () => {
  for (const [retryAfterMs, pause] of [
    [999, 1_000],
    [1_001, 1_001],
  ] as const) {
    const { sentAt, ended } = setUp(hour, most, (n) => (n === 1 ? failed(503, { retryAfterMs }) : undefined));
    await ended;
    expect(sentAt).toEqual([0, pause]);
  }
});

test.for([423, 425, 429])('a request with a %i is repeated until the deadline', async (status) => {
  const { clock, sentAt, ended } = setUp(5 * 60_000, most, () => failed(status), 1_000);
  expect(await ended).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(5 * 60_000);
  expect(sentAt.length).toBeGreaterThan(30);
  expect(Math.max(...gaps(sentAt))).toBeLessThanOrEqual(9_000);
});

test('throttled attempts are none of the five', async () => {
  const { sentAt, ended } = setUp(hour, 0, (n) => failed(n <= 20 ? 423 : 503));
  expect(await ended).toMatchObject({ status: 503 });
  expect(sentAt.length).toBe(25);
});

test.for([
  [9_999, 2],
  [10_000, 1],
])('after a 401 that comes at %i ms, a request is sent %i times', async ([takes, times]) => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(401), takes);
  expect(await ended).toMatchObject({ status: 401 });
  expect(sentAt.length).toBe(times);
});

test('the last request after a 401 is sent 10 s after the first one', async () => {
  const { sentAt, ended } = setUp(hour, most, () => failed(401));
  await ended;
  expect(sentAt).toEqual([0, 1_000, 3_000, 7_000, 10_000]);
});

test('a 401 is repeated more than five times in its 10 s', async () => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(401), 1_000);
  await ended;
  expect(sentAt.length).toBe(10);
});

test('an HTML page with a 401 is not the 401 of the service, so its request is not repeated for 10 s', async () => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(401, { isPage: true }));
  await ended;
  expect(sentAt).toEqual([0]);
});

test.for([423, 429, 503])('a %i with a Retry-After beyond the deadline ends the request at once', async (status) => {
  const { clock, sentAt, ended } = setUp(10_000, 0, () => failed(status, { retryAfterMs: 10_001 }));
  expect(await ended).toBeInstanceOf(RetryAfterExceedsDeadline);
  expect([sentAt, clock.now()]).toEqual([[0], 0]);
});

test('an attempt without a response gives the next one a new connection and twice the time, from 30 s on', async () => {
  const { attempts, ended } = setUp(hour, 0, (n) => [undefined, silence, failed(503), silence][n]);
  expect(await ended).toBe('a response');
  const seen = attempts.map(({ patience, onNewConnection }) => [patience, onNewConnection]);
  expect(seen).toEqual([
    [30_000, false],
    [60_000, true],
    [60_000, false],
    [120_000, true],
  ]);
});

test('if the deadline comes during a pause, the error carries the last failure', async () => {
  const error = failed(503);
  const { clock, ended } = setUp(900, most, (n) => (n === 1 ? error : undefined));
  expect(await ended).toMatchObject({ cause: error });
  expect(await ended).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(900);
});

test('if the deadline passes before a 429 without Retry-After is parsed, the error is DeadlineExceeded', async () => {
  let now = 0;
  const clock = { now: () => now, epochMs: () => now, schedule: () => () => undefined, turn: async () => {} };
  const deadline = new Deadline(clock, 1_000, new Cancellation());
  const ended = withRetries({ deadline, random: () => 0.5, log: silent })(async () => {
    // No timer can interrupt a parser.
    now = 1_001;
    throw failed(429);
  });
  await expect(ended).rejects.toBeInstanceOf(DeadlineExceeded);
  await expect(ended).rejects.toMatchObject({ cause: { status: 429 } });
});

test('an error other than a RequestError is thrown without a retry', async () => {
  const defect = new TypeError('a defect');
  const { sentAt, ended } = setUp(hour, 0, () => defect);
  expect(await ended).toBe(defect);
  expect(sentAt).toEqual([0]);
});
