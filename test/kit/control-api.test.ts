import { expect, test } from 'vitest';
import type { ControlPlaneOptions, NotShown } from '../../control-plane/index.js';
import { createControlPlane } from '../../control-plane/index.js';
import { VirtualClock } from '../virtual/clock.js';

type Sent = { readonly key?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

function setUp(options: ControlPlaneOptions = {}) {
  const clock = new VirtualClock();
  const { plane } = createControlPlane({ ...options, clock: clock.service });
  /** Sends a request line such as `GET projects`. OPERATIONS are those of the first project. */
  const send = (line: string, { key = plane.apiKey, headers, body = '' }: Sent = {}) => {
    const [method = '', written = ''] = line.split(' ');
    const path = written.replace('OPERATIONS', `projects/${plane.projectIds[0]}/operations`);
    const target = path.startsWith('/') ? path : `/v2/${path}`;
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
    return plane.handle({ method, target, headers: all, body, from: '192.0.2.1' });
  };
  const ask = (line: string, sent?: Sent) => {
    const { status, body } = send(line, sent);
    expect(status).toBe(200);
    return JSON.parse(body);
  };
  const createKey = (name: string) => ask('POST api_keys', { body: JSON.stringify({ key_name: name }) });
  return { plane, send, ask, createKey, pass: (ms: number) => clock.run(clock.sleep(ms)) };
}

const timestamp = (ms: number) => `2024-01-01T00:00:0${(ms / 1000).toFixed(6)}Z`;
const plain = { 'content-type': 'text/plain; charset=utf-8' };
const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

test('the control plane creates, lists and revokes keys, and shows a secret only once', async () => {
  const { plane, send, ask, createKey, pass } = setUp();
  const created = createKey('na\u00efve');
  expect(created).toMatchObject({ id: 2, key: expect.stringMatching(/^[a-z0-9]{64}$/), created_at: timestamp(0) });
  await pass(1500);
  ask('GET projects', { key: created.key });
  const use = { last_used_at: timestamp(1500), last_used_from_addr: '192.0.2.1' };
  expect(ask('GET api_keys')).toEqual([
    { id: 1, name: 'console', created_at: timestamp(0), ...use },
    { id: 2, name: 'na\u00efve', created_at: timestamp(0), ...use },
  ]);
  send('POST api_keys', { headers: form, body: 'key_name=a+b%26c' });
  expect(plane.key('3')?.name).toBe('a b&c');
  expect(ask('DELETE api_keys/2')).toEqual({ id: 2, name: 'na\u00efve', revoked: true, ...use });
  expect(ask('GET api_keys')).toHaveLength(2);
});

test('a list of projects has all documented fields, and shows added and removed projects', () => {
  const { plane, send, ask } = setUp({ projects: 2 });
  const [first = '', second = ''] = plane.projectIds;
  expect(ask('GET projects').projects[0]).toEqual({
    id: first,
    locked: false,
    ...anyOf(String, 'name', 'platform_id', 'region_id', 'provisioner', 'proxy_host'),
    ...anyOf(Number, 'pg_version', 'cpu_used_sec', 'branch_logical_size_limit'),
    created_at: expect.stringMatching(/^2023-.*Z$/),
    updated_at: expect.stringMatching(/^2023-.*Z$/),
  });
  plane.addProject({ id: 'new', pg_version: 99 });
  plane.removeProject(second);
  expect(ask('GET projects').projects).toMatchObject([{ id: 'new', pg_version: 99 }, { id: first }]);
  expect(send(`GET projects/${second}/operations`).status).toBe(404);
});

test('an operation has all documented fields, alone and in a list', () => {
  const { plane, send, ask } = setUp();
  const { id, projectId, branchId } = plane.startOperation({ action: 'start_compute' });
  const { operation } = ask(`GET OPERATIONS/${id.toUpperCase()}`);
  expect(operation).toEqual({
    ...{ id, project_id: projectId, branch_id: branchId, endpoint_id: expect.stringMatching(/^ep-/) },
    ...{ action: 'start_compute', status: 'scheduling', failures_count: 0 },
    ...{ created_at: timestamp(0), updated_at: timestamp(0) },
  });
  expect(ask('GET OPERATIONS').operations).toEqual([operation]);
  const branch = plane.startOperation({ action: 'create_branch' });
  expect(ask(`GET OPERATIONS/${branch.id}`).operation).not.toHaveProperty('endpoint_id');
  plane.endOperation(branch, 'skipped');
  expect(ask(`GET OPERATIONS/${branch.id}`).operation.status).toBe('skipped');
  plane.removeOperation(branch);
  expect(send(`GET OPERATIONS/${branch.id}`).status).toBe(404);
});

// `test/contract/wait-ids.test.ts` shows the statuses of an operation in time.
test('an operation has failures_count 0 until it has failed', async () => {
  const { plane, ask, pass } = setUp();
  const { id } = plane.startOperation({ lengthMs: 1000, outcome: 'failed', failuresCount: 3 });
  const failures = () => [ask('GET OPERATIONS').operations[0], ask(`GET OPERATIONS/${id}`).operation];
  await pass(999);
  expect(failures()).toMatchObject(Array(2).fill({ status: 'running', failures_count: 0 }));
  await pass(1);
  expect(failures()).toMatchObject(Array(2).fill({ status: 'failed', failures_count: 3 }));
});

test.for<[what: string, status: number, line: string, sent?: Sent]>([
  ['a request without a key', 401, 'GET projects', { headers: { authorization: '' } }],
  ['an unknown path', 404, 'GET nothing'],
  ['another API version', 404, 'GET /v1/projects'],
  ['a path with a trailing slash', 404, 'GET projects/'],
  ['a method that the path does not have', 405, 'DELETE projects'],
  ['bad JSON', 400, 'POST api_keys', { body: '{' }],
  ['a new key without a name', 400, 'POST api_keys', { body: '{}' }],
  ['a new key with an empty name', 400, 'POST api_keys', { body: '{"key_name":""}' }],
  ['a body of another content type', 415, 'POST api_keys', { headers: plain, body: '{"key_name":"a"}' }],
  ['a key id that is not an integer', 400, 'DELETE api_keys/abc'],
  ['an operation id that is not a UUID', 400, 'GET OPERATIONS/1'],
  ['a path that is not URL-encoded', 400, 'GET projects/%zz/operations'],
  ['a cursor that is not a timestamp', 400, 'GET OPERATIONS?cursor=abc'],
  ['a cursor that is not URL-encoded', 400, 'GET OPERATIONS?cursor=2024-01-01T00:00:00.000000+00:00'],
  ['a limit of 0', 400, 'GET OPERATIONS?limit=0'],
  ['a limit above the maximum', 400, 'GET OPERATIONS?limit=1001'],
])('the control plane rejects %s (status %i)', ([, expected, line, sent]) => {
  const { status, headers, body } = setUp().send(line, sent);
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({ ...anyOf(String, 'code', 'message'), request_id: headers['x-request-id'] });
  if (status === 405) expect(headers['allow']).toBe('GET');
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer');
});

function anyOf(type: StringConstructor | NumberConstructor, ...fields: string[]): object {
  return Object.fromEntries(fields.map((field) => [field, expect.any(type)]));
}

const withoutCursor = expect.toSatisfy((pagination: object) => !('cursor' in pagination));
const cursor = expect.any(String);
const twoOperations = { body: { operations: [{}, {}] } };
const lastPage = 'GET OPERATIONS?limit=3';

/** What the document leaves open: the choice, a request, and its response. */
test.for<[what: string, Partial<NotShown>, line: string, response: object]>([
  ['a list of keys with the status 203', { successStatus: { 'list-keys': 203 } }, 'GET api_keys', { status: 203 }],
  ['an error as nested JSON', { errorBody: 'nested' }, 'GET nothing', { body: { error: { code: 'NOT_FOUND' } } }],
  ['an error as text', { errorBody: 'text' }, 'GET nothing', { body: 'There is no such path.', headers: plain }],
  ['an error without a body', { errorBody: 'empty' }, 'GET nothing', { body: '', headers: plain }],
  ['a default page of two operations', { defaultPageSize: 2 }, 'GET OPERATIONS', twoOperations],
  ['a page below the limit', { maximumPageSize: 2, overMaximum: 'clamp' }, 'GET OPERATIONS?limit=9', twoOperations],
  ['pages of projects', { projectsPageSize: 1 }, 'GET projects', { body: { projects: [{}], pagination: { cursor } } }],
  ['a cursor on the last page', { lastPageCursor: 'given' }, lastPage, { body: { pagination: { cursor } } }],
  ['no cursor on the last page', { lastPageCursor: 'absent' }, lastPage, { body: { pagination: withoutCursor } }],
  ['a null cursor on the last page', { lastPageCursor: 'null' }, lastPage, { body: { pagination: { cursor: null } } }],
  ['an empty cursor on the last page', { lastPageCursor: 'empty' }, lastPage, { body: { pagination: { cursor: '' } } }],
  ['pages of keys', { keysPageSize: 1 }, 'GET api_keys', { headers: { link: '</v2/api_keys?page=2>; rel="next"' } }],
  ['null as last use of an unused key', { neverUsed: 'null' }, 'GET api_keys', { body: [{}, { last_used_at: null }] }],
  ['success for a repeated revocation', { revokedAgain: 'revoked' }, 'DELETE api_keys/3', { body: { revoked: true } }],
])('the control plane can return %s', ([, notShown, line, expected]) => {
  const { plane, send } = setUp({ projects: 2, operations: 3, notShown });
  plane.addKey('unused');
  plane.revokeKey(plane.addKey('revoked').id);
  const { status, headers, body } = send(line);
  const isJson = headers['content-type'] === 'application/json';
  expect({ status, headers, body: isJson ? JSON.parse(body) : body }).toMatchObject(expected);
});

test('a repeated cursor of the last page returns the last page again', () => {
  const { ask } = setUp({ operations: 3, notShown: { lastPageCursor: 'repeated' } });
  const page = (cursor: string) => ask(`GET OPERATIONS?limit=2&cursor=${encodeURIComponent(cursor)}`);
  const last = page(page('2025-01-01T00:00:00.000000Z').pagination.cursor);
  expect(last.operations).toHaveLength(1);
  expect(page(last.pagination.cursor)).toEqual(last);
});

test('a replica that lags shows new operations and keys late, but at once the changes that it made itself', async () => {
  const replica = { operationsBehindMs: 2_000, keysBehindMs: 3_000, historyAfterMs: 4_000 };
  const { plane, send, ask, createKey, pass } = setUp({ replicas: [replica], replicasAuthenticate: true });
  await pass(1_000);
  const old = plane.startOperation({ ageMs: 3_600_000, lengthMs: 0 });
  const { id } = plane.startOperation({ lengthMs: 0 });
  const status = () => send(`GET OPERATIONS/${id}`).status;
  const listed = () => ask('GET OPERATIONS').operations.map((one: { id: string }) => one.id);
  const { id: keyId, key } = createKey('young');
  const lists = () => ask('GET api_keys').some((one: { name: string }) => one.name === 'young');
  const facts = () => [listed(), status(), lists(), send('GET projects', { key }).status];
  expect(facts()).toEqual([[], 404, false, 401]);
  expect(send(`DELETE api_keys/${keyId}`).status).toBe(404);
  await pass(2_000);
  expect(facts()).toEqual([[id], 200, false, 401]);
  await pass(1_000);
  expect(facts()).toEqual([[id, old.id], 200, true, 200]);
  expect(ask(`DELETE api_keys/${keyId}`).revoked).toBe(true);
  expect([plane.isAlive(String(keyId)), ...facts()]).toEqual([false, [id, old.id], 200, true, 200]);
  await pass(3_000);
  expect(facts()).toEqual([[id, old.id], 200, false, 401]);
});
