import { expect, test } from 'vitest';
import type { Fault, FaultRule, OperationPlan } from '../../control-plane/index.js';
import { seededRandom } from '../../control-plane/random.js';
import { delay, hang, html, lost, onOperation, onOperations, retryAfter, status, truncated } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { anyId, errorOf, type Stage, warningsOf } from '../kit/stage.js';
import { atLeast, between, gaps, maxConcurrent, minute, second } from '../kit/times.js';
import { all, ended, every, failed, forever, many, patient, waitFor } from '../kit/wait.js';

const unknownId = anyId['operation-id'];
const seeds = [1, 2, 3, 4, 5];
const missing: OperationPlan = { ...forever, appearsAfterMs: Number.POSITIVE_INFINITY };
const failingIn = (seconds: number): OperationPlan => ({ lengthMs: seconds * second, outcome: 'failed' });
/** Of sums of milliseconds with fractions. */
const rounding = 0.01;

const failing: readonly Fault[] = [
  ...[status(500), status(501), status(503), lost, truncated, html, delay(minute)],
  ...(['bad-json', 'hang-mid-body', 'endless-body'] as const).map((kind) => ({ kind })),
  { kind: 'redirect', location: '/' },
  { kind: 'drip', intervalMs: second },
];

/** What a step waits for. */
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
  const { result, ids } = await waitFor(context, plans, patient);
  const conclusion = verdict === 'finished' ? 'success' : 'failure';
  expect(result).toMatchObject({ conclusion, outputs: { status: verdict, count: '3' } });
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject(Array(3).fill({ status: end }));
  expect(result.log).toMatch(new RegExp(`reticulate_splines on \\S+ \\[${ids[0]}\\]: ${then} → ${end}`));
  expect(result.summary).toContain(end);
  expect(result.ms).toBeGreaterThanOrEqual(20 * second);
  expect(warningsOf(result)).toEqual(warnings);
  if (verdict === 'failed') expect(errorOf(result)).toMatch(new RegExp(`${ids[0]}.*Do not deploy on top of this`));
});

const unknown = ['', 'done', 'Finished', ' finished', 'finished\u0000', 'toString', '__proto__'];
test.for(unknown)('an operation with the unknown status %j never makes the step succeed', async (word, context) => {
  const { result } = await waitFor(context, [{ course: [{ afterMs: 0, status: word }] }], { timeout: '1m' });
  // A record without a status is unusable; another word is waited for.
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: word === '' ? 'error' : 'timeout' } });
});

test('pauses between polls are random, and their limit grows from 500 ms to 5 s', async (context) => {
  const fifth = new Set<number>();
  for (const seed of seeds) {
    const { times } = await waitFor(context, [{ lengthMs: 5 * minute }], {}, { seed });
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
      const options = { seed, faults: [{ from, count: 8, fault: status(429) }] };
      const { times } = await waitFor(context, [forever], { 'poll-interval': interval, timeout: '20m' }, options);
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
    const { times, result } = await waitFor(context, [{ lengthMs: 13 * minute }], { timeout: '2h' }, options);
    expect(result.outputs['status']).toBe('finished');
    const [asked, next, afterNext] = gaps(times()).slice(nth - 1);
    expect(asked).toEqual(between(seconds * second, most * second));
    expect(next).toBeLessThanOrEqual(minute);
    expect(afterNext).toBeLessThanOrEqual(25 * second);
  }
});

for (const [what, inputs] of targets)
  test.for(failing)(`with ${what}, the step keeps polling until the deadline despite %o`, async (fault, context) => {
    const slow = { timeout: '15m', 'request-timeout': '10s', ...inputs };
    const faults = [
      { from: 2, count: 12, fault },
      { from: 40, fault },
    ];
    const { times, result, ids } = await waitFor(context, [forever], slow, { faults });
    expect(result.outputs).toMatchObject({ status: 'timeout', operations: expect.stringContaining(ids[0] ?? '') });
    expect(errorOf(result)).toMatch(/Last error: /);
    expect(times().length).toBeGreaterThan(60);
    expect(Math.max(...gaps(times()))).toBeLessThanOrEqual(15 * second + rounding);
    expect(result.ms).toBeLessThanOrEqual(15 * minute + 2 * second);
    // Of `all`, the list and single requests may fail and recover in turn.
    if (inputs === all) return;
    expect(result.log.match(/The service is responding again/g)).toHaveLength(1);
    // A truncated body has another length each time.
    if (fault !== truncated) expect(result.log.match(/Poll failed, will retry/g)).toHaveLength(2);
  });

test('a list that shows an operation as running, then as finished, shows that it has finished', async (context) => {
  const ids = [1, 2, 3].map((n) => anyId['operation-id'].replace(/.$/, String(n)));
  const record = (id: string, status: string) => ({ id, status });
  const operations = [...ids.map((id) => record(id, 'finished')), record(ids[2] ?? '', 'finished')];
  operations[2] = record(ids[2] ?? '', 'running');
  const respond = () => JSON.stringify({ operations });
  const { result } = await waitFor(context, [], { 'operation-id': ids.join(), timeout: '0' }, { respond });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '3' });
});

