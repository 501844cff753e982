import { expect, test } from 'vitest';
import { RequestError } from '../../../src/http/errors.js';
import { isTransientStatus, withRetries } from '../../../src/http/retry.js';
import { silent } from '../../virtual/api.js';
import { deadlineAt } from '../../virtual/clock.js';

const failed = (status: number) =>
  new RequestError(`status ${status}`, { status, transient: isTransientStatus(status) });
const silence = new RequestError('No complete response', { isSilence: true });

/** Sends a request with these errors. Tells when each attempt began, and how long a response could take. */
async function attemptsOf(random: number, errorOf: (n: number) => Error | undefined) {
  const { clock, deadline } = deadlineAt(3_600_000);
  const attempts: { at: number; patience: number }[] = [];
  const send = withRetries({ deadline, random: () => random, log: silent });
  const ended = send(async ({ patience }) => {
    const error = errorOf(attempts.push({ at: clock.now(), patience }));
    if (error !== undefined) throw error;
  });
  await clock.run(ended.catch(() => undefined));
  return attempts;
}

test('only the statuses 408, 423, 425, 429, 500, 502 to 504 and 520 to 530 count as transient', () => {
  const transient = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTransientStatus);
  expect(transient).toEqual([408, 423, 425, 429, 500, 502, 503, 504, ...Array.from({ length: 11 }, (_, n) => 520 + n)]);
});

test('a request that gets only 401s is sent for the last time 10 s after the first attempt', async () => {
  const attempts = await attemptsOf(1, () => failed(401));
  expect(attempts.at(-1)?.at).toBe(10_000);
});

test('a request gets 30 s for its response, and twice as long after each attempt without one', async () => {
  const attempts = await attemptsOf(0, (n) => [undefined, silence, failed(503), silence][n]);
  expect(attempts.map(({ patience }) => patience)).toEqual([30_000, 60_000, 60_000, 120_000]);
});
