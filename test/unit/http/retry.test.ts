import { expect, test } from 'vitest';
import { RequestError, type RequestErrorOptions } from '../../../src/http/errors.js';
import { type Attempt, isTransientStatus, withRetries } from '../../../src/http/retry.js';
import { deadlineAt } from '../../virtual/deadline.js';
import { silent } from '../../virtual/silent.js';

const hour = 3_600_000;

const failed = (status: number, details: Partial<RequestErrorOptions> = {}) =>
  new RequestError(`status ${status}`, { status, transient: isTransientStatus(status), ...details });
const closed = new RequestError('The connection closed');
const silence = new RequestError('No complete response', { isSilence: true });

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

test.for([
  [9_999, 2],
  [10_000, 1],
])('after a 401 that comes at %i ms, a request is sent %i times', async ([takes, times]) => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(401), takes);
  expect(await ended).toMatchObject({ status: 401 });
  expect(sentAt.length).toBe(times);
});

test('the last request after a 401 is sent 10 s after the first one', async () => {
  const { sentAt, ended } = setUp(hour, 1, () => failed(401));
  await ended;
  expect(sentAt).toEqual([0, 1_000, 3_000, 7_000, 10_000]);
});

test('an HTML page with a 401 is not the 401 of the service, so its request is not repeated for 10 s', async () => {
  const { sentAt, ended } = setUp(hour, 0, () => failed(401, { isPage: true }));
  await ended;
  expect(sentAt).toEqual([0]);
});

test('an attempt without a response gives the next one twice the time, from 30 s on', async () => {
  const { attempts, ended } = setUp(hour, 0, (n) => [undefined, silence, failed(503), silence][n]);
  expect(await ended).toBe('a response');
  expect(attempts.map(({ patience }) => patience)).toEqual([30_000, 60_000, 60_000, 120_000]);
});

test('an error other than a RequestError is thrown without a retry', async () => {
  const defect = new TypeError('a defect');
  const { sentAt, ended } = setUp(hour, 0, () => defect);
  expect(await ended).toBe(defect);
  expect(sentAt).toEqual([0]);
});
