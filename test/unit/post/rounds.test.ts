import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import { type Round, Rounds } from '../../../src/post/rounds.js';
import { deadlineAt } from '../../virtual/deadline.js';

function setUp() {
  const { clock, deadline } = deadlineAt(20_000);
  const rounds = new Rounds(deadline, () => 0.5);
  /** Repeats a round, half a second before the deadline for the last time. */
  const repeat = (round: () => Promise<Round>) => clock.run(rounds.repeat(round, deadline, 500));
  return { clock, deadline, rounds, repeat };
}

test('a bug in a repeated search is thrown even if an earlier search failed', async () => {
  const results = [{ failure: new RequestError('status 503', { status: 503, transient: true }) }];
  const round = async () => results.pop() ?? Promise.reject(new TypeError('a bug'));
  await expect(setUp().repeat(round)).rejects.toThrow('a bug');
});

test('post ends at once after a permanent failure', async () => {
  const failure = new RequestError('HTTPS_PROXY is not a valid URL', { transient: false, mayHaveTakenEffect: false });
  const { clock, repeat } = setUp();
  expect(await repeat(async () => ({ failure }))).toEqual(failure);
  expect(clock.now()).toBe(0);
});

test('no list of a parallel check is requested before a Retry-After ends', async () => {
  for (const retryAfterMs of [10_000, 3_600_000]) {
    const { clock, deadline, rounds } = setUp();
    rounds.cooldown.note(new RequestError('status 429', { status: 429, transient: true, retryAfterMs }));
    const requestedAt: number[] = [];
    const list = rounds.readList(deadline)(async () => void requestedAt.push(clock.now()));
    await clock.run(list.catch(() => undefined));
    expect([requestedAt, clock.now()]).toEqual(retryAfterMs === 10_000 ? [[10_000], 10_000] : [[], 0]);
  }
});
