import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/http/errors.js';
import { Rate } from '../../../../src/http/rate.js';
import { isTransientStatus } from '../../../../src/http/retry.js';
import { Troubles } from '../../../../src/modes/wait-operation/troubles.js';
import { deadlineAt } from '../../../virtual/deadline.js';

const failed = (status: number, retryAfterMs?: number) =>
  new RequestError(`status ${status}`, { status, transient: isTransientStatus(status), retryAfterMs });
const page = new RequestError('an HTML page', { status: 404, transient: true, isPage: true });
const unusable = new RequestError('an unusable response', { status: 200, transient: true });
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

const hour = 3_600_000;

/** A 404 for 12 s, and this failure 5 s after the first one. */
const interrupted = (by: RequestError): Failures => [
  once(0, failed(404)),
  once(5_000, by),
  ...each([9_000, 12_000], failed(404)),
];

type Row = readonly [what: string, verdict: 'final' | 'again', failures: Failures];

test.for<Row>([
  ['a 404 for 10 s, three times', 'final', each([0, 5_000, 10_000], failed(404))],
  ['a 404 for 10 s, twice', 'again', each([0, 10_000], failed(404))],
  ['a 404 for less than 10 s', 'again', each([0, 3_000, 6_000, 9_999], failed(404))],
  ['a 401 for 10 s', 'final', each([0, 5_000, 10_000], failed(401))],
  ['different 4xx for 10 s', 'final', [...each([0, 5_000], failed(401)), once(10_000, failed(403))]],
  ['a 404, but a 503 between', 'again', interrupted(failed(503))],
  ['a 404, no answer between', 'final', interrupted(closed)],
  ...[408, 423, 425, 429, 500, 503].map(
    (status): Row => [`a ${status} for an hour`, 'again', each([0, 10_000, hour], failed(status))],
  ),
  ['an HTML page with a 404 for an hour', 'again', each([0, 10_000, hour], page)],
  ['no response for an hour', 'again', each([0, 10_000, hour], silence)],
  ['an unusable response for an hour', 'again', each([0, 10_000, hour], unusable)],
  ['a request that cannot be sent', 'final', [once(0, unsendable)]],
])('after a usable response of the project: %s, %s', async ([, verdict, failures]) => {
  const { troubles, noteAll } = setUp();
  troubles.answered('p-1', true);
  expect(await noteAll(failures)).toBe(verdict);
});

test.for<Row>([
  ['no response for a minute', 'final', each([5_000, 60_000], silence)],
  ['no response for less than a minute', 'again', each([5_000, 59_999], silence)],
  ['a 503 for a minute', 'final', each([0, 60_000], failed(503))],
  ['unusable responses for a minute', 'final', each([0, 60_000], unusable)],
  ['no response for a minute since a 423', 'final', [once(30_000, failed(423)), once(90_000, silence)]],
  ['no response for less than a minute since a 423', 'again', [once(30_000, failed(423)), once(89_999, silence)]],
  ['no response for less than a minute since a 429', 'again', [once(30_000, failed(429)), once(89_999, silence)]],
  ['a 423 each minute', 'again', each([0, 60_000, 120_000], failed(423))],
])('without a usable response of the project: %s, %s', async ([, verdict, failures]) => {
  expect(await setUp().noteAll(failures)).toBe(verdict);
});

test('a hold of all requests is no silence of the project', async () => {
  const { deadline, rate, clock, noteAll } = setUp();
  const throttled = rate.run(deadline, () => Promise.reject(failed(429, 100_000)));
  await clock.run(throttled.catch(() => undefined));
  expect(await noteAll([once(159_999, silence)])).toBe('again');
  expect(await noteAll([once(160_000, silence)])).toBe('final');
});

test('a usable response about one operation interrupts its own rejections, not those of another', async () => {
  const { troubles, passUntil } = setUp();
  for (const at of [0, 5_000, 10_000, 15_000]) {
    await passUntil(at);
    if (at === 10_000) troubles.answered('op-1', false);
    const verdicts = ['op-1', 'op-2'].map((id) => troubles.note(id, failed(404)));
    expect(verdicts).toEqual(['again', at < 10_000 ? 'again' : 'final']);
  }
});

test('a request gets 5 s, and twice as long after each silence, up to 20 s', () => {
  const { troubles } = setUp();
  const patiences = [silence, silence, silence, failed(503)].map((error) => {
    const { patience } = troubles.of('op-1');
    troubles.note('op-1', error);
    return patience;
  });
  expect(patiences).toEqual([5_000, 10_000, 20_000, 20_000]);
  expect(troubles.of('op-2').patience).toBe(5_000);
  troubles.answered('op-1', true);
  expect(troubles.of('op-1').patience).toBe(5_000);
});

test.for([423, 503])('a Retry-After of a %i delays requests about the same id only', (status) => {
  const { troubles } = setUp();
  troubles.note('op-1', failed(status, 7_000));
  expect(['op-1', 'op-2'].map((id) => troubles.of(id).notBefore)).toEqual([7_000, 0]);
});

test('the rate, not one id, keeps the Retry-After of a 429', () => {
  const { troubles } = setUp();
  troubles.note('op-1', failed(429, 7_000));
  expect(troubles.of('op-1').notBefore).toBe(0);
});

test('the latest failure is that of what still fails', () => {
  const { troubles } = setUp();
  const [one, two] = [failed(503), failed(500)];
  troubles.note('op-1', failed(502));
  troubles.note('op-2', two);
  troubles.note('op-1', one);
  expect(troubles.latest).toBe(one);
  troubles.answered('op-1', true);
  expect(troubles.latest).toBe(two);
  troubles.answered('op-2', true);
  expect(troubles.latest).toBeUndefined();
});
