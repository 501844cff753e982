import { expect, test } from 'vitest';
import type { Fault, FaultRule, OperationPlan } from '../../control-plane/index.js';
import { seededRandom } from '../../control-plane/random.js';
import { delay, hang, html, lost, onOperation, onOperations, retryAfter, status, truncated } from '../kit/fault.js';
import { type Inputs, uuid } from '../kit/inputs.js';
import { errorOf, type Stage, warningsOf } from '../kit/stage.js';
import { atLeast, between, gaps, maxConcurrent, minute, second, within } from '../kit/times.js';
import { all, ended, every, expectEnd, failsIn, forever, many, meets, patient, runs } from '../kit/wait.js';

const seeds = [1, 2, 3, 4, 5];
const missing: OperationPlan = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };
const rounding = 0.01;

const failing: readonly Fault[] = [
  ...[status(500), status(501), status(503), lost, truncated, html, delay(minute)],
  ...(['bad-json', 'hang-mid-body', 'endless-body'] as const).map((kind) => ({ kind })),
  { kind: 'redirect', location: '/' },
  { kind: 'drip', intervalMs: second },
];

const targets = Object.entries<Inputs>({ 'one id': {}, 'operation-id: all': all });

test.for<[first: string, then: string, end: string, verdict: string, ...warnings: string[]]>([
  ['scheduling', 'running', 'finished', 'finished'],
  ['running', 'running', 'skipped', 'finished'],
  ['running', 'running', 'failed', 'failed'],
  ['running', 'cancelling', 'cancelled', 'failed'],
  ['hibernating', 'constructor', 'error', 'failed', expect.stringMatching(/unknown status “hibernating”/)],
  ['running', 'paused', 'finished', 'finished', expect.stringMatching(/unknown status “paused”/)],
])('operations that are “%s”, then “%s” and finally “%s” end the step with status %s', async (row, context) => {
  const [first, then, end, verdict, ...warnings] = row;
  const at = (seconds: number, word: string) => ({ afterMs: seconds * second, status: word });
  const plans = many(3, { course: [at(0, first), at(5, then), at(20, end)], action: 'reticulate_splines' });
  const expected = { status: verdict, count: 3, ms: atLeast(20 * second) };
  const { result, ids } = await expectEnd(context, expected, plans, patient);
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject(Array(3).fill({ status: end }));
  expect(result.log).toMatch(new RegExp(`reticulate_splines on \\S+ \\[${ids[0]}\\]: ${then} → ${end}`));
  expect(result.summary).toContain(end);
  expect(warningsOf(result)).toEqual(warnings);
  if (verdict === 'failed') expect(errorOf(result)).toMatch(new RegExp(`${ids[0]}.*Do not deploy on top of this`));
});

const unknown = ['', 'done', 'Finished', ' finished', 'finished\u0000', 'toString', '__proto__'];
test.for(unknown)('an operation with the unknown status %j never makes the step succeed', async (word, context) => {
  // A record without a status is unusable; another word is waited for.
  const end = word === '' ? 'error' : 'timeout';
  await expectEnd(context, end, [{ course: [{ afterMs: 0, status: word }] }], { timeout: '1m' });
});

test('pauses between polls are random, and their limit grows from 500 ms to 5 s', async (context) => {
  const fifth = new Set<number>();
  for (const seed of seeds) {
    const { times } = await expectEnd(context, 'finished', [runs(300)], {}, { seed });
    expect(times()[0]).toBe(0);
    for (const [n, gap] of gaps(times()).entries()) {
      const max = Math.min(5 * second, Math.max(500, (times()[n] ?? 0) / 4));
      expect(gap).toEqual(between(max / 4, max + rounding));
    }
    fifth.add(times()[5] ?? Number.NaN);
  }
  expect(fifth.size).toBe(seeds.length);
});

for (const interval of ['auto', '2s'])
  test(`with poll-interval: ${interval}, each 429 doubles the pause up to 60 s, and a success shortens it`, async (context) => {
    for (const seed of seeds) {
      // Late enough for a usual pause of another length with each seed.
      const from = 6 * seed;
      const plans = [meets(forever, status(429), { from, count: 8 })];
      const { times } = await expectEnd(context, 'timeout', plans, { ...every(interval), timeout: '20m' }, { seed });
      const [usual = Number.NaN, ...later] = gaps(times()).slice(from - 2);
      const [throttled, recovering] = [later.slice(0, 8), later.slice(8)];
      // After a single 429, an end is seen within 10 s.
      expect(usual + (throttled[0] ?? Number.NaN)).toBeLessThanOrEqual(10 * second);
      for (const [n, pause] of throttled.entries()) {
        const doubled = 2 * (throttled[n - 1] ?? usual);
        expect(pause).toEqual(between(Math.min(minute, doubled) - rounding, minute + rounding));
      }
      expect(throttled.at(-1)).toBeGreaterThan(10 * second);
      expect(recovering[0]).toBeGreaterThan(5 * second);
      expect(Math.max(...recovering.slice(-20, -1))).toBeLessThanOrEqual(5 * second + rounding);
    }
  });

