import { expect, test } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { day, errorOf, hour, ours, repositoryId, setStage, staged, warningsOf } from '../kit/stage.js';
import { addOldAndYoung, completed, expectSwept, expectWarned, failing, fileOf, running } from '../kit/sweep.js';
import { between, minute } from '../kit/times.js';
import { type KnownRun, ownRun } from '../kit/workflow-runs.js';
import type { StepResult } from '../runner/step.js';

const name = makeKeyName('shop', { run: { id: '11', attempt: 1, fingerprint: ours }, isKept: false }, Math.random);

staged('a sweep revokes only keys of runs that are completed, re-run or not found', async ({ stage }) => {
  const { runs, addKey } = stage;
  runs.set('11', completed);
  runs.set('14', { attempt: 2, isCompleted: false });
  runs.set('15', running);
  runs.set(ownRun, { attempt: 9, isCompleted: true });
  const revoked = [addKey('11'), addKey('11'), addKey('13'), addKey('14'), addKey(ownRun, { attempt: 2 })];
  const kept = [addKey('14', { attempt: 2 }), addKey('15'), ...[3, 4].map((attempt) => addKey(ownRun, { attempt }))];
  stage.addNamed('made by hand');
  addKey('13', { fingerprint: repositoryFingerprint('https://github.com', '5') });
  const lastUse = { lastUsedAt: Date.UTC(2026, 0, 31, 9, 30, 0), lastUsedFrom: '203.0.113.77' };
  for (const id of ['2', '9']) Object.assign(stage.service.plane.key(id) ?? {}, lastUse);
  const result = await stage.sweep({}, { token: 'the-token', debug: true, env: { GITHUB_RUN_ATTEMPT: '3' } });
  expectSwept(result, 'ok', { revoked, kept });
  expect(stage.aliveIds()).toEqual(['1', ...kept, '11', '12']);
  expect(warningsOf(result)).toEqual([]);
  const names = ['id', 'run_id', 'run_attempt', 'to_revoke', 'why'];
  expect(fileOf(result).decisions.map((key) => names.map((name) => key[name]))).toEqual([
    ['2', '11', 1, true, 'its run has completed'],
    ['3', '11', 1, true, 'its run has completed'],
    ['4', '13', 1, true, 'its run was not found'],
    ['5', '14', 1, true, 'its run was re-run (now attempt 2)'],
    ['6', ownRun, 2, true, 'its run was re-run (now attempt 3)'],
    ['7', '14', 2, false, 'its run has not completed'],
    ['8', '15', 1, false, 'its run has not completed'],
    ['9', ownRun, 3, false, 'its run is the current one'],
    ['10', ownRun, 4, false, expect.stringContaining('does not yet report the run attempt that created')],
  ]);
  for (const { id, why } of fileOf(result).decisions) {
    expect(result.summary).toContain(`<td><code>${id}</code></td>`);
    expect(result.summary).toContain(`<td>${why}</td>`);
  }
  expect(result.summary).toMatch(/^### ✅ sweep-keys: 5 revoked, 4 kept, 1 of other repositories\n/);
  expect(result.summary).toContain('keys of other repositories (1), keys that this action did not create (2)');
  expect(result.summary).toContain('2026-01-31 09:30:00Z');
  expect(JSON.stringify(fileOf(result))).toContain('203.0.113.77');
  expect(result.output + result.summary, 'addresses are in result-file alone').not.toContain('203.0.113.77');
  expect(result.masks).toEqual([stage.service.apiKey, 'the-token']);
});

const ages = [-day, 0, hour, hour + 1, 35 * day, 35 * day + 1];
const goesOn = (attempt?: number): KnownRun => ({ attempt, isCompleted: false });
const isOver = (attempt?: number): KnownRun => ({ attempt, isCompleted: true });
const earlier = /GitHub does not yet report the run attempt/;
staged.for<[which: string, shown: string, minAge: number, attempt: number, run: KnownRun, why: RegExp]>([
  ['all keys', 'is completed', -Infinity, 1, isOver(1), /completed/],
  ['all keys', 'is completed (GitHub does not say which attempt)', -Infinity, 2, isOver(), /completed/],
  ['no key', 'is still running', Infinity, 1, goesOn(1), /not completed/],
  ['no key', 'is still running (GitHub does not say which attempt)', Infinity, 2, goesOn(), /not completed/],
  ['all keys', 'is running a later attempt', -Infinity, 2, goesOn(3), /re-run \(now attempt 3\)/],
  ['keys older than 35 d', 'GitHub shows at an earlier attempt', 35 * day, 2, goesOn(1), earlier],
  ['keys older than 35 d', 'GitHub shows as completed at an earlier attempt', 35 * day, 2, isOver(1), earlier],
  ['keys older than 1 h', 'is not found', hour, 1, 'gone', /not found/],
  ['keys older than 35 d', 'cannot be read', 35 * day, 1, failing(403), /unknown/],
])('a sweep revokes %s of a run that %s', async ([, shown, minAge, attempt, known, why], { stage }) => {
  stage.runs.set('11', known);
  const keys = ages.map((ageMs) => ({ ageMs, id: stage.addKey('11', { attempt, ageMs }) }));
  const result = await stage.sweep();
  const idsOf = (isOld: boolean) => keys.flatMap(({ ageMs, id }) => (ageMs > minAge === isOld ? id : []));
  const [revoked, kept] = [idsOf(true), idsOf(false)];
  expectSwept(result, 'ok', { revoked, kept });
  for (const key of fileOf(result).decisions) expect(key['why']).toMatch(why);
  const idsInSummary = [...result.summary.matchAll(/<tr><td>[^<]*<\/td><td><code>(\d+)/g)].map(([, id]) => id);
  expect(idsInSummary).toEqual([...revoked, ...kept]);
  expect(warningsOf(result)).toHaveLength(shown === 'cannot be read' ? 1 : 0);
});

staged('a sweep ignores keys whose names differ slightly from those of this repository', async ({ stage }) => {
  const others = [
    repositoryFingerprint('https://github.com', '12345678'),
    repositoryFingerprint('https://github.com', 'acme/shop'),
    repositoryFingerprint('https://ghe.example', repositoryId),
    repositoryFingerprint('http://github.com', repositoryId),
  ].map((fingerprint) => stage.addKey('11', { fingerprint, ageMs: 300 * day }));
  const similar = [
    ...['copy of ', '\n', '-'].map((start) => start + name),
    ...[' (2)', '\n', '\u0000', '-x'].map((end) => name + end),
    ...[name.slice(1, -1), name.toUpperCase(), name.replaceAll('-', '_'), name.replace('1-1', '1\u20101')],
    ...[name.replace('-run11-1-', '-run1-11-'), name.replace('-run11', '-run011'), name.replace('run', 'r\u0131n')],
    ...['shop', '', '*', `shop-run11-1-${ours}-abcdefghijkl`],
  ].map((one) => stage.addNamed(one, 300 * day));
  const none = await stage.sweep({ 'older-than': '1s' });
  expectSwept(none, 'ok', {});
  expect(none.summary).toContain('Found no key that this action created for this repository.');
  expect(stage.runs.lookups).toEqual([]);

  const revoked = [stage.addKey('12')];
  const result = await stage.sweep({ 'older-than': '1s' });
  expectSwept(result, 'ok', { revoked });
  expect(stage.aliveIds()).toEqual(['1', ...others, ...similar]);
  expect(stage.deletes()).toHaveLength(1);
  // Three of the similar names have the form of a name of another repository.
  expect(result.summary).toContain('keys of other repositories (7), keys that this action did not create (16)');
  expect(stage.runs.lookups).toEqual([ownRun, '12', '12', ownRun]);
});

staged('a sweep keeps and lists a key that was created with revoke-in-post: false', async ({ stage }) => {
  const env = { GITHUB_RUN_ID: '12' };
  const { outputs } = await stage.runMode('create-key', { 'revoke-in-post': 'false' }, { env });
  await stage.pass(300 * day);
  const kept = [outputs['key-id'] ?? '', stage.addKey(ownRun, { isKept: true, ageMs: 300 * day })];
  const revoked = [stage.addKey('11')];

  // Only age counts while the current run cannot be read.
  for (const own of [failing(403), running]) {
    stage.runs.set(ownRun, own);
    const inputs = { 'older-than': '1s', 'dry-run': String(own !== running) };
    const result = await stage.sweep(inputs, { env: { GITHUB_RUN_ATTEMPT: '2' } });
    expectSwept(result, 'ok', { revoked, kept });
    for (const id of kept) expect(result.summary).toContain(`<td>📌 kept on purpose</td><td><code>${id}</code></td>`);
    const keptKey = { kept_on_purpose: true, to_revoke: false, why: 'revoke-in-post: false' };
    expect(fileOf(result).decisions).toMatchObject([keptKey, keptKey, { kept_on_purpose: false, to_revoke: true }]);
  }
  expect(stage.aliveIds()).toEqual(['1', ...kept]);
  expect(stage.runs.lookups).not.toContain('12');
});

staged('the summary of a sweep of 70 keys shows each failed revocation and each kept key', async ({ stage }) => {
  const over = Array.from({ length: 68 }, () => stage.addKey('12'));
  const rows = [stage.addKey('12'), stage.addKey('12', { isKept: true })];
  stage.service.faults.add({ path: `api_keys/${rows[0]}`, fault: status(403) });
  const result = await stage.sweep({ 'older-than': '1s' });
  expectSwept(result, 'error', { revoked: over, kept: rows });
  for (const id of rows) expect(result.summary).toContain(`<td><code>${id}</code></td>`);
});

staged.for([
  ['can be read', running],
  ['cannot be read', failing(403)],
] as const)('if the current run %s, a dry run shows what a sweep would revoke', async ([, own], { stage }) => {
  stage.runs.set(ownRun, own);
  const [old, young] = addOldAndYoung(stage);
  const dry = await stage.sweep({ 'dry-run': 'true' });
  expect(stage.deletes()).toEqual([]);
  const wet = await stage.sweep();

  const ids = own === running ? { revoked: [old, young] } : { revoked: [old], kept: [young] };
  expectSwept(dry, 'ok', ids);
  expectSwept(wet, 'ok', ids);
  expect([fileOf(dry), fileOf(wet)]).toMatchObject([{ dry_run: true }, { dry_run: false }]);
  expect(dry.summary).toContain('🧹 would be revoked');
  expect(dry.log).not.toMatch(/was revoked/);
  for (const id of ids.revoked) expect(dry.log).toContain(`Key ${id} would be revoked.\n`);
  // What was done to a key differs, and the first sweep changes the last use of the parent key.
  const decisions = (result: StepResult) => fileOf(result).decisions.map(({ record, ...decision }) => decision);
  expect(decisions(dry)).toEqual(decisions(wet));
});

const partial = { body: JSON.stringify([{ id: 5, name }]), headers: { link: '</v2/api_keys?page=2>; rel="next"' } };

test.for([1, 2])('a sweep asks again for a list that is not whole (list %i of 2)', async (nth, context) => {
  const respond = (path: string, n: number) =>
    path !== 'api_keys' ? '{"revoked":true}' : n === nth ? partial : partial.body;
  const stage = await setStage(context, { respond });
  stage.runs.set('11', completed);
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked: ['5'] });
  expect(warningsOf(result)).toEqual([]);
});

