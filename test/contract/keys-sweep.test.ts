import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../control-plane/index.js';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { onDelete, status } from '../kit/fault.js';
import { errorOf, warningsOf } from '../kit/stage.js';
import {
  addOldAndYoung,
  completed,
  day,
  expectSwept,
  failing,
  fileOf,
  hour,
  ours,
  repositoryId,
  running,
  setSweep,
} from '../kit/sweep.js';
import { type KnownRun, ownRun } from '../kit/workflow-runs.js';
import type { StepResult } from '../runner/step.js';

describe('the run of a key', () => {
  test('keys of a run that is completed, not found or at a later attempt are revoked, others are kept', async (context) => {
    const stage = await setSweep(context);
    const { runs, addKey } = stage;
    runs.set('11', completed);
    runs.set('14', { attempt: 2, isCompleted: false });
    runs.set('15', running);
    const revoked = [addKey('11'), addKey('11'), addKey('13'), addKey('14')];
    const kept = [addKey('14', { attempt: 2 }), addKey('15'), addKey(ownRun)];
    stage.addNamed('made by hand');
    addKey('13', { fingerprint: repositoryFingerprint('https://github.com', '5') });

    const result = await stage.sweep({}, { token: 'the-token' });

    expectSwept(result, 'ok', { revoked, kept });
    expect(stage.aliveIds()).toEqual(['1', ...kept, '9', '10']);
    expect(warningsOf(result)).toEqual([]);
    const names = ['id', 'run_id', 'run_attempt', 'run_is_over', 'why'];
    expect(fileOf(result).keys.map((key) => names.map((name) => key[name]))).toEqual([
      ['2', '11', 1, true, 'its run has completed'],
      ['3', '11', 1, true, 'its run has completed'],
      ['4', '13', 1, true, 'its run was not found'],
      ['5', '14', 1, true, 'its run was re-run (now attempt 2)'],
      ['6', '14', 2, false, 'its run has not completed'],
      ['7', '15', 1, false, 'its run has not completed'],
      ['8', ownRun, 1, false, 'its run is the current one'],
    ]);
    for (const { id, why } of fileOf(result).keys) {
      expect(result.summary).toContain(`<td><code>${id}</code></td>`);
      expect(result.summary).toContain(`<td>${why}</td>`);
    }
    expect(result.summary).toMatch(/^### ✅ sweep-keys: 4 revoked, 3 kept, 1 of other repositories\n/);
    expect(result.summary).toContain('keys of other repositories (1), keys that this action did not create (2)');
    expect(result.masks).toEqual([stage.service.apiKey, 'the-token']);
  });

  const ages = [-day, 0, hour, hour + 1, 35 * day, 35 * day + 1];
  /** Keys are revoked if they are older than this, in milliseconds. */
  const limits = {
    'at any age': -Infinity,
    'at no age': Infinity,
    'if older than 1h': hour,
    'if older than 35d': 35 * day,
  };
  const goesOn = (attempt?: number): KnownRun => ({ attempt, isCompleted: false });
  const isOver = (attempt?: number): KnownRun => ({ attempt, isCompleted: true });
  const earlier = /GitHub still reports an earlier attempt/;
  type Row = [shown: string, limit: keyof typeof limits, attempt: number, run: KnownRun, why: RegExp];
  test.for<Row>([
    ['is completed', 'at any age', 1, isOver(1), /completed/],
    ['is completed, shown without an attempt', 'at any age', 2, isOver(), /completed/],
    ['goes on', 'at no age', 1, goesOn(1), /not completed/],
    ['goes on, shown without an attempt', 'at no age', 2, goesOn(), /not completed/],
    ['goes on at a later attempt', 'at any age', 2, goesOn(3), /re-run \(now attempt 3\)/],
    ['is completed at a later attempt', 'at any age', 2, isOver(3), /re-run/],
    ['is shown at an earlier attempt', 'if older than 35d', 2, goesOn(1), earlier],
    ['is shown as completed at an earlier attempt', 'if older than 35d', 2, isOver(1), earlier],
    ['is not found', 'if older than 1h', 1, 'gone', /not found/],
    ['cannot be read', 'if older than 35d', 1, failing(403), /unknown/],
    ['gets no response', 'if older than 35d', 1, 'hangs', /unknown/],
  ])('keys of a run that %s are revoked %s', async ([, limit, attempt, known, why], context) => {
    const { runs, addKey, sweep } = await setSweep(context);
    runs.set('11', known);
    const keys = ages.map((ageMs) => ({ ageMs, id: addKey('11', { attempt, ageMs }) }));
    const idsOf = (areRevoked: boolean) =>
      keys.filter(({ ageMs }) => ageMs > limits[limit] === areRevoked).map(({ id }) => id);

    const result = await sweep();

    expectSwept(result, 'ok', { revoked: idsOf(true), kept: idsOf(false) });
    for (const key of fileOf(result).keys) expect(key['why']).toMatch(why);
    const idsInSummary = [...result.summary.matchAll(/<tr><td>[^<]*<\/td><td><code>(\d+)/g)].map(([, id]) => id);
    expect(idsInSummary).toEqual([...idsOf(true), ...idsOf(false)]);
    const isLookedUp = known !== 'hangs' && !(typeof known === 'object' && 'message' in known);
    expect(warningsOf(result)).toHaveLength(isLookedUp ? 0 : 1);
  });

  test('keys of the current run are kept, whatever GitHub shows, and those of its earlier attempts are revoked', async (context) => {
    const stage = await setSweep(context);
    const revoked = [1, 2].map((attempt) => stage.addKey(ownRun, { attempt }));
    const kept = [3, 4].map((attempt) => stage.addKey(ownRun, { attempt }));
    const env = { GITHUB_RUN_ATTEMPT: '3' };
    expectSwept(await stage.sweep({}, { env }), 'ok', { revoked, kept });
    expect(stage.runs.lookups).toEqual([]);

    stage.runs.set(ownRun, { attempt: 9, isCompleted: true });
    const other = stage.addKey('11');
    expectSwept(await stage.sweep({}, { env }), 'ok', { revoked: [other], kept });
  });

  test('keys of a run with an id beyond 2^53 are not taken for those of another run', async (context) => {
    const stage = await setSweep(context, { firstKeyId: '9007199254740993' });
    stage.runs.set('90071992547409931', completed);
    stage.runs.set('90071992547409933', running);
    const revoked = [stage.addKey('90071992547409931')];
    const kept = [stage.addKey('90071992547409933')];
    expectSwept(await stage.sweep(), 'ok', { revoked, kept });
  });
});

describe('the name of a key', () => {
  test('keys of other repositories and other servers are not touched, and their runs are not looked up', async (context) => {
    const stage = await setSweep(context);
    const others = [
      repositoryFingerprint('https://github.com', '12345678'),
      repositoryFingerprint('https://github.com', '1234567890'),
      repositoryFingerprint('https://github.com', 'acme/shop'),
      repositoryFingerprint('https://ghe.example', repositoryId),
      repositoryFingerprint('http://github.com', repositoryId),
      [...ours].reverse().join(''),
    ].map((fingerprint) => stage.addKey('11', { fingerprint, ageMs: 300 * day }));
    const none = await stage.sweep({ 'older-than': '1s' });
    expectSwept(none, 'ok', {});
    expect(none.summary).toContain('Found no key that this action created for this repository.');
    expect(stage.runs.lookups).toEqual([]);

    const revoked = [stage.addKey('12')];
    const result = await stage.sweep({ 'older-than': '1s' });
    expectSwept(result, 'ok', { revoked });
    expect(stage.aliveIds()).toEqual(['1', ...others]);
    expect(result.summary).toContain('keys of other repositories (6)');
    expect(stage.runs.lookups).toEqual([ownRun, '12', '12', ownRun]);
  });

  // `test/unit/keys/key-name.test.ts` changes names at every place.
  const alphabet = fc.constantFrom(...'abcxyz0189-_ARUN.:/*?%\n\t \u00e9\u0131\u2010\u{1f511}');
  const similarTo: readonly ((name: string, at: number, letter: string) => string)[] = [
    (name, at) => name.slice(0, at) + name.slice(at + 1),
    (name, at, letter) => name.slice(0, at) + letter + name.slice(at),
    (name, at, letter) => name.slice(0, at) + letter + name.slice(at + 1),
    (name, at) => name.slice(0, at) + name.slice(at).toUpperCase(),
    ...['copy of ', 'x'.repeat(20), 'old-', '\n'].map((start) => (name: string) => start + name),
    ...[' (2)', '-old', '\n', '\r', '\u0000', '-x'].map((end) => (name: string) => name + end),
    (name) => name.replace(/-[a-z0-9]{10}-([a-z0-9]+)$/, `-${ours}-$1`),
    (name) => name.replaceAll('-', '_'),
    (name) => name.replace(/-run(\d+)-(\d+)-/, '-run$2-$1-'),
    (name) => name.replace(/-run(\d+)/, '-run0$1'),
    (name) => name.split('-').reverse().join('-'),
    () => `shop-run11-1-${ours}-abcdefghijkl`,
    (_, __, letter) => letter,
  ];
  const change = fc.tuple(fc.constantFrom(...similarTo), fc.nat(63), alphabet).map(
    ([edit, at, letter]) =>
      (name: string) =>
        edit(name, at, letter),
  );

  test('keys whose name differs from those of this action are not touched, however little it differs', async (context) => {
    const stage = await setSweep(context);
    const run = { id: '11', attempt: 1, fingerprint: ours };
    const names = Array.from({ length: 500 }, () => makeKeyName('shop', { run, isKept: false }, Math.random));
    const changes = fc.sample(change, { numRuns: names.length, seed: 20260131 });
    const similar = names.map((name, n) => changes[n]?.(name) ?? '').filter((name) => !names.includes(name));
    expect(similar.length).toBeGreaterThan(400);
    const untouched = similar.map((name) => stage.addNamed(name, 300 * day));
    const revoked = [stage.addKey('11')];

    const result = await stage.sweep({ 'older-than': '1s' });

    expectSwept(result, 'ok', { revoked });
    expect(stage.aliveIds()).toEqual(['1', ...untouched]);
    expect(stage.deletes()).toHaveLength(1);
  });

  type Env = Record<string, string | undefined>;
  const noId = { GITHUB_REPOSITORY: 'Acme/Shop', GITHUB_REPOSITORY_ID: undefined };
  const byName = repositoryFingerprint('https://github.com', 'acme/shop');
  const onEnterprise = repositoryFingerprint('https://ghe.example', repositoryId);
  test.for<[what: string, env: Env, fingerprint: string]>([
    ['a repository without an id, whatever the case of its name', noId, byName],
    ['a repository on GitHub Enterprise', { GITHUB_SERVER_URL: 'https://GHE.example/' }, onEnterprise],
  ])('keys of %s are found', async ([, env, fingerprint], context) => {
    const stage = await setSweep(context);
    const revoked = [stage.addKey('11', { fingerprint })];
    const other = stage.addKey('11', { fingerprint: repositoryFingerprint('https://github.com', '5') });
    expectSwept(await stage.sweep({}, { env }), 'ok', { revoked });
    expect(stage.aliveIds()).toEqual(['1', other]);
  });
});

describe('a key kept on purpose', () => {
  test('is kept, named in the summary, and its run is not looked up', async (context) => {
    const stage = await setSweep(context);
    const env = { GITHUB_RUN_ID: '12' };
    const { outputs } = await stage.runMode('create-key', { 'revoke-in-post': 'false' }, { env });
    const keptId = outputs['key-id'] ?? '';
    await stage.pass(300 * day);
    const revoked = [stage.addKey('11')];

    for (const dryRun of ['true', 'false']) {
      const result = await stage.sweep({ 'older-than': '1s', 'dry-run': dryRun });
      expectSwept(result, 'ok', { revoked, kept: [keptId] });
      expect(result.summary).toContain(`<td>📌 kept on purpose</td><td><code>${keptId}</code></td>`);
      expect(fileOf(result).keys).toMatchObject([
        { id: keptId, kept_on_purpose: true, run_is_over: null, why: 'revoke-in-post: false' },
        { kept_on_purpose: false, run_is_over: true },
      ]);
    }
    expect(stage.aliveIds()).toEqual(['1', keptId]);
    expect(stage.runs.lookups).not.toContain('12');
  });

  test('is kept where only age counts, and with an earlier attempt of the current run', async (context) => {
    const stage = await setSweep(context);
    stage.runs.set(ownRun, failing(403));
    const env = { GITHUB_RUN_ATTEMPT: '2' };
    const kept = ['11', ownRun].map((id) => stage.addKey(id, { isKept: true, ageMs: 300 * day }));
    const revoked = [stage.addKey('11', { ageMs: 300 * day })];
    expectSwept(await stage.sweep({}, { env }), 'ok', { revoked, kept });
  });
});

describe('a dry run', () => {
  test.for([running, failing(403)])(
    'shows the keys that a sweep would revoke, and revokes none (the current run: %o)',
    async (own, context) => {
      const stage = await setSweep(context);
      stage.runs.set(ownRun, own);
      const [old, young] = addOldAndYoung(stage);
      const dry = await stage.sweep({ 'dry-run': 'true' });
      expect(stage.deletes()).toEqual([]);
      const wet = await stage.sweep();

      const ids = own === running ? { revoked: [old, young] } : { revoked: [old], kept: [young] };
      expectSwept(dry, 'ok', ids);
      expectSwept(wet, 'ok', ids);
      expect(fileOf(dry)).toMatchObject({ dry_run: true });
      expect(fileOf(wet)).toMatchObject({ dry_run: false });
      expect(dry.summary).toContain('would be revoked');
      expect(dry.log).not.toMatch(/was revoked/);
      /** Rows without what was done, and without the last use, which the first sweep changes. */
      const rows = ({ summary }: StepResult) =>
        (summary.match(/<tr>.*<\/tr>/g) ?? []).map((row) =>
          row.replace(/^<tr><td>.*?<\/td>|<td>[^<]*<\/td>(?=<td>[^<]*<\/td><\/tr>)/g, ''),
        );
      expect(rows(dry)).toEqual(rows(wet));
      expect(rows(dry)).toHaveLength(3);
    },
  );
});

describe('a sweep', () => {
  test('revokes the other keys if one revocation fails; then the step fails and names each key', async (context) => {
    const faults = [403, 503].map((code, n) => ({ path: `/api_keys/${3 + 2 * n}`, fault: status(code) }));
    const stage = await setSweep(context, { faults });
    for (let n = 0; n < 6; n++) stage.addKey(String(11 + n));
    const own = stage.addKey(ownRun);
    const result = await stage.sweep();
    expectSwept(result, 'error', { revoked: ['2', '4', '6', '7'], kept: ['3', '5', own] });
    expect(stage.aliveIds()).toEqual(['1', '3', '5', own]);
    expect(errorOf(result)).toMatch(/2 of 6 keys/);
    for (const text of [/\b3\b.*status 403.*request id req-\d+/, /\b5\b.*status 503.*request id req-\d+/])
      expect(errorOf(result)).toMatch(text);
    expect(result.summary).toMatch(/^### ❌/);
    expect(result.summary).toContain('not revoked');
  });

  test('takes a key that another sweep revoked meanwhile as already gone: it is in no output', async (context) => {
    const faults = [{ path: '/api_keys/3', fault: status(404, { done: 'now' }) }];
    const stage = await setSweep(context, { faults });
    const [first = '', , third = ''] = ['11', '12', '13'].map((id) => stage.addKey(id));
    const result = await stage.sweep();
    expectSwept(result, 'ok', { revoked: [first, third] });
    expect(result.summary).toContain('already gone');
  });

  test('takes an id that now has another name as already gone, and does not touch that key', async (context) => {
    const stage = await setSweep(context, { faults: [{ path: '/api_keys/2', fault: status(404) }] });
    const id = stage.addKey('11');
    stage.after(10, () => void stage.service.plane.reuseId(id, 'of another tool'));
    expectSwept(await stage.sweep(), 'ok', {});
    expect(stage.service.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'GET']);
    expect(stage.aliveIds()).toEqual(['1', id]);
  });

  test('revokes what an incomplete list of keys shows, with a warning', async (context) => {
    const stage = await setSweep(context, { notShown: { keysPageSize: 2 } });
    const revoked = [stage.addKey('11')];
    const unseen = stage.addKey('11');
    const result = await stage.sweep();
    expectSwept(result, 'ok', { revoked });
    expect(warningsOf(result)).toEqual([expect.stringContaining('The list of keys is incomplete')]);
    expect(stage.aliveIds()).toEqual(['1', unseen]);
    expect(warningsOf(await stage.sweep())).toEqual([]);
  });

  test('of many keys sends six requests at a time, and shows fifty keys in the summary', async (context) => {
    const stage = await setSweep(context, { faults: [onDelete({ kind: 'delay', ms: 20 }, {})] });
    const revoked = Array.from({ length: 130 }, () => stage.addKey('11'));
    const result = await stage.sweep();
    expectSwept(result, 'ok', { revoked });
    const [, ...times] = stage.times();
    expect(Math.max(...times.map((time) => times.filter((other) => other === time).length))).toBe(6);
    expect(result.summary.match(/<tr>/g)).toHaveLength(51);
    expect(result.summary).toMatch(/80 more/);
  });

  test('writes addresses of keys to result-file alone', async (context) => {
    const stage = await setSweep(context);
    for (const id of [stage.addKey('11'), stage.addKey(ownRun)]) {
      const key = stage.service.plane.key(id) ?? {};
      Object.assign(key, { lastUsedAt: Date.UTC(2026, 0, 31, 9, 30, 0), lastUsedFrom: '203.0.113.77' });
    }
    const result = await stage.sweep({}, { debug: true });
    expect(JSON.stringify(fileOf(result))).toContain('203.0.113.77');
    expect(result.output + result.summary).not.toContain('203.0.113.77');
    expect(result.summary).toContain('2026-01-31 09:30:00Z');
  });

  test.for([
    ['reaches its deadline', 'error', 8_000],
    ['is cancelled', 'cancelled', 7_000],
  ] as const)('that %s while it revokes shows what was done until then', async ([, end, ms], context) => {
    const fault: Fault = { kind: 'hang-before-headers', done: 'never' };
    const stage = await setSweep(context, { faults: [onDelete(fault, { from: 3 })] });
    const [first = '', second = '', ...others] = Array.from({ length: 8 }, () => stage.addKey('11'));
    const own = stage.addKey(ownRun);
    const step = stage.startSweep({ timeout: '8s' });
    if (end === 'cancelled') stage.after(ms, () => void step.cancel());
    const result = await step.done;
    expectSwept(result, end, { revoked: [first, second], kept: [...others, own] });
    expect(result.outputs['duration-ms']).toBe(String(ms));
    if (end === 'error') return expect(errorOf(result)).toMatch(/timeout/);
    expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
    expect(result.summary).toMatch(/^### 🚫 .*Cancelled: 2 revoked, 7 kept/);
  });

  test.for([2, -2])('measures ages on the clock of the service (runner ahead: %i h)', async (hours, context) => {
    const stage = await setSweep(context, { clockAheadMs: hours * hour });
    const revoked = [stage.addKey('11', { ageMs: hour + 60_000 })];
    const kept = [stage.addKey('11', { ageMs: hour - 60_000 })];
    expectSwept(await stage.sweep(), 'ok', { revoked, kept });
  });
});

describe('nothing is revoked', () => {
  test.for([
    ['GITHUB_RUN_ID', undefined],
    ['GITHUB_REPOSITORY', undefined],
    ['GITHUB_API_URL', 'api.github.test'],
    ['GITHUB_API_URL', 'ftp://api.github.test'],
  ] as const)('if %s is %j: the error names the variable, and nothing is sent', async ([name, value], context) => {
    const stage = await setSweep(context);
    const result = await stage.sweep({}, { env: { [name]: value } });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain(`${name}: `);
    expect(errorOf(result)).not.toContain('defect');
    expect([stage.paths(), stage.runs.lookups]).toEqual([[], []]);
  });
});