test.for([
  [2, 3],
  [3, 2],
])('after a timeout, the error names the latest failure (requests fail from %i and %i on)', async (from, context) => {
  const faults = (first: string, second: string) => [
    { path: first, from: from[0] ?? 0, fault: retryAfter(503, 60) },
    { path: second, from: from[1] ?? 0, fault: status(500) },
  ];
  const { result, ids } = await waitFor(context, many(2, forever), { timeout: '20s' }, { faults });
  expect(errorOf(result)).toMatch(new RegExp(`Last error: GET \\S+${ids[1]}: status 500`));
});

test('the error of a timeout does not name a failure that ended long before', async (context) => {
  const { result } = await waitFor(context, [forever], { timeout: '1m' }, { faults: [{ nth: 1, fault: status(503) }] });
  expect(result.log).toMatch(/The service is responding again/);
  expect(errorOf(result)).toMatch(/Operations may still finish/);
  expect(errorOf(result)).not.toMatch(/503/);
});

test.for([400, 401, 403, 405, 409, 410, 422])('a %i after successful polls is not retried', async (code, context) => {
  const faults = (id: string) => [{ path: id, nth: 4, fault: status(code) }];
  const { ids, result, timesOf } = await waitFor(context, [forever, ended], {}, { faults });
  expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': ids[0] });
  expect(errorOf(result)).toMatch(new RegExp(`status ${code}.*1 of 2 operations had ended`));
  expect(result.log).not.toMatch(/will retry/);
  expect(timesOf(ids[0])).toHaveLength(4);
});

for (const [what, inputs] of targets)
  test(`with ${what}, the step gives up after 30 s to a minute if the service stays down`, async (context) => {
    for (const seed of seeds) {
      const { result, times } = await waitFor(context, [forever], inputs, { seed, faults: [{ fault: status(503) }] });
      expect(result).toMatchObject({ outputs: { status: 'error' }, ms: between(30 * second, minute) });
      expect(times().length).toBeGreaterThanOrEqual(5);
    }
  });

for (const [what, inputs] of targets)
  test.for([status(503), html, lost])(`with ${what}, the step survives 29 s of %o at first`, async (fault, context) => {
    for (const seed of seeds) {
      const before = ({ service, after }: Stage) => after(29 * second, service.faults.add({ fault }));
      const { result } = await waitFor(context, [{ lengthMs: minute }], inputs, { seed, before });
      expect(result.outputs['status']).toBe('finished');
    }
  });

test('the step gives up after 5 attempts if the host name does not exist', async (context) => {
  const { result, elsewhere } = await waitFor(context, [forever], { 'base-url': 'https://unknown.test/v2' });
  expect(result).toMatchObject({ outputs: { status: 'error' }, ms: between(0, 16 * second) });
  expect(elsewhere).toHaveLength(5);
});

test.for<[what: string, ...inTurn: Fault[]]>([
  ['after a 429', retryAfter(429, 70), status(503)],
  ['before and after a 429', status(503), retryAfter(429, 70), status(503)],
])('a 503 %s is retried, because a 429 extends the minute for a first response', async ([, ...inTurn], context) => {
  const faults = inTurn.map((fault, n) => ({ nth: n + 1, fault }));
  const { result } = await waitFor(context, [{ lengthMs: second }], {}, { faults });
  expect(result.outputs['status']).toBe('finished');
});

test.for<[what: string, fault: Fault, requests: number]>([
  ['fails with a Retry-After of 40 s', retryAfter(503, 40), 2],
  // Each attempt sends its request once more after 5 s, and then waits for 30 s.
  ['hangs', hang, 4],
])('if each attempt %s, none begins more than a minute after the first', async ([, fault, requests], context) => {
  const { result, times } = await waitFor(context, [forever], { timeout: '1h' }, { faults: [{ fault }] });
  expect(result.outputs['status']).toBe('error');
  expect(times()).toHaveLength(requests);
  if (fault !== hang) expect([times().at(-1), result.ms]).toEqual([40 * second, 40 * second]);
});

test('a request that hangs delays the next poll of another operation by at most 0.5 s', async (context) => {
  const faults = (_: string, hanging: string) => [{ path: hanging, nth: 1, fault: hang }];
  const { times, paths, ids } = await waitFor(
    context,
    many(2, forever),
    { ...every('250ms'), timeout: '3s' },
    { faults },
  );
  const [first = 0, next = 0] = times().filter((_, n) => paths()[n]?.includes(ids[0] ?? ''));
  expect(next - first).toEqual(between(250, 751));
});

test('a list that does not respond is requested again after 5 s', async (context) => {
  const faults = [{ nth: 5, fault: hang }];
  const { result, times } = await waitFor(context, [{ lengthMs: 20 * second }], { ...all, ...every('4s') }, { faults });
  expect(result.outputs['status']).toBe('finished');
  expect(gaps(times())[4]).toBe(5 * second);
});

test('a request without a response is sent again after 5 s, even if a long pause came before it', async (context) => {
  const faults = [retryAfter(503, 20), hang].map((fault, n) => ({ nth: n + 1, fault }));
  const { times } = await waitFor(context, [ended], {}, { faults });
  expect(times()).toEqual([0, 20 * second, 25 * second]);
});