test('a sweep revokes nothing by a list that is not whole', async (context) => {
  const stage = await setStage(context, { respond: () => partial });
  stage.runs.set('11', completed);
  expect(errorOf(await stage.sweep())).toMatch(/the list is not whole/);
  expect(stage.paths()).toEqual(Array(5).fill('api_keys'));
});

test.for([2, -2])('a sweep measures ages by the service clock (runner clock %i h ahead)', async (hours, context) => {
  const stage = await setStage(context, { clockAheadMs: hours * hour });
  const revoked = [stage.addKey('11', { ageMs: hour + minute })];
  const kept = [stage.addKey('11', { ageMs: hour - minute })];
  expectSwept(await stage.sweep(), 'ok', { revoked, kept });
});

staged('a sweep looks up all runs before the first DELETE, and checks a 404 again after 1 s', async ({ stage }) => {
  const revoked = [stage.addKey('11'), stage.addKey('12')];
  const kept = [stage.addKey('13', { ageMs: hour })];
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked, kept });
  expect(fileOf(result).decisions[2]?.['why']).toBe('its run was not found, but the key is not older than 1h');
  expect(stage.runs.lookups).toEqual([ownRun, '11', '12', '13', '11', '12', ownRun]);
  // A lookup takes 40 ms: the current run, the others at once, the pause, two of them again, the current run again.
  // Then the sweep reads the list again, and sends both DELETEs.
  expect(stage.times()).toEqual([0, ...Array(3).fill(40 + 40 + 1_000 + 40 + 40)]);
});

