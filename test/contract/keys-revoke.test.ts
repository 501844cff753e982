import { describe, expect, type TestContext, test } from 'vitest';
import type { Exchange, Fault, FaultRule } from '../../control-plane/index.js';
import { hang, html, lost, onDelete, onList, retryAfter, status, truncated } from '../kit/fault.js';
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
  for (const firstKeyId of ['100', '12345678901234567890123']) {
    test.for(Object.entries(lists))(
      `from ${firstKeyId}, in %s, are revoked with one request each`,
      async ([, write], context) => {
        const { service, ids, revoke, aliveIds } = await setKeys(context, 3, { firstKeyId });
        const other = service.plane.addKey('other').id;
        const result = await revoke({ 'key-id': write(ids) });
        expectEnd(result, 'revoked', { revoked: ids });
        expect(aliveIds()).toEqual([firstKeyId, other]);
        expect(service.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
          ids.map((id) => `DELETE /v2/api_keys/${id}`).sort(),
        );
        expect(warningsOf(result)).toEqual([]);
        expect(result.masks).toEqual([service.apiKey]);
      },
    );
  }

  test.for([200, 204])('are revoked at most six at once (status %i)', async (code, context) => {
    const faults = [{ fault: { kind: 'delay', ms: 60 } as const }];
    const stage = await setKeys(context, 40, { faults, notShown: { successStatus: { 'revoke-key': code } } });
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'revoked', { revoked: stage.ids });
    expect(maxConcurrent(stage.service.requests)).toBe(6);
    expect(stage.requestsTo('revoke-key')).toHaveLength(40);
  });

  test('are named in the summary, without addresses, fifty at most', async (context) => {
    const { service, ids, revoke } = await setKeys(context, 60);
    for (const key of service.plane.aliveKeys()) Object.assign(key, { lastUsedAt: 0, lastUsedFrom: '203.0.113.77' });
    const result = await revoke({ 'key-id': ids.join() }, { debug: true });
    expect(result.summary).toMatch(/^### ✅/);
    expect(result.summary).toContain(`<code>${ids[0]}</code>`);
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
  test('is revoked if the name is exactly the same', async (context) => {
    const stage = await setKeys(context, 0);
    const { plane } = stage.service;
    const name = 'shop (deploy) *';
    const similar = [`${name}2`, 'Shop (deploy) *', 'shop (deploy) ', 'shop (deploy) all', '*', ''].map(
      (one) => plane.addKey(one).id,
    );
    plane.revokeKey(plane.addKey(name).id);
    const { id } = plane.addKey(name);
    expectEnd(await stage.revoke({ 'key-name': name }), 'revoked', { revoked: [id] });
    expect(stage.aliveIds()).toEqual(['1', ...similar]);
    expect(stage.service.requests).toHaveLength(2);
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

  test('that no key has is already gone', async (context) => {
    const stage = await setKeys(context, 2);
    const result = await stage.revoke({ 'key-name': 'key-' });
    expectEnd(result, 'gone', {});
    expect(noticesOf(result)).toEqual([expect.stringContaining('key-')]);
    expect(stage.aliveIds()).toHaveLength(3);
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
  test.for([
    ['never existed', '4711'],
    ['was revoked before', '2'],
  ] as const)('one that %s is a success, verified against the list', async ([, id], context) => {
    const stage = await setKeys(context, 1);
    stage.service.plane.revokeKey(id);
    const result = await stage.revoke({ 'key-id': id });
    expectEnd(result, 'gone', { gone: [id] });
    expect(stage.service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'list-keys']);
    expect(warningsOf(result)).toEqual([]);
  });

  test('the response revoked: true counts as revoked, also for one that was revoked before', async (context) => {
    const stage = await setKeys(context, 1, { notShown: { revokedAgain: 'revoked' } });
    stage.service.plane.revokeKey(stage.ids[0] ?? '');
    expectEnd(await stage.revoke({ 'key-id': stage.ids[0] }), 'revoked', { revoked: stage.ids });
  });

  test('is in neither list of ids, and one read of the list serves many', async (context) => {
    const stage = await setKeys(context, 2);
    const gone = Array.from({ length: 50 }, (_, n) => String(1000 + n));
    const result = await stage.revoke({ 'key-id': [...gone, ...stage.ids].join() });
    expectEnd(result, 'revoked', { revoked: stage.ids, gone });
    expect(stage.requestsTo('list-keys').length).toBeLessThanOrEqual(2);
  });

  test('is not confirmed by an incomplete list', async (context) => {
    const stage = await setKeys(context, 1, { notShown: { keysPageSize: 1 } });
    const result = await stage.revoke({ 'key-id': '4711' });
    expectEnd(result, 'error', { kept: ['4711'] });
    expect(errorOf(result)).toMatch(/4711 .*404.*list of keys is incomplete/);
  });

  test('lets the post step of its create-key succeed without a word', async (context) => {
    const stage = await setKeys(context, 0);
    const created = await stage.runMode('create-key');
    expectEnd(await stage.revoke({ 'key-id': created.outputs['key-id'] }), 'revoked', { revoked: ['2'] });
    const post = await stage.runPost(created);
    expect(post.conclusion).toBe('success');
    expect(post.annotations).toEqual([]);
  });
});

describe('a response without revoked: true', () => {
  const bodies = ['', ' \r\n', '{}', 'null', '"deleted"', '{"deleted":true}', '{"revoked":"yes"}', 'OK'];
  const responses = [...bodies.map((body) => [200, body] as const), [202, ''] as const, [204, ''] as const];

  test.for(responses)('%i with the body %j counts only if the list lacks it', async ([code, body], context) => {
    for (const done of ['now', 'never'] as const) {
      const fault = status(code, { body, done });
      const nth = done === 'now' ? { nth: 1 } : {};
      const stage = await setKeys(context, 2, { faults: [{ path: '/api_keys/2', ...nth, fault }] });
      const result = await stage.revoke({ 'key-id': '2' });
      if (done === 'now') expectEnd(result, 'revoked', { revoked: ['2'] });
      else expectEnd(result, 'error', { kept: ['2'] });
      expect(stage.aliveIds()).toEqual(done === 'now' ? ['1', '3'] : ['1', '2', '3']);
    }
  });

  test('each key is looked up after its own DELETE', async (context) => {
    const faults = [{ path: '/api_keys/4', fault: status(204, { body: '' }) }];
    const stage = await setKeys(context, 6, { faults, notShown: { successStatus: { 'revoke-key': 204 } } });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { revoked: ['2', '3', '5', '6', '7'], kept: ['4'] });
    expect(stage.aliveIds()).toEqual(['1', '4']);
  });

  const notFound = onDelete(status(404), {});
  // `test/unit/keys/revocation.test.ts` has more of them.
  test.for<[what: string, ...faults: FaultRule[]]>([
    ['404 while the list shows the key', notFound],
    ['404 and an HTML page', notFound, onList(html)],
    ['404 and a list that is always truncated', notFound, onList(truncated)],
    ['404 to every request', { fault: status(404) }],
    ['an HTML page with 200', onDelete(html, {})],
    ['revoked: true of another key', onDelete(status(200, { body: '{"id":9,"name":"shop","revoked":true}' }), {})],
    ['revoked: true with 422', onDelete(status(422, { body: '{"id":2,"revoked":true}' }), {})],
  ])('%s does not show that the key is gone', async ([, ...faults], context) => {
    const stage = await setKeys(context, 1, { faults });
    const result = await stage.revoke({ 'key-id': '2' });
    expectEnd(result, 'error', { kept: ['2'] });
    expect(errorOf(result)).toMatch(/\b2\b/);
    expect(result.summary).toMatch(/^### ❌/);
    expect(stage.service.plane.isAlive('2')).toBe(true);
  });

  test('a 404 from a wrong base-url is not taken as revoked', async (context) => {
    const stage = await setKeys(context, 2);
    const result = await stage.revoke({ 'key-id': stage.ids.join(), 'base-url': `${stage.service.baseUrl}/old/v2` });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result)).toContain('base-url');
    expect(stage.aliveIds()).toHaveLength(3);
  });

  test('a 404 that the list contradicts is retried, and its error shows what the service said', async (context) => {
    const twice = await setKeys(context, 1, { faults: [{ ...notFound, count: 2 }] });
    expectEnd(await twice.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
    const always = await setKeys(context, 1, { faults: [notFound] });
    expect(errorOf(await always.revoke({ 'key-id': '2' }))).toMatch(/404.*The service says 404\..*request id req-\d+/);
  });
});

describe('a lost response', () => {
  test.for([lost, hang, status(504, { body: '', done: 'now' })])(
    'a 404 after it shows that the key is revoked, without the list: %o',
    async (fault, context) => {
      const stage = await setKeys(context, 1, { faults: [onDelete(fault)] });
      expectEnd(await stage.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
      expect(stage.service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'revoke-key']);
    },
  );

  test.for<[what: string, ...rules: FaultRule[]]>([
    ['a page with 502', onDelete({ ...html, status: 502, done: 'now' })],
    ['a 404 that the list contradicted, and a lost response', onDelete(status(404)), onDelete(lost, { nth: 2 })],
  ])('a 404 after %s is verified against the list', async ([, ...faults], context) => {
    const stage = await setKeys(context, 1, { faults });
    expect((await stage.revoke({ 'key-id': '2' })).conclusion).toBe('success');
    expect(stage.service.plane.isAlive('2')).toBe(false);
    expect(stage.service.requests.at(-1)?.endpoint).toBe('list-keys');
  });

  test.for<Fault>([status(503), { ...lost, done: 'never' }])(
    'a request that fails once is retried, a DELETE like a GET: %o',
    async (fault, context) => {
      const faults = [{ path: '/api_keys/2', nth: 1, fault }, onList(fault, { nth: 1 })];
      const stage = await setKeys(context, 1, { faults });
      expectEnd(await stage.revoke({ 'key-id': '2,4711' }), 'revoked', { revoked: ['2'], gone: ['4711'] });
      expect(stage.requestsTo('list-keys').map((request) => request.fault)).toContain(fault.kind);
    },
  );
});

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

  test('a rejected parent key proves nothing of any key', async (context) => {
    const stage = await setKeys(context, 2);
    const result = await stage.revoke({ 'key-id': stage.ids.join(), 'api-key': 'a-key-of-nobody' });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result)).toMatch(/401.*api-key/s);
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

describe('bad inputs', () => {
  const integers = ['shop', '-5', '0x10', '٣', '5/../6', '[-5]'];
  // What jq before 1.7 makes of an id beyond 2^53 is the id of another key.
  const rounded = ['[1.5]', '[9.007199254740993e15]', '[1e23]', '[9007199254740993.0]'];
  test.for<[inputs: Readonly<Record<string, string>>, message: RegExp]>([
    [{ 'key-id': '5', 'key-name': 'shop' }, /key-id: .*key-name/],
    [{}, /key-id: is empty.*key-name.*Check the expression/],
    [{ 'key-id': ' ,\n, ' }, /key-id: .*is empty/],
    [{ 'key-id': 'null' }, /key-id: .*“null” .*failed jq/],
    [{ 'key-id': '5,undefined' }, /key-id: .*item 2: “undefined”.*failed jq/],
    [{ 'key-id': '["None"]' }, /key-id: .*“None” .*failed jq/],
    [{ 'key-id': '[5,null]' }, /key-id: .*item 2 .*jq/],
    ...integers.map((id): [Record<string, string>, RegExp] => [{ 'key-id': id }, /key-id: .*integer/]),
    ...rounded.map((id): [Record<string, string>, RegExp] => [{ 'key-id': id }, /key-id: /]),
    [{ 'key-id': '[5' }, /key-id: .*JSON array/],
    [{ 'key-id': '[{"id":5}]' }, /key-id: .*item 1 .*\.\[\]\.id/],
    [{ 'key-name': 'null' }, /key-name: “null” .*failed jq/],
    [{ 'key-name': 'None' }, /key-name: “None” .*failed jq/],
  ])('%o are rejected, and nothing is sent', async ([inputs, message], context) => {
    const { service, revoke } = await setKeys(context, 8);
    const result = await revoke(inputs);
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toMatch(message);
    expect(service.requests).toEqual([]);
  });

  test('a response of the API in key-id is rejected without the secret in it', async (context) => {
    const { service, revoke } = await setKeys(context, 0);
    const { key } = service.plane.addKey('shop');
    for (const response of [{ key, id: 5 }, { id: 5, key }, [{ key, id: 5 }]]) {
      const result = await revoke({ 'key-id': JSON.stringify(response, undefined, 2) });
      expect(errorOf(result)).toContain('key-id');
      expect(result.output + result.summary).not.toContain(key.slice(0, 12));
    }
    expect(service.requests).toEqual([]);
  });
});
