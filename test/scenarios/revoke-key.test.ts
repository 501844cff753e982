import { expect, type TestContext, test } from 'vitest';
import type { Exchange, Fault, FaultRule, RunningControlPlane } from '../control-plane/index.js';
import type { StepResult } from '../runner/step.js';
import { reach } from './reach.js';
import { quickDice } from './sabotage.js';
import { errorOf, noticesOf, setStage, warningsOf } from './stage.js';

const swiftly = { nodeArgs: quickDice };

/** Keys beside the one in use. */
function addKeys({ plane }: RunningControlPlane, number: number): string[] {
  return Array.from({ length: number }, (_, n) => plane.addKey(`key-${n}`).id);
}

function asked({ requests }: RunningControlPlane, endpoint: Exchange['endpoint']): Exchange[] {
  return requests.filter((request) => request.endpoint === endpoint);
}

/** How many were under way at the same time, at most. */
function mostAtOnce(requests: readonly Exchange[]): number {
  const underWay = ({ at }: Exchange) =>
    requests.filter((other) => other.at <= at && (other.endedAt ?? Number.POSITIVE_INFINITY) > at);
  return Math.max(0, ...requests.map((request) => underWay(request).length));
}

/** The whole end of a step: outputs, file and conclusion agree. */
function expectEnd(
  result: StepResult,
  status: string,
  ids: { readonly revoked?: readonly string[]; readonly gone?: readonly string[]; readonly kept?: readonly string[] },
): void {
  const { revoked = [], gone = [], kept = [] } = ids;
  expect(result.outputs).toEqual({
    status,
    count: String(revoked.length),
    'revoked-key-ids': JSON.stringify(revoked),
    'kept-key-ids': JSON.stringify(kept),
    'result-file': expect.any(String),
    'duration-ms': expect.stringMatching(/^\d+$/),
  });
  expect(JSON.parse(result.readFile(result.outputs['result-file'] ?? ''))).toMatchObject({
    mode: 'revoke-key',
    status,
    revoked_key_ids: revoked,
    gone_key_ids: gone,
    kept_key_ids: kept,
  });
  expect(result.conclusion).toBe(status === 'revoked' || status === 'gone' ? 'success' : 'failure');
}

const lists: Readonly<Record<string, (ids: readonly string[]) => string>> = {
  commas: (ids) => ids.join(','),
  blanks: (ids) => ids.join(' '),
  lines: (ids) => `\n${ids.join('\n')}\n`,
  'commas, blanks and lines': ([first, second, third]) => `${first} ,${second}\r\n,\t${third},`,
  'an array of numbers': (ids) => `[${ids.join(', ')}]`,
  'an array of texts': (ids) => JSON.stringify(ids, undefined, 2),
  'one of them twice': ([first, second, third]) => [first, second, first, third].join(','),
};

for (const [name, write] of Object.entries(lists)) {
  for (const firstKeyId of ['100', '9007199254740991', '12345678901234567890123']) {
    test.concurrent(`ids from ${firstKeyId}: ${name}`, async (context) => {
      const { service, runMode } = await setStage(context, { firstKeyId });
      const ids = addKeys(service, 3);
      const [bystander = ''] = addKeys(service, 1);

      const result = await runMode('revoke-key', { 'key-id': write(ids) });

      expectEnd(result, 'revoked', { revoked: ids });
      expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual([firstKeyId, bystander]);
      expect(service.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
        ids.map((id) => `DELETE /v2/api_keys/${id}`).sort(),
      );
      expect(warningsOf(result)).toEqual([]);
      expect(result.masks).toEqual([service.apiKey]);
    });
  }
}

test.concurrent('leading zeros make no other key', async (context) => {
  const { service, runMode } = await setStage(context, { firstKeyId: 100 });
  const [id = ''] = addKeys(service, 1);
  const result = await runMode('revoke-key', { 'key-id': `00${id} ${id}` });
  expectEnd(result, 'revoked', { revoked: [id] });
  expect(service.requests).toHaveLength(1);
});