staged('a sweep looks up a run once for all of its keys, at most twelve runs at a time', async ({ stage }) => {
  for (let n = 0; n < 40; n++) if (n % 2 === 0) stage.runs.set(String(100 + n), completed);
  const revoked = Array.from({ length: 120 }, (_, n) => stage.addKey(String(100 + (n % 40))));
  expectSwept(await stage.sweep(), 'ok', { revoked });
  expect([stage.runs.lookups[0], stage.runs.lookups.at(-1)]).toEqual([ownRun, ownRun]);
  expect(stage.runs.lookups).toHaveLength(1 + 40 + 20 + 1);
  expect(stage.runs.maxConcurrent).toBeLessThanOrEqual(12);
});

staged.for<[outcome: string, runId: string, run: KnownRun, warning: RegExp | undefined, inputs?: Inputs]>([
  ['finds the run', '11', running, undefined],
  ['fails', '11', failing(403), /status 403/],
  ['gets no response', '11', 'hangs', /GitHub did not respond within \d+/],
  ['has no time left', '11', 'gone', /no time was left for a second lookup/, { timeout: '2s' }],
  ['finds no current run', ownRun, 'gone', /cannot read the current run/],
  ['fails for the current run', ownRun, failing(403), /status 403/],
])('a sweep does not take a run as missing if the second lookup %s', async ([, id, run, why, inputs], { stage }) => {
  stage.runs.set('11', 'gone');
  stage.runs.set('12', completed);
  stage.runs.set(id, (attempt) => (attempt > 1 ? run : id === ownRun ? running : 'gone'));
  const [old, young] = addOldAndYoung(stage);
  const other = stage.addKey('12', { ageMs: 0 });
  const result = await stage.sweep(inputs);
  if (why === undefined) expectSwept(result, 'ok', { revoked: [other], kept: [old, young] });
  else expectWarned(result, [old, other], [young], why);
});

