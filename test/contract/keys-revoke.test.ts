import { describe, expect, type TestContext, test } from 'vitest';
import type { Exchange, Fault, FaultRule } from '../control-plane/index.js';
import { maxConcurrent } from '../kit/max-concurrent.js';
import { expectRevocationOutputs } from '../kit/revocation-outputs.js';
import { errorOf, noticesOf, type Stage, type StageOptions, setStage, warningsOf } from '../kit/stage.js';
import type { StepOptions, StepResult } from '../runner/step.js';

/** A stage with keys beside the one in use, whose id is 1; theirs count up from 2. */
async function setKeys(context: TestContext, count: number, options: StageOptions = {}) {
  const stage = await setStage(context, options);
  const ids = Array.from({ length: count }, (_, n) => stage.service.plane.addKey(`key-${n}`).id);
  const revoke = (inputs: StepOptions['inputs'], more?: Omit<StepOptions, 'inputs'>) =>
    stage.runMode('revoke-key', inputs, more);
  return { ...stage, ids, revoke };
}

function requestsTo({ service }: Pick<Stage, 'service'>, endpoint: Exchange['endpoint']): Exchange[] {
  return service.requests.filter((request) => request.endpoint === endpoint);
}

function aliveIds({ service }: Pick<Stage, 'service'>): string[] {
  return service.plane.aliveKeys().map(({ id }) => id);
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
        const { service, ids, revoke } = await setKeys(context, 3, { firstKeyId });
        const other = service.plane.addKey('other').id;
        const result = await revoke({ 'key-id': write(ids) });
        expectEnd(result, 'revoked', { revoked: ids });
        expect(aliveIds({ service })).toEqual([firstKeyId, other]);
        expect(service.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
          ids.map((id) => `DELETE /v2/api_keys/${id}`).sort(),
        );
        expect(warningsOf(result)).toEqual([]);
        expect(result.masks).toEqual([service.apiKey]);
      },
    );
  }

  test.for([200, 204])('are revoked at most six at once (status %i)', async (status, context) => {
    const faults: FaultRule[] = [{ fault: { kind: 'delay', ms: 60 } }];
    const stage = await setKeys(context, 40, { faults, notShown: { successStatus: { 'revoke-key': status } } });
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'revoked', { revoked: stage.ids });
    expect(maxConcurrent(stage.service.requests)).toBe(6);
    expect(requestsTo(stage, 'revoke-key')).toHaveLength(40);
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
    expect(aliveIds(stage)).toEqual(['1', ...similar]);
    expect(stage.service.requests).toHaveLength(2);
  });

  test('that several keys share is an error that lists their ids, and nothing is revoked', async (context) => {
    const stage = await setKeys(context, 2, { firstKeyId: '9007199254740993' });
    const ids = [1, 2, 3].map(() => stage.service.plane.addKey('shop').id);
    const result = await stage.revoke({ 'key-name': 'shop' });
    expect(result.outputs['status']).toBe('error');
    for (const text of [...ids, 'key-id']) expect(errorOf(result)).toContain(text);
    expect(requestsTo(stage, 'revoke-key')).toEqual([]);
    expect(aliveIds(stage)).toHaveLength(6);
  });

  test('that no key has is already gone', async (context) => {
    const stage = await setKeys(context, 2);
    const result = await stage.revoke({ 'key-name': 'key-' });
    expectEnd(result, 'gone', {});
    expect(noticesOf(result)).toEqual([expect.stringContaining('key-')]);
    expect(aliveIds(stage)).toHaveLength(3);
  });

  const unusable: readonly Fault[] = [
    { kind: 'status', status: 200, body: '{"api_keys":[]}' },
    { kind: 'html' },
    { kind: 'status', status: 201, body: '[]' },
    { kind: 'status', status: 204, body: '' },
    { kind: 'cut-mid-body' },
    { kind: 'status', status: 403 },
    { kind: 'status', status: 404 },
  ];
  test.for(unusable)('is not taken for gone after an unusable list: %o', async (fault, context) => {
    const stage = await setKeys(context, 0, { faults: [{ endpoint: 'list-keys', fault }] });
    const result = await stage.revoke({ 'key-name': 'shop' });
    expect(result.outputs['status']).toBe('error');
    expect(errorOf(result)).toContain('GET /v2/api_keys');
    expect(requestsTo(stage, 'revoke-key')).toEqual([]);
  });

  test.for([0, 1])(
    'that an incomplete list shows %i times is an error, because a key of that name may be missing',
    async (index, context) => {
      const stage = await setKeys(context, 2, { notShown: { keysPageSize: 2 } });
      const name = `key-${index}`;
      const result = await stage.revoke({ 'key-name': name });
      expect(result.outputs['status']).toBe('error');
      expect(errorOf(result)).toMatch(new RegExp(`The list of keys is incomplete.*${name}.*key-id`));
      expect(requestsTo(stage, 'revoke-key')).toEqual([]);
      expect(aliveIds(stage)).toHaveLength(3);
    },
  );
});