test.concurrent('many are revoked side by side, but never more than six', async (context) => {
  const { service, runMode } = await setStage(context, { faults: [{ fault: { kind: 'delay', ms: 60 } }] });
  const ids = addKeys(service, 40);

  const result = await runMode('revoke-key', { 'key-id': ids.join(',') });

  expectEnd(result, 'revoked', { revoked: ids });
  expect(service.requests).toHaveLength(40);
  expect(mostAtOnce(service.requests)).toBeGreaterThan(2);
  expect(mostAtOnce(service.requests)).toBeLessThanOrEqual(6);
});

test.concurrent('nor where each is looked for in the list', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ fault: { kind: 'delay', ms: 40 } }],
    notShown: { successStatus: { 'revoke-key': 204 } },
  });
  const ids = addKeys(service, 20);

  const result = await runMode('revoke-key', { 'key-id': ids.join(',') });

  expectEnd(result, 'revoked', { revoked: ids });
  expect(mostAtOnce(service.requests)).toBeLessThanOrEqual(6);
});

test.concurrent('the summary names each key, and neither it nor the log shows an address', async (context) => {
  const { service, runMode } = await setStage(context);
  const [id = ''] = addKeys(service, 1);
  const key = service.plane.key(id);
  if (key !== undefined) Object.assign(key, { lastUsedAt: Date.now(), lastUsedFrom: '203.0.113.77' });

  const result = await runMode('revoke-key', { 'key-id': id }, { debug: true });

  expect(result.summary).toContain(`<code>${id}</code>`);
  expect(result.summary).toMatch(/^### ✅/);
  expect(result.output + result.summary).not.toContain('203.0.113.77');
});

test.concurrent('the summary of many stays a page', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('revoke-key', { 'key-id': addKeys(service, 60).join(',') });
  expect(result.summary.match(/<tr>/g)).toHaveLength(51);
  expect(result.summary).toMatch(/10 more/);
});

// By name

test.concurrent('a key is revoked by its exact name, and none whose name is like it', async (context) => {
  const { service, runMode } = await setStage(context);
  const name = 'shop (deploy) *';
  const others = ['shop (deploy) *2', 'Shop (deploy) *', 'shop (deploy) ', 'shop (deploy) all', '*', ''];
  const kept = others.map((other) => service.plane.addKey(other).id);
  const { id } = service.plane.addKey(name);

  const result = await runMode('revoke-key', { 'key-name': name });

  expectEnd(result, 'revoked', { revoked: [id] });
  expect(service.plane.aliveKeys().map((key) => key.id)).toEqual(['1', ...kept]);
  expect(service.requests).toHaveLength(2);
});

test.concurrent('a name that several keys bear is an error that lists their ids, and nothing is revoked', async (context) => {
  const { service, runMode } = await setStage(context, { firstKeyId: '9007199254740993' });
  const ids = [1, 2, 3].map(() => service.plane.addKey('shop').id);
  addKeys(service, 2);

  const result = await runMode('revoke-key', { 'key-name': 'shop' });

  expect(result.conclusion).toBe('failure');
  expect(result.outputs).toMatchObject({ status: 'error' });
  for (const id of ids) expect(errorOf(result)).toContain(id);
  expect(errorOf(result)).toContain('key-id');
  expect(asked(service, 'revoke-key')).toEqual([]);
  expect(service.plane.aliveKeys()).toHaveLength(6);
});

test.concurrent('a name that one key bore before is not ambiguous', async (context) => {
  const { service, runMode } = await setStage(context);
  const before = service.plane.addKey('shop');
  service.plane.revokeKey(before.id);
  const { id } = service.plane.addKey('shop');
  const result = await runMode('revoke-key', { 'key-name': 'shop' });
  expectEnd(result, 'revoked', { revoked: [id] });
});

test.concurrent('a name that nobody bears is already gone', async (context) => {
  const { service, runMode } = await setStage(context);
  addKeys(service, 2);

  const result = await runMode('revoke-key', { 'key-name': 'key-' });

  expectEnd(result, 'gone', {});
  expect(noticesOf(result)).toMatchObject([expect.stringContaining('key-')]);
  expect(service.plane.aliveKeys()).toHaveLength(3);
});