staged('a sweep believes no 404 if its token loses access during the second lookups', async ({ stage }) => {
  let hasAccess = true;
  stage.runs.set('11', (attempt) => {
    hasAccess = attempt === 1;
    return 'gone';
  });
  stage.runs.set(ownRun, () => (hasAccess ? running : 'gone'));
  const [old, young] = addOldAndYoung(stage);
  expectWarned(await stage.sweep(), [old], [young], /cannot read the current run/);
});

staged('the warning of a sweep about failed lookups names at most three reasons, as plain text', async ({ stage }) => {
  const statuses = [403, 410, 403, 422, 451];
  const kept = statuses.map((status, n) => {
    const { message } = failing(status);
    stage.runs.set(String(11 + n), { status, message: `${message} ##[error]</code><img src=x>`, transient: false });
    return stage.addKey(String(11 + n));
  });
  stage.runs.set('16', running);
  kept.push(stage.addKey('16', { ageMs: 300 * day }));
  const reasons = [403, 410, 422].map((status) => `GitHub \\w+ with status ${status} [^;]*<img src=x>`);
  const result = await stage.sweep();
  expectWarned(result, [], kept, new RegExp(`workflow runs: ${reasons.join('; ')}\\. Keys`));
  expect(result.output).not.toContain('##[');
  expect(result.summary).not.toContain('<img');
});

staged('a sweep stops looking up runs after one permanent failure', async ({ stage }) => {
  const ids = Array.from({ length: 50 }, (_, n) => String(100 + n));
  for (const id of ids) stage.runs.set(id, failing(403));
  const kept = ids.map((id) => stage.addKey(id));
  expectWarned(await stage.sweep(), [], kept, /status 403/);
  // The current run, and those that were sent at once.
  expect(new Set(stage.runs.lookups).size).toBeLessThanOrEqual(1 + 8);
});

staged.for([
  ['a cancel', '11', 'hangs'],
  ['an unexpected error', ownRun, new TypeError('undefined is not a function')],
] as const)('a sweep revokes nothing after %s during the lookups of runs', async ([, id, run], { stage }) => {
  stage.runs.set(id, run);
  stage.addKey('11', { ageMs: 300 * day });
  const step = stage.startSweep();
  if (run === 'hangs') stage.after(7_000, () => void step.cancel());
  const result = await step.done;
  expect(stage.deletes()).toEqual([]);
  if (run === 'hangs') expect(result.outputs).toMatchObject({ status: 'cancelled', 'duration-ms': '7000' });
  else expect(errorOf(result)).toContain('undefined is not a function');
});

