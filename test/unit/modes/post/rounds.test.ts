import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/http/errors.js';
import { Rounds } from '../../../../src/modes/post/rounds.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';

test('a bug in a round is reported, even if a request failed before', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(clock, 20_000, new Cancellation());
  const results = [{ failure: new RequestError('status 503', { status: 503, transient: true }) }];
  const round = async () => results.pop() ?? Promise.reject(new TypeError('a bug'));
  const ended = new Rounds(deadline, () => 0.5).repeat(round, deadline, 500);
  await expect(clock.run(ended)).rejects.toThrow('a bug');
});