describe('a key that is already gone', () => {
  test.for(['never existed', 'was revoked before'])(
    'one that %s is a success, verified against the list',
    async (what, context) => {
      const stage = await setKeys(context, 1);
      const id = what === 'never existed' ? '4711' : (stage.ids[0] ?? '');
      stage.service.plane.revokeKey(id);
      const result = await stage.revoke({ 'key-id': id });
      expectEnd(result, 'gone', { gone: [id] });
      expect(stage.service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'list-keys']);
      expect(warningsOf(result)).toEqual([]);
    },
  );

  test('the response revoked: true counts as revoked, also for one that was revoked before', async (context) => {
    const stage = await setKeys(context, 1, { notShown: { revokedAgain: 'revoked' } });
    stage.service.plane.revokeKey(stage.ids[0] ?? '');
    expectEnd(await stage.revoke({ 'key-id': stage.ids[0] }), 'revoked', { revoked: stage.ids });
  });

  test('is in neither list of ids, and one read of the list serves many', async (context) => {
    const stage = await setKeys(context, 2);
    const gone = Array.from({ length: 50 }, (_, n) => String(1000 + n));
    expectEnd(await stage.revoke({ 'key-id': [...gone, ...stage.ids].join() }), 'revoked', {
      revoked: stage.ids,
      gone,
    });
    expect(requestsTo(stage, 'list-keys').length).toBeLessThanOrEqual(2);
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

  test.for(responses)(
    '%i with the body %j counts only if the list no longer shows the key',
    async ([status, body], context) => {
      for (const done of ['now', 'never'] as const) {
        const fault: Fault = { kind: 'status', status, body, done };
        const nth = done === 'now' ? { nth: 1 } : {};
        const stage = await setKeys(context, 2, { faults: [{ path: '/api_keys/2', ...nth, fault }] });
        const result = await stage.revoke({ 'key-id': '2' });
        if (done === 'now') expectEnd(result, 'revoked', { revoked: ['2'] });
        else expectEnd(result, 'error', { kept: ['2'] });
        expect(aliveIds(stage)).toEqual(done === 'now' ? ['1', '3'] : ['1', '2', '3']);
      }
    },
  );

  test('each key is looked up after its own DELETE', async (context) => {
    const faults: FaultRule[] = [{ path: '/api_keys/4', fault: { kind: 'status', status: 204, body: '' } }];
    const stage = await setKeys(context, 6, { faults, notShown: { successStatus: { 'revoke-key': 204 } } });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { revoked: ['2', '3', '5', '6', '7'], kept: ['4'] });
    expect(aliveIds(stage)).toEqual(['1', '4']);
  });

  const notFound: FaultRule = { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } };
  const ofRevoke = (fault: Fault): FaultRule[] => [{ endpoint: 'revoke-key', fault }];
  const proofless: Readonly<Record<string, readonly FaultRule[]>> = {
    '404 while the list shows the key': [notFound],
    '404 as an HTML page': ofRevoke({ kind: 'html', status: 404 }),
    '404 and a list that is no array': [
      notFound,
      { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '{"keys":[]}' } },
    ],
    '404 and an empty list with 201': [
      notFound,
      { endpoint: 'list-keys', fault: { kind: 'status', status: 201, body: '[]' } },
    ],
    '404 and a list without a body': [
      notFound,
      { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '' } },
    ],
    '404 and an HTML page': [notFound, { endpoint: 'list-keys', fault: { kind: 'html' } }],
    '404 and a list of other records': [
      notFound,
      { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '[{"name":"shop"}]' } },
    ],
    '404 to every request': [{ fault: { kind: 'status', status: 404 } }],
    '404 and a list that is always truncated': [notFound, { endpoint: 'list-keys', fault: { kind: 'cut-mid-body' } }],
    '401': ofRevoke({ kind: 'status', status: 401 }),
    '410': ofRevoke({ kind: 'status', status: 410 }),
    'an HTML page with 200': ofRevoke({ kind: 'html' }),
    'a redirect': ofRevoke({ kind: 'redirect', location: '/v2/login' }),
    'revoked: false': ofRevoke({ kind: 'status', status: 200, body: '{"revoked":false}' }),
    'revoked: true of another key': ofRevoke({
      kind: 'status',
      status: 200,
      body: '{"id":9,"name":"shop","revoked":true}',
    }),
    'revoked: true with 422': ofRevoke({ kind: 'status', status: 422, body: '{"id":2,"revoked":true}' }),
  };
  test.for(Object.entries(proofless))('%s does not show that the key is gone', async ([, faults], context) => {
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
    expect(aliveIds(stage)).toHaveLength(3);
  });

  test('a 404 that the list contradicts is retried, and its error shows what the service said', async (context) => {
    const twice = await setKeys(context, 1, { faults: [{ ...notFound, count: 2 }] });
    expectEnd(await twice.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
    const always = await setKeys(context, 1, { faults: [notFound] });
    expect(errorOf(await always.revoke({ 'key-id': '2' }))).toMatch(/404.*The service says 404\..*request id req-\d+/);
  });
});