test('the request that is sent once more may take all of request-timeout', async (context) => {
  const faults = [hang, delay(29 * second)].map((fault, n) => ({ nth: n + 2, fault }));
  const { result, times } = await waitFor(context, [{ lengthMs: 2 * second }], every('4s'), { faults });
  expect(result).toMatchObject({ outputs: { status: 'finished' }, ms: 38 * second });
  expect(times()).toEqual([0, 4 * second, 9 * second]);
});

test('the step sends a hanging request again only after the Retry-After of another request', async (context) => {
  const faults = (hanging: string, throttled: string) => [
    { path: hanging, nth: 2, fault: hang },
    { path: throttled, nth: 2, fault: retryAfter(429, 20) },
  ];
  const { ids, timesOf } = await waitFor(context, many(2, { lengthMs: 10 * second }), every('4s'), { faults });
  expect(timesOf(ids[0]).slice(0, 3)).toEqual([0, 4 * second, atLeast(24 * second)]);
});

test('after a project has failed, a 429 still delays its open requests', async (context) => {
  const faults = (denied: string, throttled: string) => [
    onOperations(hang, { nth: 1 }),
    { path: denied, fault: status(403) },
    { path: throttled, nth: 1, fault: retryAfter(429, 20) },
  ];
  const { timesOf } = await waitFor(context, many(3, forever), { ...patient, timeout: '1m' }, { faults });
  expect(timesOf('?limit')[1]).toBeGreaterThanOrEqual(20 * second);
});

test('after a project has failed, a 503 for its open request is not retried', async (context) => {
  const faults = (denied: string, silent: string) => [
    { path: denied, nth: 2, fault: status(403) },
    { path: silent, nth: 2, fault: hang },
    { path: silent, nth: 3, fault: status(503) },
  ];
  const { ids, result, timesOf } = await waitFor(context, many(2, forever), patient, { faults });
  expect(errorOf(result)).toMatch(/status 403/);
  expect(ids.map((id) => timesOf(id).length)).toEqual([2, 3]);
});

const notInProject = /^Project \S+ has no operation .*another project\?.*of 2 operations had/;
for (const [what, plans, inputs, says] of [
  ['an operation', [{ lengthMs: second }, missing], {}, notInProject],
  ['a project', [], { ...all, 'project-id': 'no-such-project' }, /^Project no-such-project was not found /],
] as const)
  test.for<[status: string, from: number, to: number, timeout?: string]>([
    ['error', 5, 7],
    ['timeout', 3, 3, '3s'],
    ['error', 0, 0, '0'],
  ])(`${what} that never appears gives status %s after %i to %i s`, async ([outcome, from, to, timeout], context) => {
    const { result, ids } = await waitFor(context, plans, { ...inputs, timeout });
    const outputs = { status: outcome, count: plans.length === 0 ? '0' : '1' };
    expect(result).toMatchObject({ outputs, ms: between(from * second, to * second + 1) });
    if (outcome === 'error') expect(errorOf(result)).toMatch(says);
    const advice =
      /404: There is no .* Check project-id, .* and base-url \(it usually ends in \/v2\)\. A key without access gets 404/;
    expect(errorOf(result)).toMatch(advice);
    expect(errorOf(result)).toContain(ids[1] ?? 'no-such-project');
  });

test('with fail-fast: false, the step ends after 5 s if one operation is not found and the other has ended', async (context) => {
  const faults = (_: string, hidden: string) => [{ path: hidden, fault: status(404) }];
  const { result } = await waitFor(context, [{ lengthMs: 3 * second }, forever], patient, { faults });
  expect(result).toMatchObject({ outputs: { status: 'error' }, ms: between(5 * second, 7 * second) });
});

test('after a 404 that ends the step, operation-id is the operation that was not found', async (context) => {
  const faults = (_: string, hidden: string) => [{ path: hidden, fault: status(404) }];
  const { result, ids } = await waitFor(context, many(2, forever), {}, { faults });
  expect(result.outputs).toMatchObject({ status: 'error', 'operation-id': ids[1] });
});

test('the Retry-After of a 404 delays the next request for the operation', async (context) => {
  const faults = [{ fault: status(404, { headers: { 'retry-after': '20' } }) }];
  const { result, times } = await waitFor(context, [forever], {}, { faults });
  expect(result.outputs['status']).toBe('error');
  expect(times()).toEqual([0, between(20 * second, 25 * second)]);
});

test('after a 429, polls without a response do not bring the usual pace back', async (context) => {
  const faults = [
    { from: 2, count: 2, fault: status(429) },
    { from: 4, fault: status(503) },
  ];
  const { times } = await waitFor(context, [forever], { timeout: '5m' }, { faults });
  const [, , slowed = 0, ...later] = gaps(times());
  expect(Math.min(...later.slice(0, -1))).toBeGreaterThanOrEqual(slowed);
});

test('the step waits for an operation that appears within 5 s of its first 404', async (context) => {
  const plan = { appearsAfterMs: 34_900, lengthMs: minute };
  const { result } = await waitFor(context, [plan], {}, { faults: [{ nth: 1, fault: retryAfter(503, 30) }] });
  expect(result.outputs['status']).toBe('finished');
});