for (const [what, fault] of Object.entries({
  'that is no array': { kind: 'status', status: 200, body: '{"api_keys":[]}' },
  'that is a page': { kind: 'html' },
  'that is empty, with 201': { kind: 'status', status: 201, body: '[]' },
  'without a body': { kind: 'status', status: 204, body: '' },
  'that is cut': { kind: 'cut-mid-body' },
  'that is refused': { kind: 'status', status: 403 },
  'that is not found': { kind: 'status', status: 404 },
} satisfies Record<string, Fault>)) {
  test.concurrent(`a list ${what} does not show that a name is gone`, async (context) => {
    const { service, runMode } = await setStage(context, { faults: [{ endpoint: 'list-keys', fault }] });
    const result = await runMode('revoke-key', { 'key-name': 'shop' }, swiftly);
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain('GET /v2/api_keys');
    expect(asked(service, 'revoke-key')).toEqual([]);
  });
}

test.concurrent('a list that announces more does not show that a name is gone, nor that one key alone bears it', async (context) => {
  const { service, runMode } = await setStage(context, { notShown: { keysPageSize: 2 } });
  const shown = service.plane.addKey('shop');
  const unseen = service.plane.addKey('ci');
  for (const { name, id } of [shown, unseen]) {
    const result = await runMode('revoke-key', { 'key-name': name });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(new RegExp(`The list of keys is incomplete.*${name}.*key-id`));
    expect(service.plane.isAlive(id)).toBe(true);
  }
  expect(asked(service, 'revoke-key')).toEqual([]);
});

test.concurrent('a list that announces more does not confirm a 404', async (context) => {
  const { service, runMode } = await setStage(context, { notShown: { keysPageSize: 1 } });
  addKeys(service, 1);
  const result = await runMode('revoke-key', { 'key-id': '4711' });
  expectEnd(result, 'error', { kept: ['4711'] });
  expect(errorOf(result)).toMatch(/4711 .*404.*list of keys is incomplete/);
  expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'list-keys']);
});

// Gone already

test.concurrent('a key that never was is gone', async (context) => {
  const { service, runMode } = await setStage(context);
  const result = await runMode('revoke-key', { 'key-id': '4711' });
  expectEnd(result, 'gone', { gone: ['4711'] });
  expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'list-keys']);
  expect(warningsOf(result)).toEqual([]);
});

test.concurrent('a key that was revoked before is gone', async (context) => {
  const { service, runMode } = await setStage(context, { notShown: { revokedAgain: 'not-found' } });
  const [id = ''] = addKeys(service, 1);
  service.plane.revokeKey(id);
  const result = await runMode('revoke-key', { 'key-id': id });
  expectEnd(result, 'gone', { gone: [id] });
});

test.concurrent('where the service says of such a key once more that it is revoked, it is believed', async (context) => {
  const { service, runMode } = await setStage(context, { notShown: { revokedAgain: 'revoked' } });
  const [id = ''] = addKeys(service, 1);
  service.plane.revokeKey(id);
  const result = await runMode('revoke-key', { 'key-id': id });
  expectEnd(result, 'revoked', { revoked: [id] });
  expect(service.requests).toHaveLength(1);
});

test.concurrent('some gone and some not: those revoked are counted, and the others are in no list', async (context) => {
  const { service, runMode } = await setStage(context);
  const ids = addKeys(service, 4);
  const [first = '', second = '', third = '', fourth = ''] = ids;
  service.plane.revokeKey(first);
  service.plane.revokeKey(third);
  const result = await runMode('revoke-key', { 'key-id': ids.join() });
  expectEnd(result, 'revoked', { revoked: [second, fourth], gone: [first, third] });
});

test.concurrent('one reading of the list serves many that are gone', async (context) => {
  const { service, runMode } = await setStage(context);
  const ids = Array.from({ length: 50 }, (_, n) => String(1000 + n));
  const result = await runMode('revoke-key', { 'key-id': ids.join() });
  expectEnd(result, 'gone', { gone: ids });
  expect(asked(service, 'revoke-key')).toHaveLength(50);
  expect(asked(service, 'list-keys').length).toBeLessThanOrEqual(2);
});

