import { expect, test } from 'vitest';
import { RequestError, RetryAfterExceedsDeadline } from '../../../src/http/errors.js';
import { Rate } from '../../../src/http/rate.js';
import { Cancellation, CancelledError, Deadline, DeadlineExceeded } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

const never = Number.POSITIVE_INFINITY;

/** A 429 whose `Retry-After` is so many milliseconds. */
const busy = (retryAfterMs?: number) => new RequestError('status 429', { status: 429, transient: true, retryAfterMs });

/** A rate, and the times at which it sends. `random`: from 0 to 1. */
function setUp({ random = 0, longestHold = never } = {}) {
  const clock = new VirtualClock();
  const rate = new Rate(clock, () => random, longestHold);
  const cancellation = new Cancellation();
  const sentAt: number[] = [];

  /** Asks to send a request. Its response comes after `takes`, and may be an error. */
  function send({ takes = 0, error, until = never }: { takes?: number; error?: Error; until?: number } = {}) {
    const sending = rate.run(new Deadline(clock, until, cancellation), async () => {
      sentAt.push(clock.now());
      if (takes === never) await new Promise(() => undefined);
      if (takes > 0) await clock.sleep(takes);
      if (error !== undefined) throw error;
    });
    return sending.then(
      () => 'a response',
      (reason: unknown) => reason,
    );
  }

  /** Asks to send so many requests at once. */
  function sendMany(count: number, how?: Parameters<typeof send>[0]): void {
    for (let n = 0; n < count; n++) void send(how);
  }

  /** Lets time pass until all that is due at this time has happened. */
  async function passUntil(time: number): Promise<void> {
    await clock.run(clock.sleep(time - clock.now()));
    await clock.run(clock.sleep(0));
  }

  /** How many were sent from one time to another, both included. */
  const sentBetween = (from: number, to: number) => sentAt.filter((at) => at >= from && at <= to).length;
  return { clock, rate, cancellation, sentAt, send, sendMany, passUntil, sentBetween };
}

test.for([
  ['at once', 0, 8],
  ['before the first token', 105, 8],
  ['with the first token', 106, 9],
  ['within 1 s', 1_000, 8 + 9],
  ['within 10 s', 10_010, 8 + 95],
  ['within a minute', 60_010, 8 + 570],
] as const)(
  'a step sends 8 requests at once, and then 9.5 a second: %s (%i ms) it has sent %i',
  async ([, ms, count]) => {
    const { sendMany, passUntil, sentAt } = setUp();
    sendMany(700);
    await passUntil(ms);
    expect(sentAt.length).toBe(count);
  },
);

test('after a long rest, a step sends 8 requests at once again, not more', async () => {
  const { sendMany, passUntil, sentBetween } = setUp();
  sendMany(8);
  await passUntil(3_600_000);
  sendMany(20);
  await passUntil(3_600_100);
  expect(sentBetween(3_600_000, 3_600_100)).toBe(8);
});

test.for([
  ['which answer after 1.5 s', 1_500, 1_499, 12],
  ['which answer after 1.5 s', 1_500, 1_500, 12 + 8],
  ['which never answer', never, 1_999, 12],
  ['which never answer', never, 2_000, 12 + 8],
] as const)('of requests %s, 12 are open at once: %i, %i ms, %i sent', async ([, takes, ms, count]) => {
  const { sendMany, passUntil, sentAt } = setUp();
  sendMany(30, { takes });
  await passUntil(ms);
  expect(sentAt.length).toBe(count);
});

test('a request that hung for 2 s gives its place back once, not again when it answers', async () => {
  const { sendMany, passUntil, sentAt } = setUp();
  sendMany(12, { takes: 2_500 });
  await passUntil(2_499);
  sendMany(30, { takes: never });
  await passUntil(2_600);
  await passUntil(4_400);
  expect(sentAt.length).toBe(12 + 12);
});

test.for<[retryAfter: number | undefined, random: number, holdEnds: number]>([
  [undefined, 0, 1_000],
  [undefined, 1, 2_000],
  [0, 1, 1_000],
  [3_000, 0, 3_000],
  [3_000, 1, 4_000],
  [4_000, 1, 5_000],
  [20_000, 0.5, 22_500],
  [20_000, 1, 25_000],
  [60_000, 1, 75_000],
  [600_000, 0, 600_000],
  [600_000, 1, 615_000],
])('after a 429 with Retry-After %i ms and the random number %f, no request is sent before %i ms', async (row) => {
  const [retryAfterMs, random, holdEnds] = row;
  const { rate, send, sendMany, passUntil, sentAt } = setUp({ random });
  void send({ error: busy(retryAfterMs) });
  await passUntil(0);
  sendMany(3);
  // One is sent at the end of the hold. The others wait for their tokens.
  await passUntil(holdEnds + 100);
  expect(rate.heldUntil).toBe(holdEnds);
  expect(sentAt).toEqual([0, holdEnds]);
});

