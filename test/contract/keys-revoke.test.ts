import { describe, expect, type TestContext, test } from 'vitest';
import type { Exchange } from '../../control-plane/index.js';
import { hang, lost, onDelete, onList, retryAfter, status } from '../kit/fault.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { expectRevocationOutputs } from '../kit/revocation-outputs.js';
import { errorOf, noticesOf, type StageOptions, setStage, warningsOf } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';

/** A stage with keys beside the one in use, whose id is 1; theirs count up from 2. */
async function setKeys(context: TestContext, count: number, options: StageOptions = {}) {
  const stage = await setStage(context, options);
  const ids = Array.from({ length: count }, (_, n) => stage.service.plane.addKey(`key-${n}`).id);
  const revoke = (inputs: StepOptions['inputs'], more?: Omit<StepOptions, 'inputs'>) =>
    stage.runMode('revoke-key', inputs, more);
  const requestsTo = (endpoint: Exchange['endpoint']) =>
    stage.service.requests.filter((request) => request.endpoint === endpoint);
  return { ...stage, ids, revoke, requestsTo, aliveIds: () => stage.service.plane.aliveKeys().map(({ id }) => id) };
}

/** Outputs, result-file and conclusion agree. */
function expectEnd(
  result: StepResult,
  status: string,
  { revoked = [], gone = [], kept = [] }: Readonly<Partial<Record<'revoked' | 'gone' | 'kept', readonly string[]>>>,
): void {
  expectRevocationOutputs(result, 'revoke-key', status, { revoked, kept }, { gone_key_ids: gone });
  expect(result.conclusion).toBe(status === 'revoked' || status === 'gone' ? 'success' : 'failure');
}

