import { describe, expect, type TestContext, test } from 'vitest';
import type { NotShown } from '../../control-plane/index.js';
import { delay, hang, onDelete, onList, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, noticesOf, type Stage, type StageOptions, setStage, staged, warningsOf } from '../kit/stage.js';
import { expectRevocations } from '../kit/sweep.js';
import { maxConcurrent } from '../kit/times.js';
import { ownRun } from '../kit/workflow-runs.js';
import type { StepResult } from '../runner/step.js';

async function setKeys(context: TestContext, count: number, options: StageOptions = {}) {
  const stage = await setStage(context, options);
  return { ...stage, ids: stage.addKeys(count) };
}

const expectEnd = (result: StepResult, status: string, ids: Parameters<typeof expectRevocations>[3]): void =>
  expectRevocations(result, 'revoke-key', status, ids);

const lists: Readonly<Record<string, (ids: readonly string[]) => string>> = {
  'commas, blanks and lines': ([first, second, third]) => `${first} ,${second},\r\n\t${third}`,
  'an array of numbers': (ids) => `[${ids.join(', ')}]`,
  'an array of texts': (ids) => JSON.stringify(ids, undefined, 2),
  'one of them twice': ([first, second, third]) => [first, second, first, third].join(','),
  'leading zeros': ([first, second, third]) => `00${first} ${second} ${first} ${third}`,
};
test.for(['100', '12345678901234567890'])('revoke-key takes ids like %s in any format', async (firstKeyId, context) => {
  for (const [how, write] of Object.entries(lists)) {
    const { service, ids, revoke, aliveIds, addNamed, paths } = await setKeys(context, 3, { firstKeyId });
    const other = addNamed('other');
    const result = await revoke({ 'key-id': write(ids) });
    expectEnd(result, 'revoked', { revoked: ids });
    expect(aliveIds()).toEqual([firstKeyId, other]);
    expect(paths().sort(), how).toEqual(ids.map((id) => `api_keys/${id}`).sort());
    expect(warningsOf(result)).toEqual([]);
    expect(result.masks).toEqual([service.apiKey]);
  }
});