test.for([
  ['a 503', new RequestError('status 503', { status: 503, transient: true, retryAfterMs: 9_000 })],
  ['a 423', new RequestError('status 423', { status: 423, transient: true, retryAfterMs: 9_000 })],
  ['a lost response', new RequestError('The connection closed', { transient: true })],
] as const)('%s holds no other request', async ([, error]) => {
  const { rate, send, sendMany, passUntil, sentAt } = setUp();
  void send({ error });
  await passUntil(0);
  sendMany(7);
  await passUntil(10);
  expect([rate.heldUntil, sentAt.length]).toEqual([0, 8]);
});

test('requests that were sent before a hold ended do not lower the rate again', async () => {
  const sentWithin10s = async (count: number) => {
    const { rate, send, sendMany, passUntil, sentAt } = setUp();
    for (let n = 0; n < count; n++) void send({ error: busy() });
    await passUntil(0);
    sendMany(100);
    await passUntil(10_000);
    expect(rate.heldUntil).toBe(1_000);
    return sentAt.length - count;
  };
  expect(await sentWithin10s(8)).toBe(await sentWithin10s(1));
});

test('a hold lasts until the latest Retry-After of all requests that were sent before it ended', async () => {
  const { rate, send, passUntil } = setUp();
  void send({ error: busy() });
  void send({ error: busy(30_000), takes: 500 });
  await passUntil(600);
  expect(rate.heldUntil).toBe(30_500);
});

test('a request that is sent after a hold, and gets a 429, starts another hold', async () => {
  const { rate, send, passUntil, sentAt } = setUp();
  void send({ error: busy() });
  await passUntil(0);
  void send({ error: busy() });
  await passUntil(2_000);
  expect(rate.heldUntil).toBe(1_000 + (sentAt[1] ?? 0));
});

test.for<[seconds: number, count: number]>([
  // 9.5 × 0.6 = 5.7 a second, and 0.25 a second more each second.
  [4, 25],
  [8, 54],
  // After 15.2 s it is 9.5 again, and stays.
  [15.2, 116],
  [30.05, 257],
  [60.05, 542],
])('after one hold the rate is 5.7 a second and grows to 9.5: in %f s it sends %i', async ([seconds, count]) => {
  const { send, sendMany, passUntil, sentBetween } = setUp();
  void send({ error: busy() });
  await passUntil(0);
  sendMany(1_000);
  const until = 1_000 + seconds * 1_000;
  await passUntil(until);
  expect(sentBetween(1_000, until)).toBe(count);
});

test.for<[holds: number, count: number]>([
  [1, 32],
  [2, 21],
  [3, 14],
  [10, 9],
  [30, 9],
])(
  'each hold in a row lowers the rate, but not below 1 a second: after %i holds, 5 s send %i',
  async ([holds, count]) => {
    const { clock, rate, send, sendMany, passUntil, sentBetween } = setUp();
    for (let n = 0; n < holds; n++) await clock.run(send({ error: busy() }));
    const end = rate.heldUntil;
    sendMany(100);
    await passUntil(end + 5_000);
    expect(sentBetween(end, end + 5_000)).toBe(count);
  },
);

/** What is sent after holds with these values of `Retry-After`: within 30.1 s of the last hold, and at once after a rest. */
test.for<[retryAfters: number[], inHalfAMinute: number, atOnce: number]>([
  [[5_000], 258, 8],
  [[5_001], 181, 1],
  [[60_000], 181, 1],
  [[60_000, 1_000], 167, 1],
  [[5_001, 5_001], 91, 1],
  [[60_000, 60_000, 60_000], 87, 1],
])('after 429s with Retry-After %j, half a minute sends %i, and a rest is followed by %i at once', async (row) => {
  const [retryAfters, inHalfAMinute, atOnce] = row;
  const { clock, rate, send, sendMany, passUntil, sentBetween } = setUp();
  for (const ms of retryAfters) await clock.run(send({ error: busy(ms) }));
  const end = rate.heldUntil;
  sendMany(1_000, { until: end + 30_100 });
  await passUntil(end + 30_100);
  expect(sentBetween(end, end + 30_100)).toBe(inHalfAMinute);
  const rested = end + 3_600_000;
  await passUntil(rested);
  sendMany(20);
  await passUntil(rested + 50);
  expect(sentBetween(rested, rested + 50)).toBe(atOnce);
});

