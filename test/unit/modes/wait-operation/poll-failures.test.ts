import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/http/errors.js';
import { Pace } from '../../../../src/modes/wait-operation/pace.js';
import { PollFailures } from '../../../../src/modes/wait-operation/poll-failures.js';
import { ProgressLog } from '../../../../src/modes/wait-operation/progress-log.js';
import { Cancellation, Deadline } from '../../../../src/time/deadline.js';
import { VirtualClock } from '../../../virtual/clock.js';
import { silent } from '../../../virtual/silent.js';

test('no poll of an operation precedes the end of its Retry-After, even if another failure ended the wait', () => {
  const clock = new VirtualClock();
  const deadline = new Deadline(clock, 60_000, new Cancellation());
  const random = () => 0.5;
  const progress = new ProgressLog(silent, deadline, ['p'], () => []);
  const failures = new PollFailures(deadline, progress, new Pace(deadline, random, 'auto'), random);
  const error = new RequestError('status 520', { status: 520, transient: true, retryAfterMs: 2_000 });
  const target = { projectId: 'p', operationId: 'o', wasSeen: false };
  expect(failures.handleFailure(target, error, 'regular')).toEqual({ error, endsAtOnce: false });
  expect(failures.isDue('o')).toBe(false);
});
