import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
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
  [0, 8],
  [1_000, 8 + 9],
  [60_010, 8 + 570],
])('a step sends 8 requests at once, and then 9.5 a second: by %i ms it has sent %i', async ([ms = 0, count]) => {
  const { sendMany, passUntil, sentAt } = setUp();
  sendMany(700);
  await passUntil(ms);
  expect(sentAt.length).toBe(count);
});

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

test.for<[retryAfter: number | undefined, random: number, holdEnds: number]>([
  [undefined, 0, 1_000],
  [undefined, 1, 2_000],
  [3_000, 1, 4_000],
  [20_000, 0.5, 22_500],
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

test('of all 429 of one hold, one lowers the rate, and the latest Retry-After ends the hold', async () => {
  const sentIn10s = async (count: number) => {
    const { rate, send, sendMany, passUntil, sentBetween } = setUp();
    for (let n = 0; n < count; n++) void send({ error: busy(1_000), takes: (n + 1) * 50 });
    await passUntil(500);
    const end = rate.heldUntil;
    expect(end).toBe(1_000 + count * 50);
    sendMany(100);
    await passUntil(end + 10_000);
    return sentBetween(end, end + 10_000);
  };
  expect(await sentIn10s(8)).toBe(await sentIn10s(1));
});

test.for<[seconds: number, count: number]>([
  // 9.5 × 0.6 = 5.7 a second, and 0.25 a second more each second.
  [4, 25],
  // After 15.2 s it is 9.5 again, and stays.
  [15.2, 116],
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

test('a burst of 8 is sent in spite of a hold, of an empty bucket and of 12 open requests', async () => {
  const { rate, send, sendMany, passUntil, sentAt } = setUp();
  sendMany(11, { takes: never });
  await passUntil(1_000);
  void send({ error: busy(60_000) });
  await passUntil(1_100);
  sendMany(5);
  rate.allowBurst();
  // Also requests that ask later take part, although their deadline is before the end of the hold.
  await passUntil(1_200);
  sendMany(5, { until: 2_000 });
  await passUntil(1_900);
  expect(sentAt.slice(12)).toEqual([...Array(5).fill(1_100), ...Array(3).fill(1_200)]);
});

test.for([
  ['beyond it is sent after it', 61_000, 'a response'],
  ['before its end fails at once', 59_999, RequestError],
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

test.for([
  ['a 429 without Retry-After', undefined, 500],
  ['a Retry-After that ends before the deadline, with the random time after it', 60_000, 61_000],
] as const)('%s fails no request before its deadline', async ([, retryAfterMs, until]) => {
  const { clock, send, passUntil } = setUp({ random: 1 });
  void send({ error: busy(retryAfterMs) });
  await passUntil(0);
  expect(await clock.run(send({ until }))).toBeInstanceOf(DeadlineExceeded);
  expect(clock.now()).toBe(until);
});

test('a Retry-After counts as the longest hold at most', async () => {
  const { clock, rate, send } = setUp({ longestHold: 2_000 });
  await clock.run(send({ error: busy(60_000) }));
  expect(rate.heldUntil).toBe(2_000);
});

test.for([100, 106])(
  'a request whose turn comes at its deadline of %i ms or later fails, and takes no token',
  async (until) => {
    const { clock, send, sendMany, sentAt } = setUp();
    sendMany(8);
    const late = [send({ until }), send({ until })];
    for (const ending of late) expect(await clock.run(ending)).toBeInstanceOf(DeadlineExceeded);
    expect(clock.now()).toBe(until);
    await clock.run(send());
    expect(sentAt.slice(8)).toEqual([106]);
  },
);

test('a cancel ends every request that waits for its turn', async () => {
  const { clock, cancellation, send, sendMany, passUntil, sentAt } = setUp();
  sendMany(8);
  const waiting = send();
  await passUntil(50);
  cancellation.cancel();
  expect(await clock.run(waiting)).toBeInstanceOf(CancelledError);
  expect(sentAt.length).toBe(8);
});