describe('keys by id', () => {
  const lists: Readonly<Record<string, (ids: readonly string[]) => string>> = {
    commas: (ids) => ids.join(','),
    lines: (ids) => `\n${ids.join('\n')}\n`,
    'commas, blanks and lines': ([first, second, third]) => `${first} ,${second}\r\n,\t${third},`,
    'an array of numbers': (ids) => `[${ids.join(', ')}]`,
    'an array of texts': (ids) => JSON.stringify(ids, undefined, 2),
    'one of them twice': ([first, second, third]) => [first, second, first, third].join(','),
    'leading zeros': ([first, second, third]) => `00${first} ${second} ${third}`,
  };
  test.for(['100', '12345678901234567890123'])(
    'from %s are revoked with one request each, however they are separated',
    async (firstKeyId, context) => {
      for (const [how, write] of Object.entries(lists)) {
        const { service, ids, revoke, aliveIds } = await setKeys(context, 3, { firstKeyId });
        const other = service.plane.addKey('other').id;
        const result = await revoke({ 'key-id': write(ids) });
        expectEnd(result, 'revoked', { revoked: ids });
        expect(aliveIds()).toEqual([firstKeyId, other]);
        const requests = service.requests.map(({ method, path }) => `${method} ${path}`);
        expect(requests.sort(), how).toEqual(ids.map((id) => `DELETE /v2/api_keys/${id}`).sort());
        expect(warningsOf(result)).toEqual([]);
        expect(result.masks).toEqual([service.apiKey]);
      }
    },
  );

  test('are revoked at most six at once, and the summary names fifty, without addresses', async (context) => {
    const stage = await setKeys(context, 60, { faults: [{ fault: { kind: 'delay', ms: 60 } }] });
    const { plane, requests } = stage.service;
    for (const key of plane.aliveKeys()) Object.assign(key, { lastUsedAt: 0, lastUsedFrom: '203.0.113.77' });
    const result = await stage.revoke({ 'key-id': stage.ids.join() }, { debug: true });
    expectEnd(result, 'revoked', { revoked: stage.ids });
    expect(maxConcurrent(requests)).toBe(6);
    expect(requests).toHaveLength(60);
    expect(result.summary).toMatch(/^### ✅/);
    expect(result.summary).toContain(`<code>${stage.ids[0]}</code>`);
    expect(result.summary.match(/<tr>/g)).toHaveLength(51);
    expect(result.summary).toMatch(/10 more/);
    expect(result.output + result.summary).not.toContain('203.0.113.77');
  });

  test.for(['[]', ' [ ] '])('an empty list %j is a success with a notice', async (list, context) => {
    const { service, revoke } = await setKeys(context, 1);
    const result = await revoke({ 'key-id': list });
    expectEnd(result, 'gone', {});
    expect(noticesOf(result)).toHaveLength(1);
    expect(service.requests).toEqual([]);
  });
});

describe('a key by name', () => {
  test('is revoked if the name is exactly the same; once no key has the name, it is already gone', async (context) => {
    const stage = await setKeys(context, 0);
    const { plane } = stage.service;
    const name = 'shop (deploy) *';
    const similar = [`${name}2`, 'Shop (deploy) *', 'shop (deploy) ', 'shop (deploy) all', '*', ''].map(
      (one) => plane.addKey(one).id,
    );
    plane.revokeKey(plane.addKey(name).id);
    const { id } = plane.addKey(name);
    expectEnd(await stage.revoke({ 'key-name': name }), 'revoked', { revoked: [id] });
    expect(stage.service.requests).toHaveLength(2);
    const again = await stage.revoke({ 'key-name': name });
    expectEnd(again, 'gone', {});
    expect(noticesOf(again)).toEqual([expect.stringContaining(name)]);
    expect(stage.aliveIds()).toEqual(['1', ...similar]);
  });

  test('that several keys share is an error that lists their ids, and nothing is revoked', async (context) => {
    const stage = await setKeys(context, 2, { firstKeyId: '9007199254740993' });
    const ids = [1, 2, 3].map(() => stage.service.plane.addKey('shop').id);
    const result = await stage.revoke({ 'key-name': 'shop' });
    expect(result.outputs['status']).toBe('error');
    for (const text of [...ids, 'key-id']) expect(errorOf(result)).toContain(text);
    expect(stage.requestsTo('revoke-key')).toEqual([]);
    expect(stage.aliveIds()).toHaveLength(6);
  });

  test.for(['key-0', 'key-1'])('is an error with an incomplete list, that of key-0: %s', async (name, context) => {
    const stage = await setKeys(context, 2, { notShown: { keysPageSize: 2 } });
    const result = await stage.revoke({ 'key-name': name });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toMatch(new RegExp(`The list of keys is incomplete.*${name}.*key-id`));
    expect(stage.requestsTo('revoke-key')).toEqual([]);
    expect(stage.aliveIds()).toHaveLength(3);
  });
});

describe('a key that is already gone', () => {
  test('is a success, and in neither list of ids; one read of the list serves many', async (context) => {
    const stage = await setKeys(context, 3);
    const [before = '', ...revoked] = stage.ids;
    stage.service.plane.revokeKey(before);
    const gone = [before, ...Array.from({ length: 50 }, (_, n) => String(1000 + n))];
    const onlyGone = await stage.revoke({ 'key-id': gone.join() });
    expectEnd(onlyGone, 'gone', { gone });
    expect(warningsOf(onlyGone)).toEqual([]);
    expect(stage.requestsTo('list-keys')).toHaveLength(1);
    expectEnd(await stage.revoke({ 'key-id': [...gone, ...revoked].join() }), 'revoked', { revoked, gone });
  });

  test('the response revoked: true counts as revoked, also for one that was revoked before', async (context) => {
    const stage = await setKeys(context, 1, { notShown: { revokedAgain: 'revoked' } });
    stage.service.plane.revokeKey(stage.ids[0] ?? '');
    expectEnd(await stage.revoke({ 'key-id': stage.ids[0] }), 'revoked', { revoked: stage.ids });
  });
});

// `test/unit/keys/revocation.test.ts` shows what else is no proof.
describe('a response without revoked: true', () => {
  const bodies = ['', ' \r\n', '{}', 'null', '"deleted"', '{"deleted":true}', '{"revoked":"yes"}', 'OK'];
  const unconfirmed = [...bodies.map((body) => [200, body] as const), [202, ''] as const, [204, ''] as const];

  test('counts only if the list that is read after it lacks the key', async (context) => {
    const stage = await setKeys(context, 2 * unconfirmed.length);
    const [revoked, kept] = [stage.ids.slice(0, unconfirmed.length), stage.ids.slice(unconfirmed.length)];
    for (const [n, [code, body]] of unconfirmed.entries()) {
      stage.service.faults.add({ path: `/api_keys/${revoked[n]}`, nth: 1, fault: status(code, { body, done: 'now' }) });
      stage.service.faults.add({ path: `/api_keys/${kept[n]}`, fault: status(code, { body, done: 'never' }) });
    }
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'error', { revoked, kept });
    expect(stage.aliveIds()).toEqual(['1', ...kept]);
  });

  test('a 404 and an incomplete list do not show that the key is gone', async (context) => {
    const stage = await setKeys(context, 1, { notShown: { keysPageSize: 1 } });
    const result = await stage.revoke({ 'key-id': '4711' });
    expectEnd(result, 'error', { kept: ['4711'] });
    expect(errorOf(result)).toMatch(/4711 .*404.*list of keys is incomplete/);
  });

  test('a 404 from a wrong base-url is not taken as revoked', async (context) => {
    const stage = await setKeys(context, 2);
    const result = await stage.revoke({ 'key-id': stage.ids.join(), 'base-url': `${stage.service.baseUrl}/old/v2` });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result)).toContain('base-url');
    expect(stage.aliveIds()).toHaveLength(3);
  });

  test('a 404 that the list contradicts is retried, and its error shows what the service said', async (context) => {
    const notFound = onDelete(status(404), {});
    const twice = await setKeys(context, 1, { faults: [{ ...notFound, count: 2 }] });
    expectEnd(await twice.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
    const always = await setKeys(context, 1, { faults: [notFound] });
    const result = await always.revoke({ 'key-id': '2' });
    expectEnd(result, 'error', { kept: ['2'] });
    expect(errorOf(result)).toMatch(/\b2\b.*404.*The service says 404\..*request id req-\d+/);
    expect(result.summary).toMatch(/^### ❌/);
  });

  test('a list that fails once is read again', async (context) => {
    const stage = await setKeys(context, 0, { faults: [onList(status(503), { nth: 1 })] });
    expectEnd(await stage.revoke({ 'key-id': '4711' }), 'gone', { gone: ['4711'] });
  });
});