test.for(targets)('with %s, an operation that disappears is polled for 30 s more', async ([, inputs], context) => {
  const before = ({ after, service, projectId }: Stage) =>
    after(40 * second, () => service.plane.removeProject(projectId));
  const { result, times } = await waitFor(context, [forever], inputs, { before });
  const [first = Number.NaN, ...missed] = times().filter((time) => time >= 40 * second);
  expect(result.outputs['status']).toBe('error');
  expect(missed.at(-1)).toEqual(between(first + 30 * second, first + 36 * second));
  expect(JSON.parse(result.outputs['operations'] ?? '')).toMatchObject([{ status: 'running' }]);
});

test('the step keeps waiting for an operation that twice vanishes for less than 30 s', async (context) => {
  const faults = [10, 35].map((from) => ({ from, count: 12, fault: status(404) }));
  const { result } = await waitFor(context, [{ lengthMs: 2 * minute }], { 'poll-interval': '2s' }, { faults });
  expect(result.outputs['status']).toBe('finished');
});

test('an operation that the list shows after a 404 is polled for 30 s more when it vanishes again', async (context) => {
  const plans = [...many(2, forever), { ...forever, appearsAfterMs: 1_200, vanishesAfterMs: 36 * second }];
  const { result } = await waitFor(context, plans);
  expect(result.outputs['status']).toBe('error');
  expect(result.ms).toBeGreaterThan(65 * second);
});

test('while more than two operations are pending, the step reads the list, and requests singly only those that no page shows', async (context) => {
  const plans = [30, 30, 150, 150, 90].map((seconds) => ({ lengthMs: seconds * second }));
  const { result, paths, ids } = await waitFor(context, plans, every('1m'), { buried: 2 });
  expect(result.conclusion).toBe('success');
  const page = '?limit=100';
  const [one, two, three, four] = ids.map((id) => `/${id}`);
  const requested = paths().map((path) => path.replace(/.*operations/, '').replace(/&?cursor=[^&]*/, ''));
  expect(requested).toEqual([page, one, two, page, one, two, page, three, four]);
});

test.for([
  ['true', 'at the first failure', 10 * second],
  ['false', 'when all operations have ended', minute],
] as const)('fail-fast: %s ends the step %s', async ([failFast, , end], context) => {
  const plans = [{ ...failingIn(10), failuresCount: 7 }, { lengthMs: minute }, { lengthMs: 5 * second }];
  const { result, ids } = await waitFor(context, plans, { 'fail-fast': failFast });
  const outputs = { status: 'failed', count: '3', 'operation-id': ids[0] };
  expect(result).toMatchObject({ outputs, ms: between(end, 1.3 * end) });
  const named = `^1 of 3 operations in project \\S+ failed: .*${ids[0]}.*failures_count 7`;
  expect(errorOf(result)).toMatch(new RegExp(named));
  expect(new RegExp(`Stopped waiting for: .*${ids[1]}`).test(errorOf(result))).toBe(failFast === 'true');
});

test.for<[what: string, failFast: string, rule: FaultRule, within: number]>([
  ['a hanging request', 'true', { fault: hang }, 13],
  ['a hanging request', 'false', { fault: hang }, 61],
  ['a repeated 500', 'true', { from: 2, fault: status(500) }, 13],
  ['a 423 with a Retry-After', 'true', { from: 2, fault: retryAfter(423, 50) }, 13],
  ['a 503 with a Retry-After', 'true', { from: 2, fault: retryAfter(503, 50) }, 13],
])('%s for one operation hides no failure of another (fail-fast: %s)', async ([, failFast, rule, within], context) => {
  const inputs = { timeout: '1m', 'request-timeout': '1m', 'fail-fast': failFast };
  const faults = (id: string) => [{ path: id, ...rule }];
  const { result, ids, timesOf } = await waitFor(context, [forever, failingIn(10)], inputs, { faults });
  const outputs = { status: 'failed', 'operation-id': ids[1] };
  expect(result).toMatchObject({ outputs, ms: between(10 * second, within * second + 1) });
  expect(errorOf(result)).toContain(ids[0]);
  // That poll could have succeeded later, so it is no reason for the failure.
  expect(errorOf(result)).not.toContain('Last error');
  if (rule.fault.kind === 'status' && rule.fault.retryAfter) expect(timesOf(ids[0])).toHaveLength(2);
});

test('the step requests 20 unlisted operations singly, 12 at a time, and a request that hangs delays no other', async (context) => {
  const options = { buried: 20, faults: (id: string) => [{ path: id, count: 2, fault: hang }, { fault: delay(150) }] };
  const plans = many(20, { lengthMs: 2 * second });
  const { result, ids, service } = await waitFor(context, plans, { 'request-timeout': '40s' }, options);
  expect(result).toMatchObject({ conclusion: 'success', ms: between(45 * second, 60 * second) });
  expect(maxConcurrent(service.requests)).toBe(12);
  const late = service.requests.filter(({ at }) => at > (service.requests[0]?.at ?? 0) + 5 * second);
  expect(new Set(late.map(({ path }) => path.split('/').at(-1)))).toEqual(new Set([ids[0]]));
});

