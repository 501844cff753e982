import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import { withRetries } from '../../../src/http/retry.js';
import { type Round, Rounds } from '../../../src/post/rounds.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

/** Repeats a round, half a second before the deadline of 20 s for the last time. */
async function repeat(round: () => Promise<Round>) {
  const clock = new VirtualClock();
  const deadline = new Deadline(clock, 20_000, new Cancellation());
  const failure = await clock.run(new Rounds(deadline, () => 0.5).repeat(round, deadline, 500));
  return { failure, took: clock.now() };
}

test('a bug in a repeated search is thrown even if an earlier search failed', async () => {
  const results = [{ failure: new RequestError('status 503', { status: 503, transient: true }) }];
  const ended = repeat(async () => results.pop() ?? Promise.reject(new TypeError('a bug')));
  await expect(ended).rejects.toThrow('a bug');
});

test('post ends at once after a permanent failure', async () => {
  const failure = new RequestError('HTTPS_PROXY is not a valid URL', { transient: false, mayHaveTakenEffect: false });
  expect(await repeat(async () => ({ failure }))).toEqual({ failure, took: 0 });
});

test.for([
  [10, 10_000],
  [3_600, 0],
] as const)(
  'after a Retry-After of %i s, no list of a parallel check is requested before it ends',
  async ([seconds, ms]) => {
    const clock = new VirtualClock();
    const deadline = new Deadline(clock, 20_000, new Cancellation());
    const rounds = new Rounds(deadline, () => 0.5);
    rounds.cooldown.note(
      new RequestError('status 429', { status: 429, transient: true, retryAfterMs: seconds * 1_000 }),
    );
    const requestedAt: number[] = [];
    const list = withRetries(async () => void requestedAt.push(clock.now()), rounds.listPolicy(deadline));
    await clock.run(list.catch(() => undefined));
    expect([requestedAt, clock.now()]).toEqual([ms === 0 ? [] : [ms], ms]);
  },
);
