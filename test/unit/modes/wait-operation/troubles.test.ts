import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/http/errors.js';
import { Rate } from '../../../../src/http/rate.js';
import { isTransientStatus } from '../../../../src/http/retry.js';
import { Troubles } from '../../../../src/modes/wait-operation/troubles.js';
import { deadlineAt } from '../../../virtual/clock.js';

const failed = (status: number, retryAfterMs?: number) =>
  new RequestError(`status ${status}`, { status, transient: isTransientStatus(status), retryAfterMs });
const closed = new RequestError('The connection closed');
const silence = new RequestError('No complete response', { isSilence: true });
const unsendable = new RequestError('HTTPS_PROXY is not a URL', { transient: false, mayHaveTakenEffect: false });

type Failures = readonly (readonly [at: number, error: RequestError])[];
const once = (at: number, error: RequestError) => [at, error] as const;
const each = (times: readonly number[], error: RequestError): Failures => times.map((at) => once(at, error));

function setUp() {
  const { clock, deadline } = deadlineAt(Number.POSITIVE_INFINITY);
  const rate = new Rate(clock, () => 0);
  const troubles = new Troubles(clock, rate);
  const passUntil = (time: number) => clock.run(clock.sleep(time - clock.now()));
  /** Notes each failure at its time. Returns the last verdict. */
  async function noteAll(failures: Failures, id = 'op-1') {
    let verdict: 'final' | 'again' = 'again';
    for (const [at, error] of failures) {
      await passUntil(at);
      verdict = troubles.note(id, error);
    }
    return verdict;
  }
  return { clock, deadline, rate, troubles, passUntil, noteAll };
}

/** A 404 for 12 s, and this failure 5 s after the first one. */
const interrupted = (by: RequestError): Failures => [
  once(0, failed(404)),
  once(5_000, by),
  ...each([9_000, 12_000], failed(404)),
];

type Row = readonly [what: string, verdict: 'final' | 'again', failures: Failures];

test.for<Row>([
  ['three 404s over 10 s end the wait', 'final', each([0, 5_000, 10_000], failed(404))],
  ['two 404s over 10 s do not end the wait', 'again', each([0, 10_000], failed(404))],
  ['four 404s over less than 10 s do not end the wait', 'again', each([0, 3_000, 6_000, 9_999], failed(404))],
  ['401s and a 403 over 10 s end the wait', 'final', [...each([0, 5_000], failed(401)), once(10_000, failed(403))]],
  ['404s with a 503 between them do not end the wait', 'again', interrupted(failed(503))],
  ['404s with a closed connection between them end the wait', 'final', interrupted(closed)],
  ['a request that cannot be sent ends the wait at once', 'final', [once(0, unsendable)]],
])('in a project that has given a usable response, %s', async ([, verdict, failures]) => {
  const { troubles, noteAll } = setUp();
  troubles.answered('p-1', true);
  expect(await noteAll(failures)).toBe(verdict);
});

test.for<Row>([
  ['ends if a minute passes after a 423', 'final', [once(30_000, failed(423)), once(90_000, silence)]],
  ['goes on if less than a minute passes after a 423', 'again', [once(30_000, failed(423)), once(89_999, silence)]],
  ['goes on if less than a minute passes after a 429', 'again', [once(30_000, failed(429)), once(89_999, silence)]],
])('the wait for a project without usable responses %s', async ([, verdict, failures]) => {
  expect(await setUp().noteAll(failures)).toBe(verdict);
});

test('the time for which a 429 holds back all requests does not count as a missing response', async () => {
  const { deadline, rate, clock, noteAll } = setUp();
  const throttled = rate.run(deadline, () => Promise.reject(failed(429, 100_000)));
  await clock.run(throttled.catch(() => undefined));
  expect(await noteAll([once(159_999, silence)])).toBe('again');
  expect(await noteAll([once(160_000, silence)])).toBe('final');
});

test('a usable response about one operation resets its count of 404s, not that of another operation', async () => {
  const { troubles, passUntil } = setUp();
  for (const at of [0, 5_000, 10_000, 15_000]) {
    await passUntil(at);
    if (at === 10_000) troubles.answered('op-1', false);
    const verdicts = ['op-1', 'op-2'].map((id) => troubles.note(id, failed(404)));
    expect(verdicts).toEqual(['again', at < 10_000 ? 'again' : 'final']);
  }
});

test.for([
  [423, 'delays only requests about the same id', 7_000],
  [503, 'delays only requests about the same id', 7_000],
  // The rate keeps this one.
  [429, 'is not kept for a single id', 0],
] as const)('a Retry-After of a %i %s', ([status, , until]) => {
  const { troubles } = setUp();
  troubles.note('op-1', failed(status, 7_000));
  expect(['op-1', 'op-2'].map((id) => troubles.of(id).notBefore)).toEqual([until, 0]);
});

test('a list keeps its longer request timeout until all its pages have come', () => {
  const { troubles } = setUp();
  troubles.note('p-1', silence);
  troubles.answered('p-1', false);
  expect(troubles.of('p-1').patience).toBe(10_000);
  troubles.answered('p-1', true);
  expect(troubles.of('p-1').patience).toBe(5_000);
});