const fourTimes503 = { count: 4, fault: status(503) };
test.for<[what: string, seconds: number, nth: number, fault: Fault, most: number, ...before: FaultRule[]]>([
  ['a 429 with Retry-After: 600', 600, 4, retryAfter(429, 600), Number.POSITIVE_INFINITY],
  ['a 503 with Retry-After: 3600 before the first response', 60, 1, retryAfter(503, 3_600), 61],
  ['a fifth 503 with Retry-After: 3600 before the first response', 60, 5, retryAfter(503, 3_600), 60.001, fourTimes503],
  ['a 503 with Retry-After: 20 after the first response', 20, 3, retryAfter(503, 20), 26],
  ['a 503 with Retry-After: 3600 after the first response', 60, 3, retryAfter(503, 3_600), 66],
])('%s delays the next poll by %i s, later ones by up to a minute', async (row, context) => {
  const [, seconds, nth, fault, most, ...before] = row;
  for (const seed of seeds) {
    const options = { seed, faults: [...before, { nth, fault }] };
    const { times } = await expectEnd(context, 'finished', [runs(13 * 60)], { timeout: '2h' }, options);
    const [asked, next, afterNext] = gaps(times()).slice(nth - 1);
    expect(asked).toEqual(between(seconds * second, most * second));
    expect(next).toBeLessThanOrEqual(minute);
    expect(afterNext).toBeLessThanOrEqual(25 * second);
  }
});

for (const [what, inputs] of targets)
  test.for(failing)(`with ${what}, the step keeps polling until the deadline despite %o`, async (fault, context) => {
    const slow = { timeout: '15m', 'request-timeout': '10s', ...inputs };
    const faults = [{ from: 2, count: 12 }, { from: 40 }].map((which) => ({ ...which, fault }));
    const end = { status: 'timeout', ms: within(15 * 60 + 2), says: /Last error: / };
    const { times, result, ids } = await expectEnd(context, end, [forever], slow, { faults });
    expect(result.outputs['operations']).toContain(ids[0]);
    expect(times().length).toBeGreaterThan(60);
    expect(Math.max(...gaps(times()))).toBeLessThanOrEqual(15 * second + rounding);
    // Of `all`, the list and single requests may fail and recover in turn.
    if (inputs === all) return;
    expect(result.log.match(/The service is responding again/g)).toHaveLength(1);
    if (fault !== truncated) expect(result.log.match(/Poll failed, will retry/g)).toHaveLength(2);
  });

test('a wait counts an operation as finished if one list shows it as running and then as finished', async (context) => {
  const record = (status: string, n: number) => ({ id: uuid(Math.min(n, 2)), status });
  const operations = ['finished', 'finished', 'running', 'finished'].map(record);
  const respond = () => JSON.stringify({ operations });
  const inputs = { 'operation-id': [0, 1, 2].map(uuid).join(), timeout: '0' };
  await expectEnd(context, { status: 'finished', count: 3 }, [], inputs, { respond });
});

test.for<[number, number]>([
  [2, 3],
  [3, 2],
])('a timeout names the latest failure (operations fail from requests %i and %i)', async (from, context) => {
  const plans = [retryAfter(503, 60), status(500)].map((fault, n) => meets(forever, fault, { from: from[n] ?? 0 }));
  const says = (ids: string[]) => new RegExp(`Last error: GET \\S+${ids[1]}: status 500`);
  await expectEnd(context, { status: 'timeout', says }, plans, { timeout: '20s' });
});

test('the error of a timeout does not name a failure that ended long before', async (context) => {
  const end = { status: 'timeout', says: /^(?!.*503).*Operations may still finish/s };
  const { result } = await expectEnd(context, end, [meets(forever, status(503), { nth: 1 })], { timeout: '1m' });
  expect(result.log).toMatch(/The service is responding again/);
});

test.for([400, 401, 403, 405, 409, 410, 422])('a %i after successful polls is not retried', async (code, context) => {
  const end = { status: 'error', by: 0, says: new RegExp(`status ${code}.*1 of 2 operations had ended`) };
  const { ids, result, timesOf } = await expectEnd(context, end, [meets(forever, status(code), { nth: 4 }), ended]);
  expect(result.log).not.toMatch(/will retry/);
  expect(timesOf(ids[0])).toHaveLength(4);
});

for (const [what, inputs] of targets)
  test.for([status(503), html, lost])(`with ${what}, the step survives 29 s of %o at first`, async (fault, context) => {
    for (const seed of seeds) {
      const before = ({ service, after }: Stage) => after(29 * second, service.faults.add({ fault }));
      await expectEnd(context, 'finished', [runs(60)], inputs, { seed, before });
    }
  });

test('the step gives up after 5 attempts if the host name does not exist', async (context) => {
  const end = { status: 'error', ms: within(16) };
  const { elsewhere } = await expectEnd(context, end, [forever], { 'base-url': 'https://unknown.test/v2' });
  expect(elsewhere).toHaveLength(5);
});

