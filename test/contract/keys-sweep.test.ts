import { expect, test } from 'vitest';
import { makeKeyName, repositoryFingerprint } from '../../src/keys/key-name.js';
import { onDelete, status } from '../kit/fault.js';
import { day, errorOf, ours, repositoryId, setStage, staged, warningsOf } from '../kit/stage.js';
import { addOldAndYoung, completed, expectSwept, expectUnread, failing, running } from '../kit/sweep.js';
import { minute } from '../kit/times.js';
import { type KnownRun, ownRun } from '../kit/workflow-runs.js';

const name = makeKeyName('shop', { run: { id: '11', attempt: 1, fingerprint: ours }, isKept: false }, Math.random);

const ages = [-day, 0, day, day + minute, 35 * day, 35 * day + minute];
const goesOn = (attempt: number): KnownRun => ({ attempt, isCompleted: false });
const isOver = (attempt: number): KnownRun => ({ attempt, isCompleted: true });
staged.for<[which: string, shown: string, minAge: number, attempt: number, run: KnownRun, isUnread?: true]>([
  ['all keys', 'is completed', Number.NEGATIVE_INFINITY, 1, isOver(1)],
  ['all keys', 'is completed at a later attempt', Number.NEGATIVE_INFINITY, 1, isOver(2)],
  ['all keys', 'is running a later attempt', Number.NEGATIVE_INFINITY, 2, goesOn(3)],
  ['no key', 'is still running', Number.POSITIVE_INFINITY, 1, goesOn(1)],
  ['keys older than a day', 'GitHub does not know', day, 1, 'gone'],
  ['keys older than 35 days', 'is running an earlier attempt', 35 * day, 2, goesOn(1), true],
  ['keys older than 35 days', 'cannot be read', 35 * day, 1, failing(403), true],
])('sweep-keys revokes %s of a run that %s', async ([, , minAge, attempt, known, isUnread], { stage }) => {
  stage.runs.set('11', known);
  const keys = ages.map((ageMs) => ({ ageMs, id: stage.addKey('11', { attempt, ageMs }) }));
  const result = await stage.sweep();
  const idsOf = (isOld: boolean) => keys.flatMap(({ ageMs, id }) => (ageMs > minAge === isOld ? id : []));
  const [revoked, kept] = [idsOf(true), idsOf(false)];
  expectSwept(result, isUnread ? 'error' : 'ok', { revoked, kept });
  expect(result.conclusion).toBe(isUnread ? 'failure' : 'success');
  expect(stage.aliveIds()).toEqual(['1', ...kept]);
});

staged('sweep-keys ignores keys whose names differ slightly from those of this repository', async ({ stage }) => {
  const others = [
    repositoryFingerprint('https://github.com', '12345678'),
    repositoryFingerprint('https://ghe.example', repositoryId),
  ].map((fingerprint) => stage.addKey('11', { fingerprint, ageMs: 300 * day }));
  const similar = [`copy of ${name}`, `${name}\n`, `${name}-x`, name.toUpperCase(), 'shop', ''];
  const alive = similar.map((one) => stage.addNamed(one, 300 * day));
  const none = await stage.sweep({ 'older-than': '1s' });
  expectSwept(none, 'ok', {});
  expect(stage.runs.lookups).toEqual([]);
  // With nothing to revoke, no list must prove anything.
  expect(stage.paths()).toEqual(['api_keys']);
  const revoked = [stage.addKey('12', { ageMs: 2 * day })];
  expectSwept(await stage.sweep(), 'ok', { revoked });
  expect(stage.aliveIds()).toEqual(['1', ...others, ...alive]);
});

staged(
  'sweep-keys never revokes a key made with revoke-in-post: false, and names it in the summary',
  async ({ stage }) => {
    const { outputs } = await stage.runMode('create-key', { 'revoke-in-post': 'false' });
    stage.runs.set(ownRun, { attempt: 2, isCompleted: false });
    await stage.pass(300 * day);
    const kept = [outputs['key-id'] ?? '', stage.addKey('11', { isKept: true, ageMs: 300 * day })];
    // A table of all of them would be too long.
    const revoked = Array.from({ length: 70 }, () => stage.addKey('11', { ageMs: 2 * day }));
    kept.push(stage.addKey('11', { isKept: true }));
    const result = await stage.sweep({ 'older-than': '1s' });
    expectSwept(result, 'ok', { revoked, kept });
    for (const id of kept) expect(result.summary).toContain(`<td>📌 kept on purpose</td><td><code>${id}</code></td>`);
    expect(stage.aliveIds()).toEqual(['1', ...kept]);
  },
);

staged('sweep-keys with dry-run shows which keys it would revoke, and revokes none', async ({ stage }) => {
  stage.runs.set('11', completed);
  stage.runs.set('12', running);
  const ids = { revoked: [stage.addKey('11'), stage.addKey('11')], kept: [stage.addKey('12')] };
  const dry = await stage.sweep({ 'dry-run': 'true' }, { token: 'the-token' });
  expectSwept(dry, 'ok', ids);
  expect(dry.masks).toEqual([stage.service.apiKey, 'the-token']);
  expect(dry.summary).toContain('🧹 would be revoked');
  expect(dry.log).not.toMatch(/was revoked/);
  expect(stage.deletes()).toEqual([]);
  expectSwept(await stage.sweep(), 'ok', ids);
});