describe('a lost response', () => {
  const lost: readonly Fault[] = [
    { kind: 'cut-before-headers' },
    { kind: 'hang-before-headers' },
    { kind: 'status', status: 504, body: '', done: 'now' },
  ];
  test.for(lost)('a 404 after it shows that the key is revoked, without the list: %o', async (fault, context) => {
    const stage = await setKeys(context, 1, { faults: [{ endpoint: 'revoke-key', nth: 1, fault }] });
    expectEnd(await stage.revoke({ 'key-id': '2' }), 'revoked', { revoked: ['2'] });
    expect(stage.service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'revoke-key']);
  });

  const doubtful: Readonly<Record<string, FaultRule[]>> = {
    'a page with 502': [{ nth: 1, fault: { kind: 'html', status: 502, done: 'now' } }],
    'a 404 that the list contradicted, and a lost response': [
      { nth: 1, fault: { kind: 'status', status: 404 } },
      { nth: 2, fault: { kind: 'cut-before-headers' } },
    ],
  };
  test.for(Object.entries(doubtful))('a 404 after %s is verified against the list', async ([, rules], context) => {
    const stage = await setKeys(context, 1, { faults: rules.map((rule) => ({ endpoint: 'revoke-key', ...rule })) });
    expect((await stage.revoke({ 'key-id': '2' })).conclusion).toBe('success');
    expect(stage.service.plane.isAlive('2')).toBe(false);
    expect(stage.service.requests.at(-1)?.endpoint).toBe('list-keys');
  });

  test.for([
    { kind: 'status', status: 503 },
    { kind: 'cut-before-headers', done: 'never' },
  ] as Fault[])('a request that fails once is retried, a DELETE like a GET: %o', async (fault, context) => {
    const stage = await setKeys(context, 1);
    stage.service.faults.add({ path: '/api_keys/2', nth: 1, fault });
    stage.service.faults.add({ endpoint: 'list-keys', nth: 1, fault });
    expectEnd(await stage.revoke({ 'key-id': '2,4711' }), 'revoked', { revoked: ['2'], gone: ['4711'] });
    expect(requestsTo(stage, 'list-keys').map((request) => request.fault)).toContain(fault.kind);
  });
});