test.for<[what: string, ...inTurn: Fault[]]>([
  ['after a 429', retryAfter(429, 70), status(503)],
  ['before and after a 429', status(503), retryAfter(429, 70), status(503)],
])('a 503 %s is retried, although the 429 asks for a pause of 70 s', async ([, ...inTurn], context) => {
  const faults = inTurn.map((fault, n) => ({ nth: n + 1, fault }));
  await expectEnd(context, 'finished', [runs(1)], {}, { faults });
});

test.for<[what: string, fault: Fault, requests: number]>([
  ['fails with a Retry-After of 40 s', retryAfter(503, 40), 2],
  // Each attempt sends its request once more after 5 s, and then waits for 30 s.
  ['hangs', hang, 4],
])('if each attempt %s, none begins more than a minute after the first', async ([, fault, requests], context) => {
  const end = { status: 'error', requests };
  const { result, times } = await expectEnd(context, end, [forever], { timeout: '1h' }, { faults: [{ fault }] });
  if (fault !== hang) expect([times().at(-1), result.ms]).toEqual([40 * second, 40 * second]);
});

test('a request that hangs delays the next poll of another operation by at most 0.5 s', async (context) => {
  const plans = [forever, meets(forever, hang, { nth: 1 })];
  const { timesOf, ids } = await expectEnd(context, 'timeout', plans, { ...every('250ms'), timeout: '3s' });
  expect(gaps(timesOf(ids[0]))[0]).toEqual(between(250, 751));
});

test('a list that does not respond is requested again after 5 s', async (context) => {
  const faults = [{ nth: 5, fault: hang }];
  const { times } = await expectEnd(context, 'finished', [runs(20)], { ...all, ...every('4s') }, { faults });
  expect(gaps(times())[4]).toBe(5 * second);
});

test('a request without a response is sent again after 5 s, even if a long pause came before it', (context) =>
  expectEnd(context, { status: 'finished', requests: [0, 20, 25] }, [
    meets(meets(ended, retryAfter(503, 20), { nth: 1 }), hang, { nth: 2 }),
  ]));

test('a request that is sent again after it hung may take all of request-timeout', (context) => {
  const plan = meets(meets(runs(2), hang, { nth: 2 }), delay(29 * second), { nth: 3 });
  return expectEnd(context, { status: 'finished', ms: 38 * second, requests: [0, 4, 9] }, [plan], every('4s'));
});

test('the step sends a hanging request again only after the Retry-After of another request', async (context) => {
  const plans = [hang, retryAfter(429, 20)].map((fault) => meets(runs(10), fault, { nth: 2 }));
  const { ids, timesOf } = await expectEnd(context, 'finished', plans, every('4s'));
  expect(timesOf(ids[0]).slice(0, 3)).toEqual([0, 4 * second, atLeast(24 * second)]);
});

test('after a project has failed, a 429 still delays its open requests', async (context) => {
  const plans = [meets(forever, status(403)), meets(forever, retryAfter(429, 20), { nth: 1 }), forever];
  const options = { faults: [onOperations(hang, { nth: 1 })] };
  const { timesOf } = await expectEnd(context, 'error', plans, { ...patient, timeout: '1m' }, options);
  expect(timesOf('?limit')[1]).toBeGreaterThanOrEqual(20 * second);
});

test('after a project has failed, a 503 for its open request is not retried', async (context) => {
  const silent = meets(meets(forever, hang, { nth: 2 }), status(503), { nth: 3 });
  const plans = [meets(forever, status(403), { nth: 2 }), silent];
  const { ids, timesOf } = await expectEnd(context, { status: 'error', says: /status 403/ }, plans, patient);
  expect(ids.map((id) => timesOf(id).length)).toEqual([2, 3]);
});

const notInProject = /^Project \S+ has no operation .*another project\?.*of 2 operations had/;
for (const [what, plans, inputs, says] of [
  ['an operation', [runs(1), missing], {}, notInProject],
  ['a project', [], { ...all, 'project-id': 'no-such-project' }, /^Project no-such-project was not found /],
] as const)
  test.for<[status: string, from: number, to: number, timeout?: string]>([
    ['error', 5, 7],
    ['timeout', 3, 3, '3s'],
    ['error', 0, 0, '0'],
  ])(`${what} that never appears gives status %s after %i to %i s`, async ([status, from, to, timeout], context) => {
    const advice =
      /404: There is no .* Check project-id, .* and base-url \(it .*\/v2\)\. A key without access gets 404/;
    const ms = between(from * second, to * second + 1);
    const end = { status, count: plans.length === 0 ? 0 : 1, ms, says: advice };
    const { result, ids } = await expectEnd(context, end, plans, { ...inputs, timeout });
    if (status === 'error') expect(errorOf(result)).toMatch(says);
    expect(errorOf(result)).toContain(ids[1] ?? 'no-such-project');
  });

const hidden = meets(forever, status(404));

test('with fail-fast: false, the step ends after 5 s if one operation is not found and the other has ended', (context) =>
  expectEnd(context, { status: 'error', ms: between(5 * second, 7 * second) }, [runs(3), hidden], patient));

test('after a 404 that ends the step, operation-id is the operation that was not found', (context) =>
  expectEnd(context, { status: 'error', by: 1 }, [forever, hidden]));