test('after a request that hung, the step again sends up to 12 requests at once', async (context) => {
  const options = { buried: 20, faults: [{ nth: 1, fault: hang }, { fault: delay(150) }] };
  const { result, service } = await waitFor(context, many(20, { lengthMs: 10 * second }), {}, options);
  expect(result.conclusion).toBe('success');
  const later = service.requests.filter(({ at }) => at > (service.requests[0]?.at ?? 0) + 6 * second);
  expect(maxConcurrent(later)).toBe(12);
});

test('with more than 20 unlisted operations, the step reads up to 10 pages, then requests singly the 20 that have waited longest', async (context) => {
  const plans = many(40, { lengthMs: 2 * second });
  const options = { buried: 40, buriedUnder: 1_000 };
  const { result, paths } = await waitFor(context, plans, every('1m'), options);
  expect(result.conclusion).toBe('success');
  const polls = paths().map((path) => (path.includes('?limit') ? 'page' : 'single'));
  const poll = [...Array(10).fill('page'), ...Array(20).fill('single')];
  expect(polls).toEqual([...poll, ...poll, 'page', ...Array(20).fill('single')]);
  // The second poll requests those that the first one did not.
  const single = paths().filter((path) => !path.includes('?limit'));
  expect(new Set(single.slice(0, 40)).size).toBe(40);
});

test('if the requests for 12 single operations hang, the step sends them again, together with at most 20 others', async (context) => {
  const options = { buried: 60, buriedUnder: 1_000, faults: [onOperation(hang, { count: 12 })] };
  const { result, service } = await waitFor(context, many(60, { lengthMs: 2 * second }), {}, options);
  expect(result.conclusion).toBe('success');
  const single = service.requests.filter(({ path }) => !path.includes('?limit')).map(({ at }) => at);
  const resent = (single[0] ?? Number.NaN) + 5 * second;
  expect(single.filter((at) => at >= resent && at < resent + second).length).toBeLessThanOrEqual(12 + 20);
});

test('an operation that failed stays failed although a late page of the list shows it as running', async (context) => {
  const plans = [failingIn(0.5), forever, forever];
  const options = { faults: [onOperations(delay(4 * second), { nth: 1 })] };
  const { result } = await waitFor(context, plans, { ...patient, timeout: '10s' }, options);
  expect(result.outputs['status']).toBe('failed');
  expect(result.log).not.toContain('failed →');
});

test('the step requests no operation singly while the pages of its list arrive', async (context) => {
  const options = { buried: 40, buriedUnder: 1_000, faults: [onOperations(delay(800))] };
  const { paths } = await waitFor(context, many(40, ended), {}, options);
  expect(paths().findIndex((path) => !path.includes('?limit'))).toBe(10);
});

const bodies = ['{"operations":{}}', '{"operations":[{"id":"another, without a status"}]}'];
const unusable = [...bodies.map((body) => status(200, { body })), { kind: 'bad-json' }, html, hang] as const;
test.for(unusable)('the step requests each operation singly if the list fails with %o', async (fault, context) => {
  const plans = [forever, forever, failingIn(1)];
  const options = { faults: [onOperations(fault)] };
  const { result, service, times } = await waitFor(context, plans, { 'request-timeout': '5m' }, options);
  expect(result).toMatchObject({ outputs: { status: 'failed' }, ms: between(0, 3 * second) });
  const endpoints = service.requests.map(({ endpoint }) => endpoint);
  expect(endpoints.slice(0, 4)).toEqual(['list-operations', ...Array(3).fill('get-operation')]);
  if (fault !== hang) expect(times()[3]).toBe(0);
});

const lastPollAt30s = { timeout: '30s', 'poll-interval': '1h' };
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
  const plans = many(5, { lengthMs: 10 * second });
  const { result } = await waitFor(context, plans, inputs, { faults: [onOperations(fault, { from })] });
  expect(result).toMatchObject({ outputs: { status: 'finished', count: '5' }, ms: between(0, 32 * second) });
});

test('the log says only once that the requests for two operations fail in the same way', async (context) => {
  const { result } = await waitFor(context, [forever, forever], { timeout: '20s' }, { faults: [{ fault: lost }] });
  expect(result.log.match(/Poll failed, will retry: GET .*The connection closed/g)).toHaveLength(1);
});

test.for([401, 403])('a %i for the list ends the step without single requests', async (code, context) => {
  const { result, paths } = await waitFor(context, many(5, forever), {}, { faults: [onOperations(status(code))] });
  expect(result.outputs['status']).toBe('error');
  expect(paths()).toHaveLength(1);
});

test('after a 429 for the list, the next poll requests the operations singly, and the poll after it reads the list again', async (context) => {
  const options = { faults: [onOperations(status(429))] };
  const { service } = await waitFor(context, many(3, forever), { timeout: '2m' }, options);
  const endpoints = service.requests.map(({ endpoint }) => endpoint);
  const turn = ['list-operations', ...Array(3).fill('get-operation')];
  expect(endpoints.slice(0, 9)).toEqual([...turn, ...turn, 'list-operations']);
});