staged.for(['false', 'true'])(
  'sweep-keys with fail-on: match and dry-run: %s fails if a key had to be revoked',
  async (dryRun, { stage }) => {
    stage.runs.set('11', completed);
    const inputs = { 'fail-on': 'match', 'dry-run': dryRun };
    const kept = [stage.addKey('11', { isKept: true }), stage.addKey(ownRun)];
    expectSwept(await stage.sweep(inputs), 'ok', { kept });
    const revoked = Array.from({ length: 6 }, () => stage.addKey('11'));
    const result = await stage.sweep(inputs);
    expectSwept(result, 'match', { revoked, kept });
    expect(result.conclusion).toBe('failure');
    // The error names the first five, by id and name.
    for (const id of revoked.slice(0, 5)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id} \\(shop-run11-1`));
    expect(errorOf(result)).not.toMatch(new RegExp(`\\b${revoked[5]} \\(`));
  },
);

test('sweep-keys names both a key that it could not revoke and one whose run it could not read', async (context) => {
  const stage = await setStage(context, { faults: [onDelete(status(403), {})] });
  const refused = stage.addKey('11');
  const left = stage.addKey('12');
  stage.runs.set('12', failing(403));
  const error = errorOf(await stage.sweep());
  for (const id of [refused, left]) expect(error).toMatch(new RegExp(`\\b${id}\\b`));
});

const partial = { body: JSON.stringify([{ id: 5, name }]), headers: { link: '</v2/api_keys?page=2>; rel="next"' } };

test('sweep-keys revokes nothing if the list of keys is incomplete', async (context) => {
  const stage = await setStage(context, { respond: () => partial });
  stage.runs.set('11', completed);
  expect(errorOf(await stage.sweep())).toMatch(/the list is not whole/);
  expect(stage.paths().filter((path) => path !== 'api_keys')).toEqual([]);
});

type Clocks = { clockAheadMs?: number; dateAheadMs?: number | 'absent' };
test.for<[age: string, what: string, clocks: Clocks, ageNeeded: number]>([
  ['a day', "the runner's clock is 10 days fast", { clockAheadMs: 10 * day }, day],
  ['a day', "the service's clock is 10 days fast", { dateAheadMs: 10 * day }, day],
  ['a day', 'responses have no Date header', { dateAheadMs: 'absent' }, day],
  ['11 days', "the runner's clock is 10 days slow", { clockAheadMs: -10 * day }, 11 * day],
  ['11 days', "the service's clock is 10 days slow", { dateAheadMs: -10 * day }, 11 * day],
])('sweep-keys revokes keys of unknown runs after %s if %s', async ([, , clocks, ageNeeded], context) => {
  const stage = await setStage(context, clocks);
  const revoked = [stage.addKey('11', { ageMs: ageNeeded + minute })];
  const kept = [stage.addKey('11', { ageMs: ageNeeded - minute })];
  expectSwept(await stage.sweep(), 'ok', { revoked, kept });
});

staged('older-than sets the age from which sweep-keys revokes keys of runs that it cannot read', async ({ stage }) => {
  stage.runs.set('11', failing(403));
  const revoked = [stage.addKey('11', { ageMs: 5 * day + minute })];
  const kept = [stage.addKey('11', { ageMs: 5 * day - minute })];
  expectUnread(await stage.sweep({ 'older-than': '5d' }), revoked, kept, /403/);
});

staged.for<[string, KnownRun, why: RegExp]>([
  ['GitHub does not know the current run', 'gone', /current run/],
  ['the current run gets a 403', failing(403), /status 403/],
  ['GitHub does not respond', 'hangs', /GitHub did not respond/],
])('sweep-keys revokes only keys older than 35 days if %s', async (row, { stage }) => {
  const [, run, why] = row;
  stage.runs.set(ownRun, run);
  stage.runs.set('12', completed);
  const [old, young] = addOldAndYoung(stage);
  const [old12, young12] = addOldAndYoung(stage, '12');
  const result = await stage.sweep();
  expectUnread(result, [old, old12], [young, young12], why);
});

staged('sweep-keys revokes old keys of a run that it cannot read, and succeeds with a warning', async ({ stage }) => {
  stage.runs.set(ownRun, failing(403));
  const revoked = [stage.addKey('11', { ageMs: 36 * day })];
  const result = await stage.sweep();
  expectSwept(result, 'ok', { revoked });
  expect(warningsOf(result)).toEqual([expect.stringMatching(/403/)]);
});

test.for([
  ['GitHub does not know its run', running, 'ok'],
  ['its run cannot be read', failing(401), 'error'],
] as const)('sweep-keys keeps a key without a readable creation time if %s', async ([, own, end], context) => {
  const longAgo = ['2023-11-20T00:00:00Z', '2023-11-20T02:00:00+02:00'];
  const times = [...longAgo, '', 'yesterday', 'about 5', 0, 1700, {}, [], null, undefined];
  const records = times.map((created_at, n) => ({ id: n + 1, name, created_at }));
  const respond = (path: string) => (path === 'api_keys' ? JSON.stringify(records) : '{"revoked":true}');
  const { runs, sweep } = await setStage(context, { respond });
  runs.set(ownRun, own);
  const ids = records.map(({ id }) => String(id));
  expectSwept(await sweep({ 'older-than': '1s' }), end, { revoked: ids.slice(0, 2), kept: ids.slice(2) });
});

staged('sweep-keys that is cancelled while it reads workflow runs names the keys that it leaves', async ({ stage }) => {
  stage.runs.set('11', 'hangs');
  const kept = [stage.addKey('11', { ageMs: 40 * day }), stage.addKey('12', { isKept: true })];
  const sweep = stage.startSweep();
  stage.after(5_000, () => void sweep.cancel());
  const result = await sweep.done;
  expectSwept(result, 'cancelled', { kept });
  expect(result.annotations).toMatchObject([{ source: 'runner' }]);
});