test('the Retry-After of a 404 delays the next request for the operation', async (context) => {
  const throttled = meets(forever, status(404, { headers: { 'retry-after': '20' } }));
  const { times } = await expectEnd(context, 'error', [throttled]);
  expect(times()).toEqual([0, between(20 * second, 25 * second)]);
});

test('after a 429, polls that fail do not bring the usual pace back', async (context) => {
  const plan = meets(meets(forever, status(429), { from: 2, count: 2 }), status(503), { from: 4 });
  const { times } = await expectEnd(context, 'timeout', [plan], { timeout: '5m' });
  const [, , slowed = 0, ...later] = gaps(times());
  expect(Math.min(...later.slice(0, -1))).toBeGreaterThanOrEqual(slowed);
});

test('the step waits for an operation that appears within 5 s of its first 404', (context) =>
  expectEnd(context, 'finished', [meets({ ...runs(60), appearsAfterMs: 34_900 }, retryAfter(503, 30), { nth: 1 })]));

test.for(targets)('with %s, an operation that disappears is polled for 30 s more', async ([, inputs], context) => {
  const before = ({ after, service, projectId }: Stage) =>
    after(40 * second, () => service.plane.removeProject(projectId));
  const { result, times } = await expectEnd(context, 'error', [forever], inputs, { before });
  const [first = Number.NaN, ...missed] = times().filter((time) => time >= 40 * second);
  expect(missed.at(-1)).toEqual(between(first + 30 * second, first + 36 * second));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'running' }]);
});

test('the step keeps waiting for an operation that twice vanishes for less than 30 s', async (context) => {
  const faults = [10, 35].map((from) => ({ from, count: 12, fault: status(404) }));
  await expectEnd(context, 'finished', [runs(120)], every('2s'), { faults });
});

test('an operation that the list shows after a 404 is polled for 30 s more when it vanishes again', async (context) => {
  const vanishing = { ...forever, appearsAfterMs: 1_200, vanishesAfterMs: 36 * second };
  await expectEnd(context, { status: 'error', ms: atLeast(65 * second) }, [...many(2, forever), vanishing]);
});

test('while more than two operations are pending, the step reads the list, and requests singly only those that no page shows', async (context) => {
  const plans = [30, 30, 150, 150, 90].map(runs);
  const { paths, ids } = await expectEnd(context, 'finished', plans, every('1m'), { buried: 2 });
  const page = '?limit=100';
  const [one, two, three, four] = ids.map((id) => `/${id}`);
  const requested = paths().map((path) => path.replace(/.*operations/, '').replace(/&?cursor=[^&]*/, ''));
  expect(requested).toEqual([page, one, two, page, one, two, page, three, four]);
});

test.for([
  ['true', 'at the first failure', 10 * second],
  ['false', 'when all operations have ended', minute],
] as const)('fail-fast: %s ends the step %s', async ([failFast, , end], context) => {
  const plans = [{ ...failsIn(10), failuresCount: 7 }, runs(60), runs(5)];
  const says = ([one]: string[]) => new RegExp(`^1 of 3 operations in project \\S+ failed: .*${one}.*failures_count 7`);
  const expected = { status: 'failed', count: 3, by: 0, ms: between(end, 1.3 * end), says };
  const { result, ids } = await expectEnd(context, expected, plans, { 'fail-fast': failFast });
  expect(new RegExp(`Stopped waiting for: .*${ids[1]}`).test(errorOf(result))).toBe(failFast === 'true');
});

test.for<[what: string, failFast: string, rule: FaultRule, within: number]>([
  ['a hanging request', 'true', { fault: hang }, 13],
  ['a hanging request', 'false', { fault: hang }, 61],
  ['a repeated 500', 'true', { from: 2, fault: status(500) }, 13],
  ['a 423 with a Retry-After', 'true', { from: 2, fault: retryAfter(423, 50) }, 13],
  ['a 503 with a Retry-After', 'true', { from: 2, fault: retryAfter(503, 50) }, 13],
])('%s for one operation hides no failure of another (fail-fast: %s)', async ([, failFast, rule, most], context) => {
  const inputs = { timeout: '1m', 'request-timeout': '1m', 'fail-fast': failFast };
  const end = { status: 'failed', by: 1, ms: between(10 * second, most * second + 1) };
  const { result, ids, timesOf } = await expectEnd(context, end, [{ ...forever, faults: [rule] }, failsIn(10)], inputs);
  expect(errorOf(result)).toContain(ids[0]);
  // That poll could have succeeded later, so it is no reason for the failure.
  expect(errorOf(result)).not.toContain('Last error');
  if (rule.fault.kind === 'status' && rule.fault.retryAfter) expect(timesOf(ids[0])).toHaveLength(2);
});