test.concurrent('a post after it finds its key gone, and is quiet', async (context) => {
  const { service, runMode, runPost } = await setStage(context);
  const created = await runMode('create-key');
  const id = created.outputs['key-id'] ?? '';

  const revoked = await runMode('revoke-key', { 'key-id': id });
  const post = await runPost(created);

  expectEnd(revoked, 'revoked', { revoked: [id] });
  expect(post.conclusion).toBe('success');
  expect(post.annotations).toEqual([]);
  expect(service.plane.aliveKeys()).toHaveLength(1);
});

// What a service can say when it has done it

const successes: Readonly<Record<string, Fault>> = {
  '200 without a body': { kind: 'status', status: 200, body: '', done: 'now' },
  '202 without a body': { kind: 'status', status: 202, body: '', done: 'now' },
  '204 without a body': { kind: 'status', status: 204, body: '', done: 'now' },
  '200 with blanks': { kind: 'status', status: 200, body: ' \r\n', done: 'now' },
  '200 with an empty object': { kind: 'status', status: 200, body: '{}', done: 'now' },
  '200 with null': { kind: 'status', status: 200, body: 'null', done: 'now' },
  '200 with a text': { kind: 'status', status: 200, body: '"deleted"', done: 'now' },
  '200 with another word': { kind: 'status', status: 200, body: '{"deleted":true}', done: 'now' },
  '200 with revoked as a text': { kind: 'status', status: 200, body: '{"revoked":"yes"}', done: 'now' },
  '200 with text that is no JSON': { kind: 'status', status: 200, body: 'OK', done: 'now' },
};

for (const [name, fault] of Object.entries(successes)) {
  test.concurrent(`${name} is believed when the list no longer shows the key`, async (context) => {
    const { service, runMode } = await setStage(context, { faults: [{ endpoint: 'revoke-key', nth: 1, fault }] });
    const [id = '', kept = ''] = addKeys(service, 2);
    const result = await runMode('revoke-key', { 'key-id': id }, swiftly);
    expectEnd(result, 'revoked', { revoked: [id] });
    expect(service.plane.isAlive(kept)).toBe(true);
  });

  test.concurrent(`${name} is not believed when the list shows the key`, async (context) => {
    const untrue = { ...fault, done: 'never' } as Fault;
    const { service, runMode } = await setStage(context, { faults: [{ endpoint: 'revoke-key', fault: untrue }] });
    const [id = ''] = addKeys(service, 1);
    const result = await runMode('revoke-key', { 'key-id': id }, swiftly);
    expectEnd(result, 'error', { kept: [id] });
    expect(errorOf(result)).toContain(id);
    expect(service.plane.isAlive(id)).toBe(true);
  });
}

test.concurrent('revoked: true with any status of success needs no list', async (context) => {
  const { service, runMode } = await setStage(context, { notShown: { successStatus: { 'revoke-key': 202 } } });
  const [id = ''] = addKeys(service, 1);
  const result = await runMode('revoke-key', { 'key-id': id });
  expectEnd(result, 'revoked', { revoked: [id] });
  expect(service.requests).toHaveLength(1);
});

test.concurrent('a service that answers with nothing: each is looked for after its own DELETE', async (context) => {
  const { service, runMode } = await setStage(context, {
    notShown: { successStatus: { 'revoke-key': 204 } },
    // The third is not carried out, though others beside it are.
    faults: [{ path: '/api_keys/4', fault: { kind: 'status', status: 204, body: '' } }],
  });
  const ids = addKeys(service, 6);
  const result = await runMode('revoke-key', { 'key-id': ids.join() }, swiftly);
  expectEnd(result, 'error', { revoked: ids.filter((id) => id !== '4'), kept: ['4'] });
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1', '4']);
});

// What proves nothing