test.for([lost, hang])(
  'a 404 after a lost response shows that the key is revoked, without the list: %o',
  async (fault, context) => {
    const stage = await setKeys(context, 1, { faults: [onDelete(fault)] });
    expectEnd(await stage.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
    expect(stage.service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'revoke-key']);
  },
);

describe('a failure', () => {
  test('of one key does not stop the others, and the error names each', async (context) => {
    const faults = [403, 503].map((code, n) => ({ path: `/api_keys/${3 + 2 * n}`, fault: status(code) }));
    const stage = await setKeys(context, 6, { faults });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { revoked: ['2', '4', '6', '7'], kept: ['3', '5'] });
    expect(stage.aliveIds()).toEqual(['1', '3', '5']);
    expect(errorOf(result)).toMatch(/2 of 6 keys/);
    for (const [id, code, attempts] of [
      ['3', 403, 1],
      ['5', 503, 5],
    ] as const) {
      const says = `\\b${id}\\b.*status ${code}.*The service says ${code}\\..*code FAULT.*request id req-\\d+`;
      expect(errorOf(result)).toMatch(new RegExp(says));
      expect(stage.requestsTo('revoke-key').filter(({ path }) => path.endsWith(`/${id}`))).toHaveLength(attempts);
    }
    expect(result.summary).toContain('not revoked');
  });

  test('of many keeps the error readable and kept-key-ids complete', async (context) => {
    const stage = await setKeys(context, 100, { faults: [onDelete(status(403), {})] });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result).length).toBeLessThan(2_000);
    expect(errorOf(result)).toMatch(/100 of 100 keys.*95 more/);
  });
});

// `http.test.ts` shows that a 429 for one key delays the others, and that it is retried until the deadline.
describe('a 429', () => {
  test('that ends after the deadline stops all further requests', async (context) => {
    const faults = [onDelete(retryAfter(429, 3_600), {})];
    const stage = await setKeys(context, 20, { faults, trip: () => 20 });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result)).toMatch(/429.*1h/);
    expect(stage.times()).toHaveLength(6);
  });

  test('that ends after the deadline ends one key at once, and requests already sent still count', async (context) => {
    const stage = await setKeys(context, 3, { faults: [{ path: '/api_keys/3', fault: retryAfter(429, 3_600) }] });
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'error', { revoked: ['2', '4'], kept: ['3'] });
    expect(stage.times().at(-1)).toBe(0);
  });
});

describe('an end in between', () => {
  test.for([
    ['a cancel', 'cancelled', 5_000],
    ['the deadline', 'error', 4_000],
  ] as const)('%s reports what was done until then', async ([what, status, ms], context) => {
    const faults = [onDelete({ kind: 'hang-before-headers', done: 'never' }, { from: 3 })];
    const stage = await setKeys(context, 8, { faults });
    const [revoked, kept] = [stage.ids.slice(0, 2), stage.ids.slice(2)];
    const timeout = what === 'a cancel' ? '10m' : `${ms}ms`;
    const step = stage.startMode('revoke-key', { 'key-id': stage.ids.join(), timeout });
    if (what === 'a cancel') stage.after(ms, () => void step.cancel());
    const result = await step.done;
    expectRevocationOutputs(result, 'revoke-key', status, { revoked, kept });
    expect(result.exitCode).toBe(1);
    expect(result.outputs['duration-ms']).toBe(String(ms));
    if (what === 'a cancel') {
      expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
      expect(result.summary).toMatch(/^### 🚫/);
      expect(result.log + result.summary).toMatch(/cancelled/i);
    } else {
      for (const id of kept.slice(0, 3)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
      expect(errorOf(result)).toMatch(/timeout/);
    }
  });
});