test('the step requests 20 unlisted operations singly, 12 at a time, and a request that hangs delays no other', async (context) => {
  const options = { buried: 20, faults: [{ fault: delay(150) }] };
  const plans = [meets(runs(2), hang, { count: 2 }), ...many(19, runs(2))];
  const end = { status: 'finished', ms: between(45 * second, 60 * second) };
  const { ids, service } = await expectEnd(context, end, plans, { 'request-timeout': '40s' }, options);
  expect(maxConcurrent(service.requests)).toBe(12);
  const late = service.requests.filter(({ at }) => at > (service.requests[0]?.at ?? 0) + 5 * second);
  expect(new Set(late.map(({ path }) => path.split('/').at(-1)))).toEqual(new Set([ids[0]]));
});

test('after a request that hung, the step again sends up to 12 requests at once', async (context) => {
  const options = { buried: 20, faults: [{ nth: 1, fault: hang }, { fault: delay(150) }] };
  const { service } = await expectEnd(context, 'finished', many(20, runs(10)), {}, options);
  const later = service.requests.filter(({ at }) => at > (service.requests[0]?.at ?? 0) + 6 * second);
  expect(maxConcurrent(later)).toBe(12);
});

test('the step reads up to 10 pages, then requests singly the 20 unlisted operations that have waited longest', async (context) => {
  const options = { buried: 40, buriedUnder: 1_000 };
  const { paths } = await expectEnd(context, 'finished', many(40, runs(2)), every('1m'), options);
  const polls = paths().map((path) => (path.includes('?limit') ? 'page' : 'single'));
  const poll = [...Array(10).fill('page'), ...Array(20).fill('single')];
  expect(polls).toEqual([...poll, ...poll, 'page', ...Array(20).fill('single')]);
  // The second poll requests those that the first one did not.
  const single = paths().filter((path) => !path.includes('?limit'));
  expect(new Set(single.slice(0, 40)).size).toBe(40);
});

test('if the requests for 12 single operations hang, the step sends them again, together with at most 20 others', async (context) => {
  const options = { buried: 60, buriedUnder: 1_000, faults: [onOperation(hang, { count: 12 })] };
  const { service } = await expectEnd(context, 'finished', many(60, runs(2)), {}, options);
  const single = service.requests.filter(({ path }) => !path.includes('?limit')).map(({ at }) => at);
  const resent = (single[0] ?? Number.NaN) + 5 * second;
  expect(single.filter((at) => at >= resent && at < resent + second).length).toBeLessThanOrEqual(12 + 20);
});

test('an operation that failed stays failed although a late page of the list shows it as running', async (context) => {
  const plans = [failsIn(0.5), forever, forever];
  const options = { faults: [onOperations(delay(4 * second), { nth: 1 })] };
  const { result } = await expectEnd(context, 'failed', plans, { ...patient, timeout: '10s' }, options);
  expect(result.log).not.toContain('failed →');
  expect(JSON.parse(result.outputs['operations'] ?? '')[0].status).toBe('failed');
});

test('the step requests no operation singly while the pages of its list arrive', async (context) => {
  const options = { buried: 21, buriedUnder: 300, faults: [onOperations(delay(900), { from: 5 })] };
  const { paths } = await expectEnd(context, 'finished', many(21, runs(20)), {}, options);
  expect(paths().filter((path) => !path.includes('?limit'))).toEqual([]);
});

const bodies = ['{"operations":{}}', '{"operations":[{"id":"another, without a status"}]}'];
const unusable = [...bodies.map((body) => status(200, { body })), { kind: 'bad-json' }, html, hang] as const;
test.for(unusable)('the step requests each operation singly if the list fails with %o', async (fault, context) => {
  const plans = [forever, forever, failsIn(1)];
  const end = { status: 'failed', ms: within(3) };
  const inputs = { 'request-timeout': '5m' };
  const { service, times } = await expectEnd(context, end, plans, inputs, { faults: [onOperations(fault)] });
  const endpoints = service.requests.map(({ endpoint }) => endpoint);
  expect(endpoints.slice(0, 4)).toEqual(['list-operations', ...Array(3).fill('get-operation')]);
  if (fault !== hang) expect(times()[3]).toBe(0);
});

const lastPollAt30s = { timeout: '30s', ...every('1h') };
test.for<[what: string, fault: Fault, from: number, inputs?: Inputs]>([
  ['fails from the second poll on', status(500), 2],
  ['fails with a Retry-After', retryAfter(503, 50), 2],
  ['fails from the start', status(500), 1],
  ['is an HTML page with status 403', { ...html, status: 403 }, 1],
  ['fails in the final poll alone', status(500), 2, lastPollAt30s],
  ['hangs in the final poll alone', hang, 2, lastPollAt30s],
  ['always gets a 429', status(429), 1],
  ['gets a 429 in the final poll alone', status(429), 2, lastPollAt30s],
])('the step sees that five operations have ended although their list %s', async ([, fault, from, inputs], context) => {
  const end = { status: 'finished', count: 5, ms: within(32) };
  await expectEnd(context, end, many(5, runs(10)), inputs, { faults: [onOperations(fault, { from })] });
});

test('the log says only once that the requests for two operations fail in the same way', async (context) => {
  const { result } = await expectEnd(context, 'timeout', many(2, meets(forever, lost)), { timeout: '20s' });
  expect(result.log.match(/Poll failed, will retry: GET .*The connection closed/g)).toHaveLength(1);
});

