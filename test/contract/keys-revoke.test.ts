import { describe, expect, type TestContext, test } from 'vitest';
import { hang, onDelete, onList, page, retryAfter, status } from '../kit/fault.js';
import type { Inputs } from '../kit/inputs.js';
import { errorOf, type Stage, type StageOptions, setStage, staged } from '../kit/stage.js';
import { expectRevocations } from '../kit/sweep.js';
import { between, second } from '../kit/times.js';
import { ownRun } from '../kit/workflow-runs.js';
import type { StepResult } from '../runner/step.js';

async function setKeys(context: TestContext, count: number, options: StageOptions = {}) {
  const stage = await setStage(context, options);
  return { ...stage, ids: stage.addKeys(count) };
}

function expectEnd(result: StepResult, status: string, ids: Parameters<typeof expectRevocations>[3]): void {
  expectRevocations(result, 'revoke-key', status, { missing: [], ...ids });
  expect(result.conclusion).toBe(['error', 'not-found'].includes(status) ? 'failure' : 'success');
}

test('revoke-key reads a list first, and then revokes each given id once and no other key', async (context) => {
  for (const write of [
    ([first, second, third]: string[]) => `00${first} ,${second},\r\n\t${third} ${first}`,
    (ids: string[]) => `[${ids.join(', ')}]`,
  ]) {
    const { ids, revoke, aliveIds, addNamed, paths } = await setKeys(context, 3);
    const other = addNamed('other');
    const result = await revoke({ 'key-id': write(ids) });
    expectEnd(result, 'revoked', { revoked: ids });
    expect(aliveIds()).toEqual(['1', other]);
    expect(paths()[0]).toBe('api_keys');
    expect(paths().slice(1).sort()).toEqual(ids.map((id) => `api_keys/${id}`).sort());
  }
});

test.for<readonly [what: string, inputs: Inputs, missing: string]>([
  ['an id that no list shows', { 'key-id': '4711' }, '4711'],
  ['a name that no list shows', { 'key-id': '', 'key-name': 'shop (deploy) *' }, 'shop (deploy) *'],
])('revoke-key fails as not-found for %s, but succeeds with ignore-not-found', async ([, inputs, missing], context) => {
  const { revoke, deletes } = await setStage(context);
  const result = await revoke(inputs);
  expectEnd(result, 'not-found', { missing: [missing] });
  expect(errorOf(result)).toMatch(/typo.*another account.*ignore-not-found/);
  expect(errorOf(result)).toContain(missing);
  const ignored = await revoke({ ...inputs, 'ignore-not-found': 'true' });
  expectRevocations(ignored, 'revoke-key', 'not-found', { missing: [missing] });
  expect([ignored.conclusion, ignored.annotations.map(({ kind }) => kind)]).toEqual(['success', ['notice']]);
  expect(deletes()).toEqual([]);
});

test('revoke-key revokes the keys that exist, and fails for missing ones without ignore-not-found', async (context) => {
  const { ids, service, revoke } = await setKeys(context, 4);
  service.plane.revokeKey(ids[0] ?? '');
  const before = await revoke({ 'key-id': ids.slice(0, 2).join() });
  expectEnd(before, 'not-found', { revoked: ids.slice(1, 2), missing: ids.slice(0, 1) });
  const ignored = await revoke({ 'key-id': ids.join(), 'ignore-not-found': 'true' });
  expectEnd(ignored, 'revoked', { revoked: ids.slice(2), missing: ids.slice(0, 2) });
});

test.for([
  ['revoked', 9],
  ['not-found', 15],
] as const)('revoke-key ends as %s if lists show the key only after %d s', async ([end, seconds], context) => {
  const stage = await setKeys(context, 1, { faults: [onList(status(200, { body: '[]' }))] });
  stage.after(seconds * second, () => stage.service.faults.clear());
  const result = await stage.revoke({ 'key-id': '2' });
  expectEnd(result, end, end === 'revoked' ? { revoked: ['2'] } : { missing: ['2'] });
  expect(result.ms).toEqual(end === 'revoked' ? between(9 * second, 12 * second) : between(10 * second, 13 * second));
});