const proofless: Readonly<Record<string, readonly FaultRule[]>> = {
  '404 while the list shows the key': [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } }],
  '404 as a page': [{ endpoint: 'revoke-key', fault: { kind: 'html', status: 404 } }],
  '404 and a list that is no array': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '{"keys":[]}' } },
  ],
  '404 and an empty list with 201': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'status', status: 201, body: '[]' } },
  ],
  '404 and a list without a body': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '' } },
  ],
  '404 and a page': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'html' } },
  ],
  '404 and a list whose records are no keys': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'status', status: 200, body: '[{"name":"shop"}]' } },
  ],
  '404 and a list that is not found either': [{ fault: { kind: 'status', status: 404 } }],
  '404 and a list that always breaks': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } },
    { endpoint: 'list-keys', fault: { kind: 'cut-mid-body' } },
  ],
  '401': [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 401 } }],
  '410': [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 410 } }],
  'a page with 200': [{ endpoint: 'revoke-key', fault: { kind: 'html' } }],
  'a redirect': [{ endpoint: 'revoke-key', fault: { kind: 'redirect', location: '/v2/login' } }],
  'revoked: false': [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 200, body: '{"revoked":false}' } }],
  'that another key is revoked': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 200, body: '{"id":9,"name":"shop","revoked":true}' } },
  ],
  'revoked: true with an error': [
    { endpoint: 'revoke-key', fault: { kind: 'status', status: 422, body: '{"id":2,"revoked":true}' } },
  ],
};

for (const [name, faults] of Object.entries(proofless)) {
  test.concurrent(`${name} does not show that a key is gone`, async (context) => {
    const { service, runMode } = await setStage(context, { faults });
    const [id = ''] = addKeys(service, 1);
    const result = await runMode('revoke-key', { 'key-id': id }, swiftly);
    expectEnd(result, 'error', { kept: [id] });
    expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
    expect(result.summary).toMatch(/^### ❌/);
    expect(service.plane.isAlive(id)).toBe(true);
  });
}

test.concurrent('the error of a 404 that the list contradicts says what the service said', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 404 } }],
  });
  const result = await runMode('revoke-key', { 'key-id': addKeys(service, 1).join() }, swiftly);
  expect(errorOf(result)).toMatch(/404/);
  expect(errorOf(result)).toMatch(/The service says 404\..*request id req-\d+/);
});

test.concurrent('nor does a wrong address, which answers 404 to all', async (context) => {
  const { service, runMode } = await setStage(context);
  const ids = addKeys(service, 2);
  const result = await runMode('revoke-key', { 'key-id': ids.join(), 'base-url': `${service.baseUrl}/old/v2` });
  expectEnd(result, 'error', { kept: ids });
  expect(errorOf(result)).toContain('base-url');
  expect(service.plane.aliveKeys()).toHaveLength(3);
});

test.concurrent('a 404 that the list contradicts is asked again', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', count: 2, fault: { kind: 'status', status: 404 } }],
  });
  const [id = ''] = addKeys(service, 1);
  const result = await runMode('revoke-key', { 'key-id': id }, swiftly);
  expectEnd(result, 'revoked', { revoked: [id] });
  expect(service.plane.isAlive(id)).toBe(false);
});

// Answers that are lost

const lost: Readonly<Record<string, Fault>> = {
  'a closed connection': { kind: 'cut-before-headers' },
  'an exchange that takes too long': { kind: 'hang-before-headers' },
  '504 without a body': { kind: 'status', status: 504, body: '', done: 'now' },
};

for (const [name, fault] of Object.entries(lost)) {
  test.concurrent(`404 after ${name} shows that the key is gone, without a list`, async (context) => {
    const { service, runMode } = await setStage(context, { faults: [{ endpoint: 'revoke-key', nth: 1, fault }] });
    const [id = ''] = addKeys(service, 1);
    const result = await runMode('revoke-key', { 'key-id': id, 'request-timeout': '1500ms' }, swiftly);
    expectEnd(result, 'revoked', { revoked: [id] });
    expect(service.requests.map(({ endpoint }) => endpoint)).toEqual(['revoke-key', 'revoke-key']);
  });
}

for (const [name, rules] of Object.entries({
  'a page with 502': [{ nth: 1, fault: { kind: 'html', status: 502, done: 'now' } }],
  // The key was lost sight of before: whether the wrong address was asked is not known.
  'a 404 that the list contradicted, and a lost answer': [
    { nth: 1, fault: { kind: 'status', status: 404 } },
    { nth: 2, fault: { kind: 'cut-before-headers' } },
  ],
} satisfies Record<string, FaultRule[]>)) {
  test.concurrent(`404 after ${name} is checked against the list`, async (context) => {
    const { service, runMode } = await setStage(context, {
      faults: rules.map((rule) => ({ endpoint: 'revoke-key', ...rule })),
    });
    const [id = ''] = addKeys(service, 1);
    const result = await runMode('revoke-key', { 'key-id': id }, swiftly);
    expect(result.conclusion).toBe('success');
    expect(service.plane.isAlive(id)).toBe(false);
    expect(service.requests.at(-1)?.endpoint).toBe('list-keys');
  });
}