test.for([401, 403])('a %i for the list ends the step without single requests', async (code, context) => {
  const end = { status: 'error', requests: 1 };
  await expectEnd(context, end, many(5, forever), {}, { faults: [onOperations(status(code))] });
});

test('after a 429 for the list, the next poll requests the operations singly, and the poll after it reads the list again', async (context) => {
  const options = { faults: [onOperations(status(429))] };
  const { service } = await expectEnd(context, 'timeout', many(3, forever), { timeout: '2m' }, options);
  const endpoints = service.requests.map(({ endpoint }) => endpoint);
  const turn = ['list-operations', ...Array(3).fill('get-operation')];
  expect(endpoints.slice(0, 9)).toEqual([...turn, ...turn, 'list-operations']);
});

test('an operation that ended while a slow list was read is not waited for again', async (context) => {
  const options = { buried: 3, faults: [onOperations(delay(4 * second), { nth: 1 })] };
  const end = { status: 'finished', count: 3, ms: within(20) };
  await expectEnd(context, end, [ended, runs(10), runs(10)], { timeout: '1m' }, options);
});

const threeIds = [1, 2, 3].map(uuid);
const endless = (n: number) => ({ operations: [{ id: uuid(4), status: 'finished' }], pagination: { cursor: `c${n}` } });
const inUpperCase = () => ({ operations: threeIds.map((id) => ({ id: id.toUpperCase(), status: 'finished' })) });
test.for<[what: string, ids: string[], list: (n: number) => object]>([
  ['requests each operation singly if the pages of the list never end', threeIds, endless],
  ['accepts the id of one operation in upper case', threeIds.slice(0, 1), inUpperCase],
  ['accepts the ids of three operations in upper case', threeIds, inUpperCase],
])('the step %s', async ([, ids, list], context) => {
  const single = (path: string) => ({ operation: { id: path.split('/').at(-1)?.toUpperCase(), status: 'finished' } });
  const respond = (path: string, n: number) => JSON.stringify(path.includes('?') ? list(n) : single(path));
  const { result } = await expectEnd(context, 'finished', [], { 'operation-id': ids.join() }, { respond });
  expect(result.outputs['operation-ids']).toBe(JSON.stringify(ids));
  expect(result.log).not.toMatch(/will retry/);
});

for (const [first, others] of [
  [10, 10],
  [10, 20],
  [20, 10],
] as const)
  test(`429s in one burst pause all requests once, until each Retry-After has passed (${first} s, then ${others} s)`, async (context) => {
    const longest = Math.max(first, others) * second;
    const burst = onOperation(retryAfter(429, others), { from: 4, count: 5 });
    const options = { trip: () => 20, buried: 20, faults: [onOperation(retryAfter(429, first), { nth: 3 }), burst] };
    const end = { status: 'finished', ms: within((2.5 * longest) / second) };
    const { times } = await expectEnd(context, end, many(20, runs(2)), {}, options);
    // A page precedes the burst. What was sent before the first 429 arrived takes two trips.
    const throttledAt = times()[3] ?? Number.NaN;
    expect(times().filter((time) => time > throttledAt + 40 && time < throttledAt + longest)).toEqual([]);
  });

test('a 423 delays one operation by its whole Retry-After, and no other', async (context) => {
  const plans = [meets(forever, retryAfter(423, 90), { from: 2 }), forever];
  const { ids, timesOf } = await expectEnd(context, 'timeout', plans, { ...every('1s'), timeout: '200s' });
  expect(timesOf(ids[0]).slice(0, 4)).toEqual([0, 1, 91, 181].map((time) => time * second));
  expect(new Set(gaps(timesOf(ids[1])))).toEqual(new Set([second]));
});

test('the pauses after a 423 are short again after a success', async (context) => {
  const plan = meets(meets(forever, status(423), { from: 2, count: 6 }), status(423), { nth: 10 });
  for (const seed of seeds) {
    const { times } = await expectEnd(context, 'timeout', [plan], { ...every('1s'), timeout: '10m' }, { seed });
    expect(gaps(times())[9]).toBeLessThanOrEqual(2 * second);
  }
});

test('after a 429 for one of two operations, the next poll requests both', async (context) => {
  const plans = [meets(runs(60), retryAfter(429, 10), { nth: 2 }), runs(60)];
  const { ids, timesOf } = await expectEnd(context, 'finished', plans);
  expect(timesOf(ids[0])[2]).toBeGreaterThan(10 * second);
  expect(timesOf(ids[1])[2]).toBe(timesOf(ids[0])[2]);
});

test('a Retry-After for one operation does not delay the list of the others', async (context) => {
  const plans = [meets(forever, retryAfter(503, 20), { nth: 2 }), ...many(3, forever)];
  const inputs = { timeout: '30s', ...every('1s') };
  const { ids, timesOf } = await expectEnd(context, 'timeout', plans, inputs, { buried: 1 });
  expect(timesOf(ids[0])[2]).toBeGreaterThanOrEqual(21 * second);
  expect(timesOf('?limit').filter((time) => time > second && time < 20 * second).length).toBeGreaterThan(16);
});