test('revoke-key revokes at most twelve keys at once, and lists fifty in the summary', async (context) => {
  const { service, ids, revoke } = await setKeys(context, 60, { faults: [{ fault: delay(1_900) }] });
  const result = await revoke({ 'key-id': ids.join() });
  expectEnd(result, 'revoked', { revoked: ids });
  expect(maxConcurrent(service.requests)).toBe(12);
  expect(service.requests).toHaveLength(60);
  expect(result.summary).toMatch(/^### ✅/);
  expect(result.summary).toContain(`<code>${ids[0]}</code>`);
  expect(result.summary.match(/<tr>/g)).toHaveLength(51);
  expect(result.summary).toMatch(/10 more/);
});

test.for(['[]', ' [ ] '])('revoke-key succeeds with a notice for the empty list %j', async (list, context) => {
  const { revoke, paths } = await setKeys(context, 1);
  const result = await revoke({ 'key-id': list });
  expectEnd(result, 'gone', {});
  expect(noticesOf(result)).toHaveLength(1);
  expect(paths()).toEqual([]);
});

staged('revoke-key revokes only the key with the exact name, and later reports it as gone', async ({ stage }) => {
  const { service, addNamed, revoke, aliveIds, paths } = stage;
  const name = 'shop (deploy) *';
  const similar = [`${name}2`, 'Shop (deploy) *', 'shop (deploy) ', 'shop (deploy) all', '*', ''];
  const others = similar.map((one) => addNamed(one));
  service.plane.revokeKey(addNamed(name));
  const id = addNamed(name);
  expectEnd(await revoke({ 'key-name': name }), 'revoked', { revoked: [id] });
  expect(paths()).toEqual(['api_keys', `api_keys/${id}`]);
  const again = await revoke({ 'key-name': name });
  expectEnd(again, 'gone', {});
  const said = `No key has exactly the name ${name}. The key was revoked before, or never existed.`;
  expect(noticesOf(again)).toEqual([said]);
  expect(aliveIds()).toEqual(['1', ...others]);
});

const shared = /^3 keys are named shop: 9007199254740994, 9007199254740995, 9007199254740996\. .*key-id/;
const incomplete = /GET \/v2\/api_keys: .*the list is not whole/;
test.for<[what: string, names: readonly string[], options: StageOptions, error: RegExp]>([
  ['several keys have the name', ['shop', 'shop', 'shop'], { firstKeyId: '9007199254740993' }, shared],
  ['an incomplete list shows a key of the name', ['shop', 'other'], { notShown: { keysPageSize: 2 } }, incomplete],
  ['an incomplete list shows no key of the name', ['other', 'shop'], { notShown: { keysPageSize: 2 } }, incomplete],
])('with key-name, revoke-key fails and revokes nothing if %s', async ([, names, options, error], context) => {
  const { addNamed, revoke, paths } = await setStage(context, options);
  for (const name of names) addNamed(name);
  const result = await revoke({ 'key-name': 'shop' });
  expect(result.outputs['status']).toBe('error');
  expect(errorOf(result)).toMatch(error);
  expect(paths()).toEqual(Array(error === incomplete ? 5 : 1).fill('api_keys'));
});

test('revoke-key succeeds if no key is there, and says why that can be', async (context) => {
  const { ids, service, revoke, paths } = await setKeys(context, 3);
  const [before = '', ...revoked] = ids;
  service.plane.revokeKey(before);
  const gone = [before, ...Array.from({ length: 50 }, (_, n) => String(1000 + n))];
  const onlyGone = await revoke({ 'key-id': gone.join() });
  expectEnd(onlyGone, 'gone', { gone });
  expect(warningsOf(onlyGone)).toEqual([]);
  expect(paths().filter((path) => path === 'api_keys')).toHaveLength(1);
  for (const text of [onlyGone.log, onlyGone.summary]) expect(text).toMatch(/51 revoked before, or never existed/);
  expect(onlyGone.log).toContain('Key 1000 was revoked before, or never existed.');
  expect(onlyGone.summary).toContain('<td>✅ revoked before, or never existed</td><td><code>1000</code>');
  expectEnd(await revoke({ 'key-id': [...gone, ...revoked].join() }), 'revoked', { revoked, gone });
});

test.for([
  [200, ''],
  [200, '{"deleted":true}'],
  [202, 'OK'],
] as const)('a %i with body “%s” proves a revocation only if a list lacks the key', async ([code, body], context) => {
  const { ids, revoke, aliveIds, service } = await setKeys(context, 2);
  service.faults.add({ path: '/api_keys/2', nth: 1, fault: status(code, { body, done: 'now' }) });
  service.faults.add({ path: '/api_keys/3', fault: status(code, { body, done: 'never' }) });
  expectEnd(await revoke({ 'key-id': ids.join() }), 'error', { revoked: ['2'], kept: ['3'] });
  expect(aliveIds()).toEqual(['1', '3']);
});

const notFound = onDelete(status(404), {});
test.for<[what: string, notShown: Partial<NotShown>, inputs: Inputs, error: RegExp]>([
  ['with an incomplete list', { keysPageSize: 1 }, {}, /2 \(GET .*the list is not whole/],
  ['from a wrong base-url', {}, { 'base-url': 'https://control.test/v2/old/v2' }, /base-url/],
  ['that the list contradicts', {}, {}, /\b2\b.*404.*The service says 404\..*request id req-\d+/],
])('a 404 %s does not prove that a key is revoked', async ([, notShown, inputs, error], context) => {
  const { revoke } = await setKeys(context, 1, { notShown, faults: [notFound] });
  const result = await revoke({ 'key-id': '2', ...inputs });
  expectEnd(result, 'error', { kept: ['2'] });
  expect(errorOf(result)).toMatch(error);
  expect(result.summary).toMatch(/^### ❌/);
});

test('revoke-key retries after a 404 that the list contradicts, and retries a list that fails', async (context) => {
  const stage = await setKeys(context, 1, { faults: [{ ...notFound, count: 2 }] });
  expectEnd(await stage.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
  stage.service.faults.add(onList(status(503), { nth: 1 }));
  expectEnd(await stage.revoke({ 'key-id': '4711' }), 'gone', { gone: ['4711'] });
});

test('a 423 for the list of keys delays the checks of all keys', async (context) => {
  const { revoke, paths, times } = await setKeys(context, 1, { faults: [onList(retryAfter(423, 10), { nth: 1 })] });
  expectEnd(await revoke({ 'key-id': '4711 4712' }), 'gone', { gone: ['4711', '4712'] });
  const lists = times().filter((_, n) => paths()[n] === 'api_keys');
  expect(lists.filter((time) => time < 10_000)).toEqual([0]);
});

test('revoke-key reads the list again for a key whose DELETE came after the last list', async (context) => {
  const late = { path: '/api_keys/2', fault: status(404, { done: 'now' }) } as const;
  const faults = [{ path: '/api_keys/2', nth: 1, fault: retryAfter(423, 5) }, late];
  const { revoke } = await setKeys(context, 1, { faults });
  expectEnd(await revoke({ 'key-id': '4711 2' }), 'gone', { gone: ['4711', '2'] });
});

describe.for(['revoke-key', 'sweep-keys'] as const)('%s with several keys', (mode) => {
  /** Starts a step that revokes all given keys. A sweep also sees the key of its own run, and keeps it. */
  const start = ({ startMode }: Stage, ids: readonly string[], timeout = '10m') =>
    startMode(mode, mode === 'revoke-key' ? { 'key-id': ids.join(), timeout } : { timeout });
  const keptWith = (ids: readonly string[], own: string) => (mode === 'revoke-key' ? ids : [...ids, own]);

  test('continues after a failure, and then names each key that it could not revoke', async (context) => {
    const faults = [
      { path: '/api_keys/3', fault: status(403) },
      { path: '/api_keys/5', fault: status(503) },
      { path: '/api_keys/6', fault: status(404, { done: 'now' }) },
    ];
    // Eight requests are sent at once, so the others begin after the first failure.
    const stage = await setKeys(context, 12, { faults });
    const own = stage.addKey(ownRun);
    const result = await start(stage, stage.ids).done;
    const kept = keptWith(['3', '5'], own);
    const revoked = stage.ids.filter((id) => !['3', '5', '6'].includes(id));
    expectRevocations(result, mode, 'error', { revoked, gone: ['6'], kept });
    expect(stage.aliveIds()).toEqual(['1', '3', '5', own]);
    expect(errorOf(result)).toMatch(/2 of 12 keys/);
    for (const [id, code, attempts] of [
      ['3', 403, 1],
      ['5', 503, 5],
    ] as const) {
      const says = `\\b${id}\\b.*status ${code}.*The service says ${code}\\..*code FAULT.*request id req-\\d+`;
      expect(errorOf(result)).toMatch(new RegExp(says));
      expect(stage.paths().filter((path) => path === `api_keys/${id}`)).toHaveLength(attempts);
    }
    expect(result.summary).toMatch(/^### ❌/);
    const gone = mode === 'revoke-key' ? '✅ revoked before, or never existed' : '✅ already gone';
    for (const text of ['❌ not revoked', gone]) expect(result.summary).toContain(text);
  });

  test.for([
    ['a cancel', 'cancelled', 7_000],
    ['the deadline', 'error', 4_000],
  ] as const)('reports the keys that it revoked before %s', async ([end, verdict, ms], context) => {
    const isCancel = end === 'a cancel';
    // A failure before a cancel does not hide that the step was cancelled.
    const failing = isCancel ? [onDelete(status(403), { nth: 1 })] : [];
    const faults = [...failing, onDelete({ ...hang, done: 'never' }, { from: 3 })];
    const stage = await setKeys(context, 8, { faults });
    const own = stage.addKey(ownRun);
    const step = start(stage, stage.ids, isCancel ? '10m' : `${ms}ms`);
    if (isCancel) stage.after(ms, () => void step.cancel());
    const result = await step.done;
    const revoked = stage.ids.slice(isCancel ? 1 : 0, 2);
    const kept = stage.ids.filter((id) => !revoked.includes(id));
    expectRevocations(result, mode, verdict, { revoked, kept: keptWith(kept, own) });
    expect(result.exitCode).toBe(1);
    expect(result.outputs['duration-ms']).toBe(String(ms));
    if (isCancel) {
      expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
      expect(result.summary).toMatch(/^### 🚫 .*Cancelled: 1 revoked/);
    } else {
      for (const id of kept.slice(0, 3)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
      expect(errorOf(result)).toMatch(/timeout/);
    }
  });
});

test('after 100 failures, revoke-key shortens its error but not kept-key-ids', async (context) => {
  const { ids, revoke } = await setKeys(context, 100, { faults: [onDelete(status(403), {})] });
  const result = await revoke({ 'key-id': ids.join() });
  expectEnd(result, 'error', { kept: ids });
  expect(errorOf(result).length).toBeLessThan(2_000);
  expect(errorOf(result)).toMatch(/100 of 100 keys.*95 more/);
});

test('revoke-key sends no more requests after a 429 with a Retry-After beyond the deadline', async (context) => {
  const faults = [{ path: '/api_keys/2', fault: retryAfter(429, 3_600) }];
  const { ids, revoke, times } = await setKeys(context, 20, { faults, trip: () => 20 });
  const result = await revoke({ 'key-id': ids.join() });
  expectEnd(result, 'error', { revoked: ids.slice(1, 8), kept: ['2', ...ids.slice(8)] });
  expect(errorOf(result)).toMatch(/429.*1h/);
  expect(times()).toEqual(Array(8).fill(20));
});