staged('revoke-key with key-name revokes only the key with exactly that name', async ({ stage }) => {
  const { service, addNamed, revoke, aliveIds } = stage;
  const name = 'shop (deploy) *';
  const similar = [`${name}2`, 'Shop (deploy) *', 'shop (deploy) ', 'shop (deploy) all', '*', ''];
  const others = similar.map((one) => addNamed(one));
  service.plane.revokeKey(addNamed(name));
  const id = addNamed(name);
  expectEnd(await revoke({ 'key-name': name }), 'revoked', { revoked: [id] });
  expect(aliveIds()).toEqual(['1', ...others]);
});

const shared = /3 keys.*shop.*9007199254740901.*9007199254740902.*9007199254740903.*key-id/;
const incomplete = /the list is not whole/;
test.for<[what: string, names: readonly string[], options: StageOptions, error: RegExp]>([
  ['several keys have the name', ['shop', 'shop', 'shop'], { firstKeyId: '9007199254740900' }, shared],
  ['an incomplete list shows a key of the name', ['shop', 'other'], { notShown: { keysPageSize: 2 } }, incomplete],
])('revoke-key with key-name fails and revokes nothing if %s', async ([, names, options, error], context) => {
  const { addNamed, revoke, deletes } = await setStage(context, options);
  for (const name of names) addNamed(name);
  const result = await revoke({ 'key-name': 'shop', 'ignore-not-found': 'true' });
  expect([result.outputs['status'], result.conclusion]).toEqual(['error', 'failure']);
  expect(errorOf(result)).toMatch(error);
  expect(deletes()).toEqual([]);
});

test('revoke-key ignores a key that is listed with revoked: true or with a revoked_at', async (context) => {
  const fields = ['"revoked":true', '"revoked_at":"2024-01-01T00:00:00Z"', '"revoked":false,"revoked_at":null'];
  const body = `[${fields.map((field, n) => `{"id":${n + 5},"name":"shop",${field}}`)}]`;
  const respond: StageOptions['respond'] = (_, __, { method }) => (method === 'GET' ? body : '{"revoked":true}');
  const { revoke, paths } = await setStage(context, { respond });
  expectEnd(await revoke({ 'key-name': 'shop' }), 'revoked', { revoked: ['7'] });
  expectEnd(await revoke({ 'key-id': '5 6' }), 'not-found', { missing: ['5', '6'] });
  expect(paths().filter((path) => path !== 'api_keys')).toEqual(['api_keys/7']);
});

const absent = onList(status(200, { body: '[]' }));
test.for<readonly [end: 'revoked' | 'error', seconds: number]>([
  ['revoked', 15],
  ['error', 25],
])(
  'revoke-key ends as %s if lists show the key for %d s and each DELETE has an empty response',
  async ([end, seconds], context) => {
    const stage = await setKeys(context, 1, { faults: [onDelete(status(200, { body: '' }), {})] });
    stage.after(seconds * second, () => void stage.service.faults.add(absent));
    const result = await stage.revoke({ 'key-id': '2' });
    expectEnd(result, end, end === 'revoked' ? { revoked: ['2'] } : { kept: ['2'] });
    expect(result.ms).toEqual(between(end === 'revoked' ? 25 * second : 27 * second, 33 * second));
    expect(stage.deletes().length).toBeGreaterThan(1);
  },
);

test.for([
  ['a 404', status(404), /404/],
  ['an HTML page with status 404', page(404), /HTML/],
  ['a response about another key', status(200, { body: '{"id":1,"revoked":true}' }), /id/],
] as const)('revoke-key fails if each DELETE of a listed key gets %s', async ([, fault, says], context) => {
  const { revoke } = await setKeys(context, 1, { faults: [onDelete(fault, {})] });
  const result = await revoke({ 'key-id': '2', 'ignore-not-found': 'true' });
  expectEnd(result, 'error', { kept: ['2'] });
  expect(errorOf(result)).toMatch(new RegExp(`\\b2\\b.*${says.source}`, 's'));
});

staged('revoke-key fails if a wrong base-url answers every path with a 404', async ({ stage }) => {
  const inputs = { 'key-id': '1', 'base-url': 'https://control.test/v2/old/v2', 'ignore-not-found': 'true' };
  const result = await stage.revoke(inputs);
  expect([result.outputs['status'], result.conclusion]).toEqual(['error', 'failure']);
  expect(errorOf(result)).toMatch(/404.*base-url/s);
});