test('the log shows each change of status, and every minute the pending operations and the time left', async (context) => {
  const plan = { ageMs: 90 * second, schedulingMs: 140 * second, lengthMs: 270 * second, branchId: 'br-1' };
  const inputs = { timeout: '1h30m', ...every('10s') };
  const { result, ids, projectId } = await expectEnd(context, 'finished', [plan], inputs);
  const name = `create_branch on br-1 [${ids[0]}]`;
  expect(result.log.trim().split(/\n\s*/)).toEqual([
    `0ms  Waiting for 1 operation in project ${projectId} (timeout 1h 30m).`,
    `0ms  ${name}: scheduling, created 1m 30s ago`,
    `50s  ${name}: scheduling → running, created 2m 20s ago`,
    `1m 50s  Still waiting for ${name} (running); 1h 28m left.`,
    `2m 50s  Still waiting for ${name} (running); 1h 27m left.`,
    `3m  ${name}: running → finished after 4m 30s`,
    '1 operation finished.',
  ]);
});

const saysNoResponse =
  /^(?!.*(raise timeout|may still finish)).*API did not respond in the last seconds for project \S+\. Check base-url, and the network and proxy/s;

test.for(targets)('a timeout after 29 s of silence says that no response came (%s)', async ([, inputs], context) => {
  const before = ({ after, service }: Stage) => after(1_200, () => void service.faults.add({ fault: hang }));
  const end = { status: 'timeout', says: saysNoResponse };
  await expectEnd(context, end, many(2, forever), { timeout: '30s', ...inputs }, { before });
});

test.for(targets)('without any response, the log names what the step waits for (%s)', async ([, inputs], context) => {
  const slow = { timeout: '90s', 'request-timeout': '2m', ...inputs };
  const end = { status: 'timeout', says: saysNoResponse, ms: within(92) };
  const { result, ids } = await expectEnd(context, end, many(5, forever), slow, { faults: [{ fault: hang }] });
  const [one, two, three] = ids;
  const named = inputs === all ? 'the list of operations' : `[${one}], [${two}], [${three}], and 2 more`;
  expect(result.log).toContain(`Still waiting for ${named}; 30s left.`);
  expect(result.log).not.toContain('request-timeout');
});

const lastPollAt1m = { timeout: '1m', ...every('1h') };

test.for<[what: string, plan: OperationPlan, verdict: string, ...faults: FaultRule[]]>([
  ['sees an operation that has just finished', { lengthMs: 59_999 }, 'finished'],
  ['sees an operation that has just failed', { lengthMs: 59_999, outcome: 'failed' }, 'failed'],
  ['of a running operation ends the step as a timeout', { lengthMs: 60_001 }, 'timeout'],
  ['that gets a 503 is not repeated', forever, 'timeout', { from: 2, fault: status(503) }],
  ['that gets no response is not repeated', forever, 'timeout', { from: 2, fault: lost }],
  ['ignores the Retry-After of a 503', { lengthMs: second }, 'finished', { nth: 1, fault: retryAfter(503, 90) }],
])('one final poll %s', async ([, plan, status, ...faults], context) => {
  const timedOut = /^Timed out after 1m\. 1 operation in project \S+ had not finished: /;
  const says =
    status === 'timeout'
      ? new RegExp(`${timedOut.source}.*(${faults.length > 0 ? 'Last error: ' : 'raise timeout'})`)
      : undefined;
  await expectEnd(context, { status, by: 0, requests: [0, 60], says }, [plan], lastPollAt1m, { faults });
});

test.for<readonly [what: string, count: number, interval: string, rule: FaultRule]>([
  ...[1, 2, 4].map((n) => ['got a 503 with a Retry-After', n, '5s', { nth: 2, fault: retryAfter(503, 44) }] as const),
  ['got a 429', 1, '5s', { nth: 6, fault: status(429) }],
  ['has hung since the last poll', 2, '20s', { from: 2, count: 2, fault: hang }],
  ['has hung since an earlier poll', 2, '3s', { from: 9, count: 2, fault: hang }],
])('the final poll requests again what %s (operations: %i)', async ([, count, interval, rule], context) => {
  const inputs = { timeout: '30s', ...every(interval) };
  const [ofFirst, ofAll] = rule.fault === hang ? [[rule], []] : [[], [rule]];
  const plans = [{ ...runs(28.5), faults: ofFirst }, ...many(count - 1, runs(28.5))];
  await expectEnd(context, { status: 'finished', count, ms: 30 * second }, plans, inputs, { faults: ofAll });
});

for (const [what, inputs, count] of [
  ...targets.map((target) => [...target, 1] as const),
  ['two ids', {}, 2],
  ['three ids', {}, 3],
] as const)
  test(`the final poll requests ${what}, even if the request before it hangs until the deadline`, async (context) => {
    const before = ({ service, after }: Stage) => {
      after(second, () => void service.faults.add({ fault: hang }));
      after(7 * second, () => service.faults.clear());
    };
    for (let seed = 1; seed <= 12; seed++) {
      const options = { before, timers: seededRandom(seed) };
      const end = { status: 'finished', count };
      await expectEnd(context, end, many(count, runs(2)), { timeout: '9s', ...inputs }, options);
    }
  });