describe('a failure', () => {
  test('of one key does not stop the others, and the error names each', async (context) => {
    const faults = [403, 503].map((status, n) => ({
      path: `/api_keys/${3 + 2 * n}`,
      fault: { kind: 'status', status } as const,
    }));
    const stage = await setKeys(context, 6, { faults });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { revoked: ['2', '4', '6', '7'], kept: ['3', '5'] });
    expect(aliveIds(stage)).toEqual(['1', '3', '5']);
    expect(errorOf(result)).toMatch(/2 of 6 keys/);
    expect(errorOf(result)).toMatch(/\b3\b.*status 403.*The service says 403\..*code FAULT.*request id req-\d+/);
    expect(errorOf(result)).toMatch(/\b5\b.*status 503.*The service says 503\..*code FAULT.*request id req-\d+/);
    expect(result.summary).toContain('not revoked');
    const attempts = (id: string) =>
      requestsTo(stage, 'revoke-key').filter(({ path }) => path.endsWith(`/${id}`)).length;
    expect([attempts('3'), attempts('5')]).toEqual([1, 5]);
  });

  test('of many keeps the error readable and kept-key-ids complete', async (context) => {
    const stage = await setKeys(context, 100, {
      faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } }],
    });
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

describe('a 429', () => {
  const anHour: Fault = { kind: 'status', status: 429, retryAfter: { seconds: 3600 } };

  test('for one key delays the remaining keys', async (context) => {
    const throttled: Fault = { kind: 'status', status: 429, retryAfter: { seconds: 10 } };
    const faults: FaultRule[] = [
      { endpoint: 'revoke-key', nth: 1, fault: throttled },
      { fault: { kind: 'delay', ms: 100 } },
    ];
    const stage = await setKeys(context, 9, { faults, trip: () => 20 });
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'revoked', { revoked: stage.ids });
    // Six are sent at once, before the first response.
    expect(stage.times().filter((time) => time < 10_000)).toHaveLength(6);
    expect(stage.times()).toHaveLength(10);
  });

  test('that ends after the deadline stops all further requests', async (context) => {
    const faults = [{ endpoint: 'revoke-key', fault: anHour }] as const;
    const stage = await setKeys(context, 20, { faults, trip: () => 20 });
    const result = await stage.revoke({ 'key-id': stage.ids.join() });
    expectEnd(result, 'error', { kept: stage.ids });
    expect(errorOf(result)).toMatch(/429.*1h/);
    expect(stage.times()).toHaveLength(6);
  });

  test('that ends after the deadline ends one key at once, and requests already sent still count', async (context) => {
    const stage = await setKeys(context, 3, { faults: [{ path: '/api_keys/3', fault: anHour }] });
    expectEnd(await stage.revoke({ 'key-id': stage.ids.join() }), 'error', { revoked: ['2', '4'], kept: ['3'] });
    expect(stage.times().at(-1)).toBe(0);
  });

  test('until the deadline: the error shows what the service said', async (context) => {
    const stage = await setKeys(context, 1, {
      faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 429 } }],
    });
    const result = await stage.revoke({ 'key-id': '2', timeout: '30s' });
    expectEnd(result, 'error', { kept: ['2'] });
    expect(errorOf(result)).toMatch(/The service says 429\..*code FAULT.*request id req-\d+/);
    expect(errorOf(result)).toMatch(/timeout/);
  });
});

