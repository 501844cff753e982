import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import { Rate } from '../../../src/http/rate.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

// `test/contract/wait-polls.test.ts` shows the figures of the contract from outside.

const never = Number.POSITIVE_INFINITY;

const busy = (retryAfterMs: number) => new RequestError('status 429', { status: 429, transient: true, retryAfterMs });

/** A rate, and the times at which it sends. */
function setUp() {
  const clock = new VirtualClock();
  const rate = new Rate(clock, () => 0);
  const sentAt: number[] = [];

  /** Asks to send a request. Its response comes after `takes`, and may be an error. */
  function send({ takes = 0, error, until = never }: { takes?: number; error?: Error; until?: number } = {}) {
    const sending = rate.run(new Deadline(clock, until, new Cancellation()), async () => {
      sentAt.push(clock.now());
      if (takes === never) await new Promise(() => undefined);
      if (takes > 0) await clock.sleep(takes);
      if (error !== undefined) throw error;
      return 'a response';
    });
    return sending.catch((reason: unknown) => reason);
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
  return { clock, rate, sentAt, send, sendMany, passUntil };
}

test('a step sends at most 8 requests at once, even after an hour without requests', async () => {
  const { sendMany, passUntil, sentAt } = setUp();
  sendMany(8);
  await passUntil(3_600_000);
  sendMany(20);
  await passUntil(3_600_100);
  expect(sentAt.length).toBe(8 + 8);
});

test.for([
  ['12 requests without a response hold back all others for 2 s', 1_999, 12],
  ['12 requests without a response no longer hold back others after 2 s', 2_000, 12 + 8],
] as const)('%s', async ([, ms, count]) => {
  const { sendMany, passUntil, sentAt } = setUp();
  sendMany(30, { takes: never });
  await passUntil(ms);
  expect(sentAt.length).toBe(count);
});

test('after several 429s, no request is sent before the latest Retry-After time', async () => {
  const { rate, sendMany, send, passUntil, sentAt } = setUp();
  for (const retryAfterMs of [1_000, 5_000, 2_000]) void send({ error: busy(retryAfterMs), takes: 10 });
  await passUntil(10);
  sendMany(3);
  await passUntil(5_500);
  expect(rate.heldUntil).toBe(5_010);
  expect(sentAt[3]).toBe(5_010);
});

test.for([
  ['is sent later if its deadline comes after that', 61_000, 'a response'],
  ['fails at once if its deadline comes before that', 59_999, RequestError],
] as const)('a request that has to wait 60 s for a Retry-After %s', async ([, until, ending]) => {
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