test('an operation that ended while a slow list was read is not waited for again', async (context) => {
  const plans = [ended, { lengthMs: 10 * second }, { lengthMs: 10 * second }];
  const options = { buried: 3, faults: [onOperations(delay(4 * second), { nth: 1 })] };
  const { result } = await waitFor(context, plans, { timeout: '1m' }, options);
  expect(result).toMatchObject({ outputs: { status: 'finished', count: '3' }, ms: between(0, 20 * second) });
});

const threeIds = [1, 2, 3].map((n) => unknownId.replace(/.$/, String(n)));
const endless = (n: number) => ({
  operations: [{ id: unknownId, status: 'finished' }],
  pagination: { cursor: `c${n}` },
});
const inUpperCase = () => ({ operations: threeIds.map((id) => ({ id: id.toUpperCase(), status: 'finished' })) });
test.for<[what: string, ids: string[], list: (n: number) => object]>([
  ['requests each operation singly if the pages of the list never end', threeIds, endless],
  ['accepts the id of one operation in upper case', threeIds.slice(0, 1), inUpperCase],
  ['accepts the ids of three operations in upper case', threeIds, inUpperCase],
])('the step %s', async ([, ids, list], context) => {
  const single = (path: string) => ({ operation: { id: path.split('/').at(-1)?.toUpperCase(), status: 'finished' } });
  const respond = (path: string, n: number) => JSON.stringify(path.includes('?') ? list(n) : single(path));
  const { result } = await waitFor(context, [], { 'operation-id': ids.join() }, { respond });
  expect(result.outputs).toMatchObject({ status: 'finished', 'operation-ids': JSON.stringify(ids) });
  expect(result.log).not.toMatch(/will retry/);
});

for (const [first, others] of [
  [10, 10],
  [10, 20],
  [20, 10],
] as const)
  test(`429s in one burst pause all requests once, until each Retry-After has passed (${first} s, then ${others} s)`, async (context) => {
    const longest = Math.max(first, others) * second;
    const faults = [
      onOperation(retryAfter(429, first), { nth: 3 }),
      onOperation(retryAfter(429, others), { from: 4, count: 5 }),
    ];
    const options = { trip: () => 20, buried: 20, faults };
    const { result, times } = await waitFor(context, many(20, { lengthMs: 2 * second }), {}, options);
    expect(result).toMatchObject({ conclusion: 'success', ms: between(0, 2.5 * longest) });
    // A page precedes the burst. What was sent before the first 429 arrived takes two trips.
    const throttledAt = times()[3] ?? Number.NaN;
    expect(times().filter((time) => time > throttledAt + 40 && time < throttledAt + longest)).toEqual([]);
  });

test('a 423 delays one operation by its whole Retry-After, and no other', async (context) => {
  const inputs = { 'poll-interval': '1s', timeout: '200s' };
  const faults = (id: string) => [{ path: id, from: 2, fault: retryAfter(423, 90) }];
  const { ids, timesOf } = await waitFor(context, many(2, forever), inputs, { faults });
  expect(timesOf(ids[0]).slice(0, 4)).toEqual([0, 1, 91, 181].map((time) => time * second));
  expect(new Set(gaps(timesOf(ids[1])))).toEqual(new Set([second]));
});

test('the pauses after a 423 are short again after a success', async (context) => {
  const faults = [onOperation(status(423), { from: 2, count: 6 }), onOperation(status(423), { nth: 10 })];
  for (const seed of seeds) {
    const { times } = await waitFor(context, [forever], { 'poll-interval': '1s', timeout: '10m' }, { faults, seed });
    expect(gaps(times())[9]).toBeLessThanOrEqual(2 * second);
  }
});

test('after a 429 for one of two operations, the next poll requests both', async (context) => {
  const faults = (id: string) => [{ path: id, nth: 2, fault: retryAfter(429, 10) }];
  const { ids, timesOf } = await waitFor(context, many(2, { lengthMs: minute }), {}, { faults });
  expect(timesOf(ids[0])[2]).toBeGreaterThan(10 * second);
  expect(timesOf(ids[1])[2]).toBe(timesOf(ids[0])[2]);
});

test('a Retry-After for one operation does not delay the list of the others', async (context) => {
  const options = { buried: 1, faults: (id: string) => [{ path: id, nth: 2, fault: retryAfter(503, 20) }] };
  const { ids, timesOf } = await waitFor(context, many(4, forever), { timeout: '30s', 'poll-interval': '1s' }, options);
  expect(timesOf(ids[0])[2]).toBeGreaterThanOrEqual(21 * second);
  const listed = timesOf('?limit').filter((time) => time > second && time < 20 * second);
  expect(listed.length).toBeGreaterThan(16);
});

