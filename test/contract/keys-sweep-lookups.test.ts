import { describe, expect, test } from 'vitest';
import { makeKeyName } from '../../src/keys/key-name.js';
import { onDelete } from '../kit/fault.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import {
  addOldAndYoung,
  completed,
  day,
  expectSwept,
  expectWarned,
  failing,
  fileOf,
  hour,
  ours,
  running,
  setSweep,
} from '../kit/sweep.js';
import { type KnownRun, ownRun } from '../kit/workflow-runs.js';

describe('lookups of runs', () => {
  test('come after the list and before the first DELETE; those of runs not found are repeated after 1s', async (context) => {
    const stage = await setSweep(context);
    const revoked = [stage.addKey('11'), stage.addKey('12')];
    expectSwept(await stage.sweep(), 'ok', { revoked });
    expect(stage.runs.lookups).toEqual([ownRun, '11', '12', '11', '12', ownRun]);
    // A lookup takes 40 ms: the current run, both others, the pause, both others again, the current run again.
    expect(stage.times()).toEqual([0, 40 + 40 + 1_000 + 40 + 40, 40 + 40 + 1_000 + 40 + 40]);
  });

  test('are one for each run, however many keys it has, at most six at a time', async (context) => {
    const stage = await setSweep(context);
    for (let n = 0; n < 40; n++) if (n % 2 === 0) stage.runs.set(String(100 + n), completed);
    const revoked = Array.from({ length: 120 }, (_, n) => stage.addKey(String(100 + (n % 40))));
    const result = await stage.sweep();
    expectSwept(result, 'ok', { revoked });
    expect([stage.runs.lookups[0], stage.runs.lookups.at(-1)]).toEqual([ownRun, ownRun]);
    expect(stage.runs.lookups).toHaveLength(1 + 40 + 20 + 1);
    expect(stage.runs.maxConcurrent).toBe(6);
  });

  test('are not repeated for a run whose keys are all too young', async (context) => {
    const stage = await setSweep(context);
    const kept = [stage.addKey('11', { ageMs: hour })];
    const result = await stage.sweep();
    expectSwept(result, 'ok', { kept });
    expect(fileOf(result).keys[0]?.['why']).toBe('its run was not found, but the key is not older than 1h');
    expect(stage.runs.lookups).toEqual([ownRun, '11']);
  });

  test.for<[outcome: string, runId: string, run: KnownRun, warning: RegExp | undefined]>([
    ['shows the run', '11', running, undefined],
    ['of the run fails', '11', failing(403), /status 403/],
    ['of the run gets no response', '11', 'hangs', /did not respond within request-timeout/],
    ['of the current run finds none', ownRun, 'gone', /cannot read the current run/],
    ['of the current run fails', ownRun, failing(403), /status 403/],
  ])('that find no run do not count if the second lookup %s', async ([, id, run, why], context) => {
    const stage = await setSweep(context);
    stage.runs.set('11', 'gone');
    stage.runs.set('12', completed);
    stage.runs.set(id, (attempt) => (attempt > 1 ? run : id === ownRun ? running : 'gone'));
    const [old, young] = addOldAndYoung(stage);
    const other = stage.addKey('12', { ageMs: 0 });
    const result = await stage.sweep();
    if (why === undefined) expectSwept(result, 'ok', { revoked: [other], kept: [old, young] });
    else expectWarned(result, [old, other], [young], why);
  });

  test('that find no run do not count if no time is left for the second lookup', async (context) => {
    const stage = await setSweep(context);
    const [old, young] = addOldAndYoung(stage);
    expectWarned(await stage.sweep({ timeout: '2s' }), [old], [young], /no time was left to look up again/);
  });

  test('that fail for one run do not affect the keys of others', async (context) => {
    const stage = await setSweep(context);
    stage.runs.set('11', running);
    stage.runs.set('12', failing(502));
    const running11 = stage.addKey('11', { ageMs: 300 * day });
    const [old, young] = addOldAndYoung(stage, '12');
    const over = stage.addKey('13');
    expectWarned(await stage.sweep(), [old, over], [running11, young], /status 502/);
  });

  test('that fail for several reasons: the warning names up to three, each once', async (context) => {
    const stage = await setSweep(context);
    const statuses = [403, 410, 403, 422, 451];
    const kept = statuses.map((status, n) => {
      stage.runs.set(String(11 + n), { ...failing(status), transient: false });
      return stage.addKey(String(11 + n));
    });
    const why =
      /workflow runs: GitHub \w+ with status 403; GitHub \w+ with status 410; GitHub \w+ with status 422\. Keys/;
    expectWarned(await stage.sweep(), [], kept, why);
  });

  test.for([
    ['one permanent failure', 403, 7],
    ['three transient failures', 503, 9],
  ] as const)('end after %s', async ([, status, runs], context) => {
    const stage = await setSweep(context);
    const ids = Array.from({ length: 50 }, (_, n) => String(100 + n));
    for (const id of ids) stage.runs.set(id, failing(status));
    const kept = ids.map((id) => stage.addKey(id));
    expectWarned(await stage.sweep(), [], kept, new RegExp(`status ${status}`));
    // The current run, six at once, and one more for each of the first two that fail.
    expect(new Set(stage.runs.lookups).size).toBe(runs);
  });
  test('take at most half of the timeout: the rest is for revoking', async (context) => {
    const stage = await setSweep(context, { faults: [onDelete({ kind: 'delay', ms: 20_000 }, {})] });
    stage.runs.set(ownRun, 'hangs');
    const [old, young] = addOldAndYoung(stage);
    const result = await stage.sweep({ timeout: '2m', 'request-timeout': '5m' });
    expectWarned(result, [old], [young], /: GitHub did not respond within half of the step's timeout\. Keys/);
    expect(result.outputs['duration-ms']).toBe('80000');
  });

  test('without a response do not delay the others', async (context) => {
    const stage = await setSweep(context);
    const ids = Array.from({ length: 12 }, (_, n) => String(100 + n));
    for (const id of ids) stage.runs.set(id, ['101', '105'].includes(id) ? 'hangs' : completed);
    const keys = ids.map((id) => stage.addKey(id));
    const kept = keys.filter((_, n) => n === 1 || n === 5);
    const revoked = keys.filter((id) => !kept.includes(id));
    const result = await stage.sweep({ 'request-timeout': '6m' });
    expectWarned(result, revoked, kept, /half of the step's timeout/);
    expect(result.outputs['duration-ms']).toBe(String(5 * 60_000));
  });

  for (const id of [ownRun, '11'])
    test.for([
      ['a cancel', 'hangs'],
      ['an unexpected error', new TypeError('undefined is not a function')],
    ] as const)(`of run ${id} end with %s, and nothing is revoked`, async ([, run], context) => {
      const stage = await setSweep(context);
      stage.runs.set(id, run);
      stage.addKey('11', { ageMs: 300 * day });
      const step = stage.startSweep();
      if (run === 'hangs') stage.after(7_000, () => void step.cancel());
      const result = await step.done;
      expect(stage.deletes()).toEqual([]);
      if (run === 'hangs') expect(result.outputs).toMatchObject({ status: 'cancelled', 'duration-ms': '7000' });
      else expect(errorOf(result)).toContain('undefined is not a function');
    });
});

describe('while the current run cannot be read', () => {
  const minute = 60_000;
  test.for<[string, KnownRun, why: RegExp, attempts: number, from: number, to: number]>([
    ['not found', 'gone', /github-token cannot read the current run/, 1, 40, 40],
    ['forbidden', failing(403), /status 403/, 1, 40, 40],
    ['unavailable', failing(503), /status 503/, 5, 200, 200 + 15_000],
    ['no response', 'hangs', /GitHub did not respond within request-timeout/, 5, 50_000, 50_000 + 15_000],
    ['a rate limit that ends too late', failing(429, { retryAfterMs: 6 * minute }), /429.*asks to wait 6m/, 1, 40, 40],
    ['a rate limit without end', failing(429, { retryAfterMs: minute }), /status 429/, 5, 4 * minute, 5 * minute],
    ['unavailable for an hour', failing(503, { retryAfterMs: hour }), /status 503/, 1, 40, 5 * minute],
  ])('only keys older than older-than are revoked: %s', async ([, run, why, n, from, to], context) => {
    const stage = await setSweep(context);
    stage.runs.set(ownRun, run);
    stage.runs.set('12', completed);
    const [old, young] = addOldAndYoung(stage);
    const [old12, young12] = addOldAndYoung(stage, '12');
    const result = await stage.sweep({ 'request-timeout': '10s' });
    expectWarned(result, [old, old12], [young, young12], why);
    expect(stage.runs.lookups).toEqual(Array.from({ length: n }, () => ownRun));
    for (const key of fileOf(result).keys) expect(key['why']).toMatch(/is unknown; the key is (not )?older than 35d/);
    expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(from);
    expect(Number(result.outputs['duration-ms'])).toBeLessThanOrEqual(to);
  });

  test.for([
    ['9d', true],
    ['240h', true],
    ['11d', false],
    ['366d', false],
  ] as const)('a key of 10 days and an hour with older-than %s is revoked: %s', async (row, context) => {
    const [olderThan, isRevoked] = row;
    const stage = await setSweep(context);
    stage.runs.set(ownRun, failing(403));
    const id = stage.addKey('11', { ageMs: 10 * day + hour });
    const result = await stage.sweep({ 'older-than': olderThan });
    expectWarned(result, isRevoked ? [id] : [], isRevoked ? [] : [id], /403/);
  });

  const unknownTimes = ['', 'yesterday', 'about 5', 0, 1700, false, {}, [], null, undefined];
  const longAgo = ['2023-11-20T00:00:00Z', '2023-11-20T00:00:00.123456Z', '2023-11-20T02:00:00+02:00'];

  test('a key without a valid time of creation is kept, whatever older-than is', async (context) => {
    const run = { id: '11', attempt: 1, fingerprint: ours };
    const records = [...longAgo, ...unknownTimes].map((created_at, n) => {
      return { id: n + 1, name: makeKeyName('shop', { run, isKept: false }, Math.random), created_at };
    });
    const respond = (path: string) => (path === 'api_keys' ? JSON.stringify(records) : '{"revoked":true}');
    const { runs, sweep } = await setSweep(context, { respond });
    runs.set(ownRun, failing(401));
    const ids = records.map(({ id }) => String(id));
    expectWarned(await sweep({ 'older-than': '1s' }), ids.slice(0, 3), ids.slice(3), /401/);
  });

  test('the sweep goes on as usual once a retry reads it', async (context) => {
    for (const failure of [failing(429, { retryAfterMs: 4 * minute }), failing(503, { retryAfterMs: 1_000 })]) {
      const stage = await setSweep(context);
      stage.runs.set(ownRun, (attempt) => (attempt === 1 ? failure : running));
      const revoked = [stage.addKey('11')];
      const result = await stage.sweep();
      expectSwept(result, 'ok', { revoked });
      expect(warningsOf(result)).toEqual([]);
      expect(stage.runs.lookups).toEqual([ownRun, ownRun, '11', '11', ownRun]);
      expect(Number(result.outputs['duration-ms'])).toBeGreaterThanOrEqual(failure.retryAfterMs ?? Number.NaN);
    }
  });
});