const passing: Readonly<Record<string, Fault>> = {
  '503': { kind: 'status', status: 503 },
  'a connection closed before': { kind: 'cut-before-headers', done: 'never' },
};

for (const [name, fault] of Object.entries(passing)) {
  test.concurrent(`${name}, once at each kind of request, is tried again`, async (context) => {
    const { service, runMode } = await setStage(context);
    const [id = ''] = addKeys(service, 1);
    // The other one, which nobody knows, is looked for in the list.
    service.faults.add({ path: `/api_keys/${id}`, nth: 1, fault });
    service.faults.add({ endpoint: 'list-keys', nth: 1, fault });
    const result = await runMode('revoke-key', { 'key-id': `${id},4711`, 'request-timeout': '1500ms' }, swiftly);
    expectEnd(result, 'revoked', { revoked: [id], gone: ['4711'] });
    expect(asked(service, 'list-keys').map((request) => request.fault)).toContain(fault.kind);
  });
}

// One that fails

test.concurrent('a failure of some does not stop the others, and the error tells of each', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [
      { path: '/api_keys/3', fault: { kind: 'status', status: 403 } },
      { path: '/api_keys/5', fault: { kind: 'status', status: 503 } },
    ],
  });
  const ids = addKeys(service, 6);

  const result = await runMode('revoke-key', { 'key-id': ids.join() }, swiftly);

  expectEnd(result, 'error', { revoked: ['2', '4', '6', '7'], kept: ['3', '5'] });
  expect(service.plane.aliveKeys().map(({ id }) => id)).toEqual(['1', '3', '5']);
  const error = errorOf(result);
  expect(error).toMatch(/\b3\b.*status 403.*The service says 403\..*code FAULT.*request id req-\d+/);
  expect(error).toMatch(/\b5\b.*status 503.*The service says 503\..*code FAULT.*request id req-\d+/);
  expect(error).toMatch(/2 of 6 keys/);
  expect(result.summary).toContain('not revoked');
  expect(asked(service, 'revoke-key').filter(({ path }) => path.endsWith('/3'))).toHaveLength(1);
  expect(asked(service, 'revoke-key').filter(({ path }) => path.endsWith('/5'))).toHaveLength(5);
});

test.concurrent('where many fail, the error stays readable, and kept-key-ids is whole', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 403 } }],
  });
  const ids = addKeys(service, 100);
  const result = await runMode('revoke-key', { 'key-id': ids.join() });
  expectEnd(result, 'error', { kept: ids });
  expect(errorOf(result).length).toBeLessThan(2_000);
  expect(errorOf(result)).toMatch(/100 of 100 keys.*95 more/);
});

test.concurrent('a key in use that is not accepted: nothing is known of any', async (context) => {
  const { service, runMode } = await setStage(context);
  const ids = addKeys(service, 2);
  const result = await runMode('revoke-key', { 'key-id': ids.join(), 'api-key': 'a-key-that-nobody-made' });
  expectEnd(result, 'error', { kept: ids });
  expect(errorOf(result)).toMatch(/401.*api-key/s);
});

test.concurrent('patience that would outlast the deadline ends one key at once, and no other', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ path: '/api_keys/3', fault: { kind: 'status', status: 429, retryAfter: { seconds: 3600 } } }],
  });
  const ids = addKeys(service, 3);
  const result = await runMode('revoke-key', { 'key-id': ids.join() });
  expectEnd(result, 'error', { revoked: ['2', '4'], kept: ['3'] });
  expect(errorOf(result)).toMatch(/429.*1h/);
  expect(result.ms).toBeLessThan(5_000);
});