test('the log shows each change of status, and every minute the pending operations and the time left', async (context) => {
  const plan = { ageMs: 90 * second, schedulingMs: 140 * second, lengthMs: 270 * second, branchId: 'br-1' };
  const { result, ids, projectId } = await waitFor(context, [plan], { timeout: '1h30m', 'poll-interval': '10s' });
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

test.for(targets)(
  'a timeout after 29 s without a response says so, and not that the operations may finish (%s)',
  async ([, inputs], context) => {
    const before = ({ after, service }: Stage) => after(1_200, () => void service.faults.add({ fault: hang }));
    const { result } = await waitFor(context, many(2, forever), { timeout: '30s', ...inputs }, { before });
    expect(errorOf(result)).toMatch(
      /The control API did not respond in the last seconds for project \S+\. Check base-url/,
    );
    expect(errorOf(result)).not.toMatch(/may still finish/);
  },
);

test.for(targets)('without any response, the log names what the step waits for (%s)', async ([, inputs], context) => {
  const slow = { timeout: '90s', 'request-timeout': '2m', ...inputs };
  const { result, ids } = await waitFor(context, many(5, forever), slow, { faults: [{ fault: hang }] });
  const [one, two, three] = ids;
  const named = inputs === all ? 'the list of operations' : `[${one}], [${two}], [${three}], and 2 more`;
  expect(result.log).toContain(`Still waiting for ${named}; 30s left.`);
  expect(errorOf(result)).toMatch(
    /API did not respond in the last seconds for project \S+\. Check base-url, and the network and proxy/,
  );
  expect(errorOf(result)).not.toMatch(/raise timeout|may still finish/);
  expect(result.log).not.toContain('request-timeout');
  expect(result.ms).toBeLessThan(92 * second);
});

const lastPollAt1m = { timeout: '1m', 'poll-interval': '1h' };

test.for<[what: string, plan: OperationPlan, verdict: string, ...faults: FaultRule[]]>([
  ['sees an operation that has just finished', { lengthMs: 59_999 }, 'finished'],
  ['sees an operation that has just failed', { lengthMs: 59_999, outcome: 'failed' }, 'failed'],
  ['of a running operation ends the step as a timeout', { lengthMs: 60_001 }, 'timeout'],
  ['that gets a 503 is not repeated', forever, 'timeout', { from: 2, fault: status(503) }],
  ['that gets no response is not repeated', forever, 'timeout', { from: 2, fault: lost }],
  ['ignores the Retry-After of a 503', { lengthMs: second }, 'finished', { nth: 1, fault: retryAfter(503, 90) }],
])('one final poll %s', async ([, plan, verdict, ...faults], context) => {
  const { result, times, ids } = await waitFor(context, [plan], lastPollAt1m, { faults });
  expect(result.outputs).toMatchObject({ status: verdict, 'operation-id': ids[0] });
  expect(times()).toEqual([0, minute]);
  if (verdict !== 'timeout') return;
  expect(errorOf(result)).toMatch(/^Timed out after 1m\. 1 operation in project \S+ had not finished: /);
  expect(errorOf(result)).toMatch(faults.length > 0 ? /Last error: / : /raise timeout/);
});

test.for<readonly [what: string, count: number, interval: string, rule: FaultRule]>([
  ...[1, 2, 4].map((n) => ['got a 503 with a Retry-After', n, '5s', { nth: 2, fault: retryAfter(503, 44) }] as const),
  ['got a 429', 1, '5s', { nth: 6, fault: status(429) }],
  ['has hung since the last poll', 2, '20s', { from: 2, count: 2, fault: hang }],
  ['has hung since an earlier poll', 2, '3s', { from: 9, count: 2, fault: hang }],
])('the final poll requests again what %s (operations: %i)', async ([, count, interval, rule], context) => {
  const inputs = { timeout: '30s', 'poll-interval': interval };
  const faults = (id: string) => [rule.fault === hang ? { path: id, ...rule } : rule];
  const { result } = await waitFor(context, many(count, { lengthMs: 28.5 * second }), inputs, { faults });
  expect(result).toMatchObject({ outputs: { status: 'finished', count: String(count) }, ms: 30 * second });
});

test.for<readonly [what: string, count: number, inputs: Inputs]>([
  ['one id', 1, {}],
  ['two ids', 2, {}],
  ['three ids', 3, {}],
  ['all operations', 1, all],
])(
  'the final poll requests %s, even if the request before it hangs until the deadline',
  async ([, count, inputs], context) => {
    for (let seed = 1; seed <= 12; seed++) {
      const before = ({ service, after }: Stage) => {
        after(second, () => void service.faults.add({ fault: hang }));
        after(7 * second, () => service.faults.clear());
      };
      const options = { before, timers: seededRandom(seed) };
      const plans = many(count, { lengthMs: 2 * second });
      const { result } = await waitFor(context, plans, { timeout: '9s', ...inputs }, options);
      expect(result.outputs, String(seed)).toMatchObject({ status: 'finished', count: String(count) });
    }
  },
);

test('the final poll requests all 100 given ids if the list fails and each response takes 150 ms', async (context) => {
  const faults = [onOperations(status(500)), { fault: delay(150) }];
  const { result } = await waitFor(context, many(100, { lengthMs: 14.2 * second }), { timeout: '15s' }, { faults });
  expect(result.outputs).toMatchObject({ status: 'finished', count: '100' });
});

test('with many given ids, a Retry-After that ends just before the deadline does not end the step', async (context) => {
  const faults = [{ nth: 1, fault: retryAfter(429, 9.5) }];
  const { result } = await waitFor(context, many(40, forever), { timeout: '10s' }, { faults });
  expect(result.ms).toBeGreaterThanOrEqual(10 * second);
});

test('even a final poll that may begin before the deadline waits for the Retry-After of a 429', async (context) => {
  const lists = [onOperations(status(500)), { fault: delay(600) }];
  const faults = (id: string) => [{ path: id, nth: 3, fault: retryAfter(429, 3) }, ...lists];
  const inputs = { timeout: '15500ms', 'poll-interval': '2s' };
  const { service, times } = await waitFor(context, many(40, forever), inputs, { faults });
  const throttledAt = times()[service.requests.findIndex((request) => request.status === 429)] ?? Number.NaN;
  expect(throttledAt).toBeGreaterThan(12 * second);
  expect(times().filter((time) => time > throttledAt + second && time < throttledAt + 3 * second)).toEqual([]);
});

test.for<[what: string, fault: Fault, verdict: string, says: RegExp]>([
  ['a 401', status(401), 'error', /status 401.*API key was rejected/],
  ['a 429', status(429), 'timeout', /^Timed out after 1m.*status 429/],
  ['an HTML page with status 404', { ...html, status: 404 }, 'timeout', /^Timed out after 1m.*HTML page/],
])('%s in the final poll ends the step, and the error says so', async ([, fault, verdict, says], context) => {
  for (const [, target] of targets) {
    const faults = [{ from: target === all ? 3 : 2, fault }];
    const { result } = await waitFor(context, [forever], { ...lastPollAt1m, ...target }, { faults });
    expect(result.outputs['status']).toBe(verdict);
    expect(errorOf(result)).toMatch(says);
  }
});

test('a final poll with twenty slow responses takes less than 2 s', async (context) => {
  const options = { buried: 20, faults: [{ from: 2, fault: delay(900) }] };
  const { result } = await waitFor(context, many(20, forever), { timeout: '20s' }, options);
  expect(result).toMatchObject({ outputs: { status: 'timeout' }, ms: between(20 * second, 22 * second) });
});

test('a 429 that asks to wait beyond the deadline ends the step at once', async (context) => {
  const faults = [{ nth: 6, fault: retryAfter(429, 61) }];
  const { result, times } = await waitFor(context, [forever], { timeout: '1m' }, { faults });
  const says = /^Stopped early, because the service asked for a pause that ends after the timeout.*status 429.*1m 01s/;
  expect(errorOf(result)).toMatch(says);
  expect(times()).toHaveLength(6);
  expect(result.ms).toBeCloseTo(times()[5] ?? Number.NaN, 0);
});

const once = { timeout: '0', 'request-timeout': '10s' };

test.for<[what: string, verdict: string, ms: number, plan: OperationPlan]>([
  ['a finished operation', 'finished', 0, ended],
  ['a failed operation', 'failed', 0, failed],
  ['a running operation', 'timeout', 0, forever],
  ['a finished operation', 'finished', 9 * second, ended],
])('with timeout: 0, one poll of %s gives status %s after %i ms', async ([, verdict, ms, plan], context) => {
  const { result, times } = await waitFor(context, [plan], once, { faults: [{ fault: delay(ms) }] });
  expect(result).toMatchObject({ outputs: { status: verdict, count: '1' }, ms });
  expect(times()).toEqual([0]);
  if (verdict === 'timeout') expect(errorOf(result)).toMatch(/^Polled once \(timeout: 0\)\./);
});

const more = [hang, status(404), retryAfter(429, 1)];
test.for([...failing, ...more])('with timeout: 0, the step fails without a retry on %o', async (fault, context) => {
  const { result, times } = await waitFor(context, [ended], once, { faults: [{ fault }] });
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'error' } });
  expect(result.log).not.toMatch(/will retry/);
  expect(times()).toEqual([0]);
  expect(result.ms).toBeLessThanOrEqual(10 * second);
  if (fault === hang) expect(errorOf(result)).toContain('request-timeout');
});