test('the final poll requests all 100 given ids if the list fails and each response takes 150 ms', async (context) => {
  const faults = [onOperations(status(500)), { fault: delay(150) }];
  await expectEnd(context, { status: 'finished', count: 100 }, many(100, runs(14.2)), { timeout: '15s' }, { faults });
});

test('with many given ids, a Retry-After that ends just before the deadline does not end the step', async (context) => {
  const end = { status: 'timeout', ms: atLeast(10 * second) };
  const faults = [{ nth: 1, fault: retryAfter(429, 9.5) }];
  await expectEnd(context, end, many(40, forever), { timeout: '10s' }, { faults });
});

test('even a final poll that may begin before the deadline waits for the Retry-After of a 429', async (context) => {
  const faults = [onOperations(status(500)), { fault: delay(600) }];
  const plans = [meets(forever, retryAfter(429, 3), { nth: 3 }), ...many(39, forever)];
  const inputs = { timeout: '15500ms', ...every('2s') };
  const { service, times } = await expectEnd(context, 'timeout', plans, inputs, { faults });
  const throttledAt = times()[service.requests.findIndex((request) => request.status === 429)] ?? Number.NaN;
  expect(throttledAt).toBeGreaterThan(12 * second);
  expect(times().filter((time) => time > throttledAt + second && time < throttledAt + 3 * second)).toEqual([]);
});

test.for<[what: string, fault: Fault, verdict: string, says: RegExp]>([
  ['a 401', status(401), 'error', /status 401.*API key was rejected/],
  ['a 429', status(429), 'timeout', /^Timed out after 1m.*status 429/],
  ['an HTML page with status 404', { ...html, status: 404 }, 'timeout', /^Timed out after 1m.*HTML page/],
])('%s in the final poll ends the step, and the error says so', async ([, fault, status, says], context) => {
  for (const [, target] of targets) {
    const faults = [{ from: target === all ? 3 : 2, fault }];
    await expectEnd(context, { status, says }, [forever], { ...lastPollAt1m, ...target }, { faults });
  }
});

test('a final poll with twenty slow responses takes less than 2 s', async (context) => {
  const options = { buried: 20, faults: [{ from: 2, fault: delay(900) }] };
  const end = { status: 'timeout', ms: between(20 * second, 22 * second) };
  await expectEnd(context, end, many(20, forever), { timeout: '20s' }, options);
});

const once = { timeout: '0', 'request-timeout': '10s' };

test.for<[what: string, verdict: string, ms: number, plan: OperationPlan]>([
  ['a finished operation', 'finished', 0, ended],
  ['a failed operation', 'failed', 0, failsIn(0)],
  ['a running operation', 'timeout', 0, forever],
  ['a finished operation', 'finished', 9 * second, ended],
])('with timeout: 0, one poll of %s gives status %s after %i ms', async ([, verdict, ms, plan], context) => {
  const end = { status: verdict, count: 1, ms, requests: [0] };
  const { result } = await expectEnd(context, end, [plan], once, { faults: [{ fault: delay(ms) }] });
  if (verdict === 'timeout') expect(errorOf(result)).toMatch(/^Polled once \(timeout: 0\)\./);
});

const more = [hang, status(404), retryAfter(429, 1)];
test.for([...failing, ...more])('with timeout: 0, the step fails without a retry on %o', async (fault, context) => {
  const end = { status: 'error', requests: [0], ms: between(0, 10 * second + rounding) };
  const { result } = await expectEnd(context, end, [ended], once, { faults: [{ fault }] });
  expect(result.log).not.toMatch(/will retry/);
  if (fault === hang) expect(errorOf(result)).toContain('request-timeout');
});

test('with timeout: 0, a 404 for one operation does not hide that another failed, even if the 404 comes first', (context) =>
  expectEnd(context, { status: 'failed', by: 1 }, [missing, meets(failsIn(0), delay(second))], once));

test.for<[moment: string, timeout: string, ...faults: FaultRule[]]>([
  ['between two polls', '10m'],
  ['while a request hangs', '10m', { from: 3, fault: hang }],
  ['during the Retry-After of a 503', '10m', { from: 3, fault: retryAfter(503, 50) }],
  ['during the Retry-After of a 429', '10m', { from: 3, fault: retryAfter(429, 50) }],
  ['before the first response', '0', { fault: hang }],
  ['during the final poll', '12s', { from: 3, fault: hang }],
])('a cancellation %s ends the step at once (timeout: %s)', async ([, timeout, ...faults], context) => {
  const end = { status: 'cancelled', ms: 12_345 };
  const options = { faults, cancelAfterMs: end.ms };
  const { result } = await expectEnd(context, end, [forever, failsIn(0)], { ...patient, timeout }, options);
  expect(result).toMatchObject({ outputs: { 'duration-ms': '12345' }, exitCode: 1 });
  expect(() => errorOf(result)).toThrow(/found 0/);
  expect(result.summary).toMatch(/Cancelled; [01] of 2 operations had ended/);
});