test('a burst of 8 is sent in spite of a hold, of an empty bucket and of 12 open requests', async () => {
  const { rate, send, sendMany, passUntil, sentAt } = setUp();
  sendMany(11, { takes: never });
  await passUntil(1_000);
  void send({ error: busy(60_000) });
  await passUntil(1_100);
  sendMany(20, { takes: never });
  await passUntil(1_200);
  expect(sentAt.length).toBe(12);
  rate.allowBurst();
  await passUntil(10_000);
  expect(sentAt.slice(12)).toEqual(Array(8).fill(1_200));
});

test('a burst is also allowed to requests that ask later', async () => {
  const { rate, send, sendMany, passUntil, sentAt } = setUp();
  void send({ error: busy(60_000) });
  await passUntil(0);
  rate.allowBurst();
  sendMany(5, { until: 1_500 });
  await passUntil(100);
  sendMany(5, { until: 1_500 });
  await passUntil(1_000);
  expect(sentAt).toEqual([0, 0, 0, 0, 0, 0, 100, 100, 100]);
});

test.for([
  ['beyond it is sent after it', 61_000, 'a response'],
  ['before its end fails at once', 59_999, RetryAfterExceedsDeadline],
] as const)('during a Retry-After of 60 s, a request with a deadline %s', async ([, until, ending]) => {
  // One waits when the 429 comes, one asks after it.
  const { clock, send, sendMany, passUntil } = setUp();
  sendMany(7);
  void send({ error: busy(60_000), takes: 10 });
  const waiting = send({ until: until + 10 });
  await passUntil(10);
  const later = send({ until: until + 10 });
  for (const outcome of [waiting, later]) {
    if (typeof ending === 'string') expect(await clock.run(outcome)).toBe(ending);
    else expect(await clock.run(outcome)).toBeInstanceOf(ending);
  }
  if (typeof ending !== 'string') expect(clock.now()).toBe(10);
});

test('a Retry-After that ends before the deadline fails no request at once, although the random time more ends after it', async () => {
  const { clock, send, passUntil } = setUp({ random: 1 });
  void send({ error: busy(60_000) });
  await passUntil(0);
  expect(await clock.run(send({ until: 61_000 }))).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(61_000);
});

test('a 429 without Retry-After says nothing about the deadline', async () => {
  const { clock, send, passUntil } = setUp();
  void send({ error: busy() });
  await passUntil(0);
  expect(await clock.run(send({ until: 500 }))).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(500);
});

test('a Retry-After counts as the longest hold at most, and does not make the limiter strict then', async () => {
  for (const [random, heldUntil] of [
    [0, 2_000],
    [1, 3_000],
  ] as const) {
    const { clock, rate, send, sendMany, passUntil, sentBetween } = setUp({ random, longestHold: 2_000 });
    await clock.run(send({ error: busy(60_000) }));
    expect(rate.heldUntil).toBe(heldUntil);
    await passUntil(60_000);
    sendMany(20);
    await passUntil(60_050);
    expect(sentBetween(60_000, 60_050)).toBe(8);
  }
});

test('a request whose turn does not come before its deadline fails, and takes no token', async () => {
  const { clock, send, sendMany, passUntil, sentAt } = setUp();
  sendMany(8);
  const late = send({ until: 100 });
  const next = send();
  expect(await clock.run(late)).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(100);
  await clock.run(next);
  await passUntil(200);
  expect(sentAt.slice(8)).toEqual([106]);
});

test('requests whose turn comes at their deadline are not sent, and take no token', async () => {
  const { clock, send, sendMany, sentAt } = setUp();
  sendMany(8);
  const late = [send({ until: 106 }), send({ until: 106 }), send({ until: 106 })];
  for (const ending of late) expect(await clock.run(ending)).toBeInstanceOf(DeadlineExceeded);
  await clock.run(send());
  expect(sentAt.slice(8)).toEqual([106]);
});

test('a cancel ends every request that waits for its turn', async () => {
  const { clock, cancellation, send, sendMany, passUntil, sentAt } = setUp();
  sendMany(8);
  const waiting = send();
  await passUntil(50);
  cancellation.cancel();
  expect(await clock.run(waiting)).toBeInstanceOf(CancelledError);
  expect(sentAt.length).toBe(8);
});