test('with timeout: 0, a 404 for one operation does not hide that another failed, even if the 404 comes first', async (context) => {
  const faults = (_: string, failed = '') => [{ path: failed, fault: delay(second) }];
  const { result, ids } = await waitFor(context, [missing, failed], once, { faults });
  expect(result.outputs).toMatchObject({ status: 'failed', 'operation-id': ids[1] });
});

test.for<[moment: string, timeout: string, ...faults: FaultRule[]]>([
  ['between two polls', '10m'],
  ['while a request hangs', '10m', { from: 3, fault: hang }],
  ['during the Retry-After of a 503', '10m', { from: 3, fault: retryAfter(503, 50) }],
  ['during the Retry-After of a 429', '10m', { from: 3, fault: retryAfter(429, 50) }],
  ['before the first response', '0', { fault: hang }],
  ['during the final poll', '12s', { from: 3, fault: hang }],
])('a cancellation %s ends the step at once (timeout: %s)', async ([, timeout, ...faults], context) => {
  const options = { faults, cancelAfterMs: 12_345 };
  const { result } = await waitFor(context, [forever, failed], { ...patient, timeout }, options);
  expect(result).toMatchObject({ outputs: { status: 'cancelled', 'duration-ms': '12345' }, exitCode: 1 });
  expect(() => errorOf(result)).toThrow(/found 0/);
  expect(result.summary).toMatch(/Cancelled; [01] of 2 operations had ended/);
});