test.concurrent('what one of many is told holds for those that come after it', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [
      { endpoint: 'revoke-key', nth: 1, fault: { kind: 'status', status: 429, retryAfter: { seconds: 1 } } },
      { fault: { kind: 'delay', ms: 100 } },
    ],
  });
  const ids = addKeys(service, 9);

  const result = await runMode('revoke-key', { 'key-id': ids.join() });

  expectEnd(result, 'revoked', { revoked: ids });
  // Six are sent at once, before anything is told: on a busy machine some of them arrive long after the first is answered.
  const told = service.requests[0]?.at ?? Number.NaN;
  expect(service.requests).toHaveLength(10);
  for (const { at } of service.requests.slice(6)) expect(at - told).toBeGreaterThanOrEqual(990);
});

test.concurrent('and where it outlasts the deadline, none of them is asked for', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 429, retryAfter: { seconds: 3600 } } }],
  });
  const ids = addKeys(service, 20);

  const result = await runMode('revoke-key', { 'key-id': ids.join() });

  expectEnd(result, 'error', { kept: ids });
  expect(service.requests).toHaveLength(6);
  expect(errorOf(result)).toMatch(/429.*1h/);
});

// Inputs

test.concurrent('an empty list is no error: there is nothing to revoke', async (context) => {
  const { service, runMode } = await setStage(context);
  for (const list of ['[]', ' [ ] ']) {
    const result = await runMode('revoke-key', { 'key-id': list });
    expectEnd(result, 'gone', {});
    expect(noticesOf(result)).toHaveLength(1);
  }
  expect(service.requests).toEqual([]);
});

const bad: readonly [what: string, inputs: Readonly<Record<string, string>>, told: RegExp][] = [
  ['both', { 'key-id': '5', 'key-name': 'shop' }, /key-id: .*key-name/],
  ['neither', {}, /key-id: is empty.*key-name.*Check the expression/],
  ['only blanks and commas', { 'key-id': ' ,\n, ' }, /key-id: .*is empty/],
  ['null', { 'key-id': 'null' }, /key-id: .*“null” .*failed jq/],
  ['undefined', { 'key-id': '5,undefined' }, /key-id: .*item 2: “undefined”.*failed jq/],
  ['None', { 'key-id': '["None"]' }, /key-id: .*“None” .*failed jq/],
  ['null in an array', { 'key-id': '[5,null]' }, /key-id: .*item 2 .*jq/],
  ['a text', { 'key-id': 'shop' }, /key-id: .*“shop” .*integer/],
  ['a negative number', { 'key-id': '-5' }, /key-id: .*“-5” .*integer/],
  ['a negative number in an array', { 'key-id': '[-5]' }, /key-id: .*“-5” .*integer/],
  ['a fraction', { 'key-id': '[1.5]' }, /key-id: .*“1.5” .*integer/],
  ['a hexadecimal number', { 'key-id': '0x10' }, /key-id: .*“0x10” .*integer/],
  ['a number in words of another script', { 'key-id': '٣' }, /key-id: .*integer/],
  ['a path', { 'key-id': '5/../6' }, /key-id: .*integer/],
  ['an array that is not closed', { 'key-id': '[5' }, /key-id: .*JSON array/],
  ['an array of objects', { 'key-id': '[{"id":5}]' }, /key-id: .*item 1 .*\.\[\]\.id/],
  ['the name null', { 'key-name': 'null' }, /key-name: “null” .*failed jq/],
  ['the name None', { 'key-name': 'None' }, /key-name: “None” .*failed jq/],
  ['timeout 0', { 'key-id': '5', timeout: '0' }, /timeout: “0” .*above 0/],
];

for (const [what, inputs, told] of bad) {
  test.concurrent(`${what} is refused, and nothing is sent`, async (context) => {
    const { service, runMode } = await setStage(context);
    addKeys(service, 8);
    const result = await runMode('revoke-key', inputs);
    expect(result.conclusion).toBe('failure');
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(told);
    expect(service.requests).toEqual([]);
  });
}

// What jq before 1.7 makes of an id beyond 2^53: that of another key.
for (const written of ['[9.007199254740993e15]', '[1e23]', '[9007199254740993.0]']) {
  test.concurrent(`${written} does not say which key is meant`, async (context) => {
    const { service, runMode } = await setStage(context, { firstKeyId: '9007199254740990' });
    addKeys(service, 4);
    const result = await runMode('revoke-key', { 'key-id': written });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(service.requests).toEqual([]);
    expect(service.plane.aliveKeys()).toHaveLength(5);
  });
}

