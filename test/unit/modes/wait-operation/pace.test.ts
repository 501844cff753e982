import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/http/errors.js';
import { Pace } from '../../../../src/modes/wait-operation/pace.js';
import { deadlineAt } from '../../../virtual/deadline.js';

test('each 429 after a pause doubles the next pause, even within one poll', async () => {
  const { clock, deadline } = deadlineAt(Number.POSITIVE_INFINITY);
  const pace = new Pace(deadline, () => 0, 1_000);
  const pauses: number[] = [];
  for (let n = 0; n < 3; n++) {
    pauses.push(pace.slowDown(new RequestError('later', { status: 429, transient: true })) - clock.now());
    await clock.run(pace.hold());
  }
  expect(pauses).toEqual([2_000, 4_000, 8_000]);
});