test('revoke-key ends as error, not as not-found, if one key is refused and another is missing', async (context) => {
  const { revoke } = await setKeys(context, 1, { faults: [onDelete(status(403), {})] });
  expectEnd(await revoke({ 'key-id': '2 4711' }), 'error', { kept: ['2'], missing: ['4711'] });
});

describe.for(['revoke-key', 'sweep-keys'] as const)('%s with several keys', (mode) => {
  /** Starts a step that revokes all given keys. A sweep also sees the key of its own run, and keeps it. */
  const start = ({ startMode }: Stage, ids: readonly string[], timeout = '10m') =>
    startMode(mode, mode === 'revoke-key' ? { 'key-id': ids.join(), timeout } : { timeout });
  const keptWith = (ids: readonly string[], own: string) => (mode === 'revoke-key' ? ids : [...ids, own]);
  const setOver = async (context: TestContext, count: number, options: StageOptions) => {
    const stage = await setKeys(context, count, options);
    stage.runs.set('11', { attempt: 1, isCompleted: true });
    return stage;
  };

  test('continues after a failure, and then names each key that may be alive', async (context) => {
    const faults = [
      { path: '/api_keys/3', fault: status(403) },
      { path: '/api_keys/5', fault: status(503) },
      { path: '/api_keys/6', fault: status(404, { done: 'now' }) } as const,
    ];
    const stage = await setOver(context, 12, { faults });
    const own = stage.addKey(ownRun);
    const result = await start(stage, stage.ids).done;
    const revoked = stage.ids.filter((id) => !['3', '5'].includes(id));
    expectRevocations(result, mode, 'error', { revoked, kept: keptWith(['3', '5'], own) });
    expect(stage.aliveIds()).toEqual(['1', '3', '5', own]);
    expect(errorOf(result)).toMatch(/2 of 12 keys/);
    expect(errorOf(result)).toMatch(/\b3\b.*The service says 403\..*FAULT.*req-\d+/);
    expect(errorOf(result)).toMatch(/\b5\b.*The service says 503\..*FAULT.*req-\d+/);
  });

  test.for([
    ['a cancel', 'cancelled', 7_000],
    ['the deadline', 'error', 4_000],
  ] as const)('reports the keys that it revoked before %s', async ([end, verdict, ms], context) => {
    const isCancel = end === 'a cancel';
    const stage = await setOver(context, 8, { faults: [onDelete({ ...hang, done: 'never' }, { from: 3 })] });
    const own = stage.addKey(ownRun);
    const step = start(stage, stage.ids, isCancel ? '10m' : `${ms}ms`);
    if (isCancel) stage.after(ms, () => void step.cancel());
    const result = await step.done;
    const kept = stage.ids.slice(2);
    expectRevocations(result, mode, verdict, { revoked: stage.ids.slice(0, 2), kept: keptWith(kept, own) });
    expect([result.exitCode, result.conclusion]).toEqual([1, isCancel ? 'cancelled' : 'failure']);
    expect(result.ms).toEqual(between(ms, ms + 2 * second));
    if (isCancel) {
      expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
      expect(result.summary).toMatch(/^### 🚫 .*Cancelled: 2 revoked/);
    } else {
      for (const id of kept.slice(0, 3)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
      expect(errorOf(result)).toMatch(/timeout/);
    }
  });
});

test('revoke-key repeats a DELETE only after the Retry-After of its 503', async (context) => {
  const { revoke, service } = await setKeys(context, 1, { faults: [onDelete(retryAfter(503, 20))] });
  expectEnd(await revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
  const [first = 0, next = 0] = service.requests.filter(({ method }) => method === 'DELETE').map(({ at }) => at);
  expect(next - first).toBeGreaterThanOrEqual(20 * second);
});

test('the error of revoke-key tells the latest failure of a DELETE', async (context) => {
  const faults = [onDelete(retryAfter(429, 1)), onDelete(status(500), { from: 2 })];
  const { revoke } = await setKeys(context, 1, { faults });
  const result = await revoke({ 'key-id': '2' });
  expectEnd(result, 'error', { kept: ['2'] });
  expect(errorOf(result)).toMatch(/status 500/);
  expect(result.ms).toBeLessThan(60 * second);
});