test.concurrent('an answer of the service in key-id is refused without the secret in it', async (context) => {
  const { service, runMode } = await setStage(context);
  const key = service.plane.addKey('shop');
  for (const answer of [
    JSON.stringify({ key: key.key, id: 5 }),
    JSON.stringify({ id: 5, key: key.key }),
    JSON.stringify({ id: 5, key: key.key }, undefined, 2),
    JSON.stringify([{ key: key.key, id: 5 }]),
  ]) {
    const result = await runMode('revoke-key', { 'key-id': answer });
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toContain('key-id');
    expect(result.output + result.summary, answer).not.toContain(key.key.slice(0, 12));
  }
  expect(service.requests).toEqual([]);
});

// The end in the middle: each alone, as it is a matter of time

/** Of eight keys the first two are revoked, and the step has heard of it; the others hang. */
async function inTheMiddle(context: TestContext, timeout: string) {
  const stage = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', from: 3, fault: { kind: 'hang-before-headers', done: 'never' } }],
  });
  const ids = addKeys(stage.service, 8);
  const step = stage.startMode('revoke-key', { 'key-id': ids.join(), timeout });
  // Six are asked for at once: the last two only when the first two have been told.
  await reach(step, stage.service.arrived({ n: 8 }));
  const revoked = ids.filter((id) => !stage.service.plane.isAlive(id));
  return { step, revoked, kept: ids.filter((id) => !revoked.includes(id)) };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} in the middle: what was done until then is told`, async (context) => {
    const { step, revoked, kept } = await inTheMiddle(context, '10m');

    step.kill(signal);
    const result = await step.done;

    expectEnd(result, 'cancelled', { revoked, kept });
    expect(revoked).toHaveLength(2);
    expect(result.annotations).toEqual([]);
    expect(result.summary).toMatch(/^### 🚫/);
    expect(result.signal).toBe(null);
    expect(result.ms - (result.signals[0]?.ms ?? Number.NaN)).toBeLessThan(2_000);
  });
}

test('a step that was cancelled says so in log and summary', async (context) => {
  const { step } = await inTheMiddle(context, '10m');
  step.kill('SIGTERM');
  const result = await step.done;
  expect(result.log).toMatch(/cancelled/i);
  expect(result.summary).toMatch(/cancelled/i);
});

test('the deadline in the middle: what was done until then is told', async (context) => {
  const { step, revoked, kept } = await inTheMiddle(context, '4s');

  const result = await step.done;

  expectEnd(result, 'error', { revoked, kept });
  expect(revoked).toHaveLength(2);
  for (const id of kept.slice(0, 3)) expect(errorOf(result)).toMatch(new RegExp(`\\b${id}\\b`));
  expect(errorOf(result)).toMatch(/time/);
  expect(result.ms).toBeLessThan(6_000);
});

test('the deadline during patience: the error says what the service said, and what to do', async (context) => {
  const { service, runMode } = await setStage(context, {
    faults: [{ endpoint: 'revoke-key', fault: { kind: 'status', status: 429 } }],
  });
  const [id = ''] = addKeys(service, 1);

  const result = await runMode('revoke-key', { 'key-id': id, timeout: '3s' });

  expectEnd(result, 'error', { kept: [id] });
  expect(errorOf(result)).toMatch(/The service says 429\..*code FAULT.*request id req-\d+/);
  expect(errorOf(result)).toMatch(/timeout/);
});

test('the deadline while nothing is answered: the error names the timeout', async (context) => {
  const { service, runMode } = await setStage(context, { faults: [{ fault: { kind: 'hang-before-headers' } }] });
  const [id = ''] = addKeys(service, 1);
  const byId = await runMode('revoke-key', { 'key-id': id, timeout: '700ms' });
  const byName = await runMode('revoke-key', { 'key-name': 'key-0', timeout: '700ms' });
  for (const result of [byId, byName]) {
    expect(result.outputs).toMatchObject({ status: 'error' });
    expect(errorOf(result)).toMatch(/timeout/);
    expect(result.ms).toBeLessThan(2_700);
  }
});