describe('an end in between', () => {
  /** Of eight keys two are revoked; the requests for the others hang. */
  async function begin(context: TestContext, timeout: string) {
    const faults: FaultRule[] = [
      { endpoint: 'revoke-key', from: 3, fault: { kind: 'hang-before-headers', done: 'never' } },
    ];
    const stage = await setKeys(context, 8, { faults });
    const step = stage.startMode('revoke-key', { 'key-id': stage.ids.join(), timeout });
    return { ...stage, step, revoked: stage.ids.slice(0, 2), kept: stage.ids.slice(2) };
  }

  test('a cancel reports what was done until then', async (context) => {
    const { step, after, revoked, kept } = await begin(context, '10m');
    after(5_000, () => void step.cancel());
    const result = await step.done;
    expectEnd({ ...result, conclusion: 'failure' }, 'cancelled', { revoked, kept });
    expect(result.outputs['duration-ms']).toBe('5000');
    expect(result.annotations.filter(({ source }) => source === 'action')).toEqual([]);
    expect(result.summary).toMatch(/^### 🚫/);
    expect(result.log + result.summary).toMatch(/cancelled/i);
  });

  test('the deadline reports what was done until then', async (context) => {
    const { step, revoked, kept } = await begin(context, '4s');
    const result = await step.done;
    expectEnd(result, 'error', { revoked, kept });
    for (const id of kept.slice(0, 3)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
    expect(errorOf(result)).toMatch(/timeout/);
    expect(result.outputs['duration-ms']).toBe('4000');
  });

  test.for([{ 'key-id': '2' }, { 'key-name': 'key-0' }])(
    'a service that never responds: the error names the timeout (%o)',
    async (inputs, context) => {
      const stage = await setKeys(context, 1, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
      const result = await stage.revoke({ ...inputs, timeout: '7s' });
      expect(result.outputs).toMatchObject({ status: 'error', 'duration-ms': '7000' });
      expect(errorOf(result)).toMatch(/timeout/);
    },
  );
});

describe('bad inputs', () => {
  const bad: readonly [inputs: Readonly<Record<string, string>>, message: RegExp][] = [
    [{ 'key-id': '5', 'key-name': 'shop' }, /key-id: .*key-name/],
    [{}, /key-id: is empty.*key-name.*Check the expression/],
    [{ 'key-id': ' ,\n, ' }, /key-id: .*is empty/],
    [{ 'key-id': 'null' }, /key-id: .*“null” .*failed jq/],
    [{ 'key-id': '5,undefined' }, /key-id: .*item 2: “undefined”.*failed jq/],
    [{ 'key-id': '["None"]' }, /key-id: .*“None” .*failed jq/],
    [{ 'key-id': '[5,null]' }, /key-id: .*item 2 .*jq/],
    ...['shop', '-5', '0x10', '٣', '5/../6', '[-5]'].map(
      (id) => [{ 'key-id': id }, /key-id: .*integer/] as [Record<string, string>, RegExp],
    ),
    // What jq before 1.7 makes of an id beyond 2^53 is the id of another key.
    ...['[1.5]', '[9.007199254740993e15]', '[1e23]', '[9007199254740993.0]'].map(
      (id) => [{ 'key-id': id }, /key-id: /] as [Record<string, string>, RegExp],
    ),
    [{ 'key-id': '[5' }, /key-id: .*JSON array/],
    [{ 'key-id': '[{"id":5}]' }, /key-id: .*item 1 .*\.\[\]\.id/],
    [{ 'key-name': 'null' }, /key-name: “null” .*failed jq/],
    [{ 'key-name': 'None' }, /key-name: “None” .*failed jq/],
    [{ 'key-id': '5', timeout: '0' }, /timeout: “0” .*above 0/],
  ];
  test.for(bad)('%o are rejected, and nothing is sent', async ([inputs, message], context) => {
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