const half = /: GitHub did not respond within half of the step's timeout\. Keys/;
const slow = { timeout: '50s' };
staged.for<[string, KnownRun, why: RegExp, attempts: number, from: number, to: number, inputs?: Inputs]>([
  ['not found', 'gone', /github-token cannot read the current run/, 1, 40, 40],
  ['forbidden', failing(403), /status 403/, 1, 40, 40],
  ['unavailable', failing(503), /status 503/, 5, 200, 200 + 15_000],
  ['no response', 'hangs', /GitHub did not respond within 1m\./, 2, 90_000, 91_000],
  ['no response for half of the timeout', 'hangs', half, 1, 25_000, 25_000, slow],
  ['a rate limit that ends too late', failing(429, { retryAfterMs: 6 * minute }), /429.*asks to wait 6m/, 1, 40, 40],
  ['a rate limit without end', failing(429, { retryAfterMs: minute }), /status 429/, 5, 4 * minute, 5 * minute],
  ['unavailable for an hour', failing(503, { retryAfterMs: hour }), /status 503/, 1, 40, 5 * minute],
])('if the current run cannot be read (%s), a sweep revokes only keys older than 35 d', async (row, { stage }) => {
  const [, run, why, n, from, to, inputs] = row;
  stage.runs.set(ownRun, run);
  stage.runs.set('12', completed);
  const [old, young] = addOldAndYoung(stage);
  const [old12, young12] = addOldAndYoung(stage, '12');
  const result = await stage.sweep(inputs);
  expectWarned(result, [old, old12], [young, young12], why);
  expect(stage.runs.lookups).toEqual(Array.from({ length: n }, () => ownRun));
  for (const { why } of fileOf(result).decisions) expect(why).toMatch(/is unknown; the key is (not )?older than 35d/);
  expect(result.ms).toEqual(between(from, to + 1));
});

staged('a sweep spares another key that got the id of a swept one while GitHub was asked', async ({ stage }) => {
  stage.runs.set('11', completed);
  const id = stage.addKey('11');
  stage.after(20, () => void stage.service.plane.reuseId(id, 'of another tool'));
  expectSwept(await stage.sweep(), 'ok', { revoked: [], kept: [] });
  expect(stage.service.plane.aliveKeys('of another tool')).toHaveLength(1);
  expect(stage.paths().filter((path) => path.includes(id))).toEqual([]);
});

test('a sweep keeps a key without a creation time whose run is not found, and says that its age is unknown', async (context) => {
  const { sweep } = await setStage(context, { respond: () => JSON.stringify([{ id: 2, name }]) });
  const result = await sweep();
  expectSwept(result, 'ok', { kept: ['2'] });
  expect(fileOf(result).decisions[0]?.['why']).toBe('its run was not found, but the age of the key is unknown');
});

test('if the current run cannot be read, a sweep keeps keys without a valid creation time', async (context) => {
  const longAgo = ['2023-11-20T00:00:00Z', '2023-11-20T02:00:00+02:00'];
  const times = [...longAgo, '', 'yesterday', 'about 5', 0, 1700, {}, [], null, undefined];
  const records = times.map((created_at, n) => ({ id: n + 1, name, created_at }));
  const respond = (path: string) => (path === 'api_keys' ? JSON.stringify(records) : '{"revoked":true}');
  const { runs, sweep } = await setStage(context, { respond });
  runs.set(ownRun, failing(401));
  const ids = records.map(({ id }) => String(id));
  expectWarned(await sweep({ 'older-than': '1s' }), ids.slice(0, 2), ids.slice(2), /401/);
});

staged('a sweep retries the lookup of the current run, and then goes on as usual', async ({ stage }) => {
  stage.runs.set(ownRun, (attempt) => (attempt === 1 ? failing(429, { retryAfterMs: 4 * minute }) : running));
  const revoked = [stage.addKey('11')];
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked });
  expect(warningsOf(result)).toEqual([]);
  expect(stage.runs.lookups).toEqual([ownRun, ownRun, '11', '11', ownRun]);
  expect(result.ms).toBeGreaterThanOrEqual(4 * minute);
});
