import { expect, test } from 'vitest';
import type { ControlPlaneOptions, NotShown } from '../../control-plane/index.js';
import { createControlPlane } from '../../control-plane/index.js';
import { VirtualClock } from '../virtual/clock.js';

type Sent = { readonly key?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** `send` takes a request line such as `GET projects`. OPERATIONS are those of the first project. */
function setUp(options: ControlPlaneOptions = {}) {
  const clock = new VirtualClock();
  const { plane } = createControlPlane({ ...options, clock: clock.service });
  const send = (line: string, { key = plane.apiKey, headers, body = '' }: Sent = {}) => {
    const [method = '', written = ''] = line.split(' ');
    const target = `/v2/${written.replace('OPERATIONS', `projects/${plane.projectIds[0]}/operations`)}`;
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
    return plane.handle({ method, target, headers: all, body, from: '192.0.2.1' });
  };
  const ask = (line: string, sent?: Sent) => JSON.parse(send(line, sent).body);
  return { plane, send, ask, pass: (ms: number) => clock.run(clock.sleep(ms)) };
}

const timestamp = (ms: number) => `2024-01-01T00:00:0${(ms / 1000).toFixed(6)}Z`;
const anyOf = (type: StringConstructor | NumberConstructor, ...fields: string[]) =>
  Object.fromEntries(fields.map((field) => [field, expect.any(type)]));
const plain = { 'content-type': 'text/plain; charset=utf-8' };

test('the control plane creates, lists and revokes keys, and shows a secret only once', async () => {
  const { send, ask, pass } = setUp();
  const { key, ...created } = ask('POST api_keys', { body: '{"key_name":"na\u00efve"}' });
  expect([key, created.id]).toEqual([expect.stringMatching(/^[a-z0-9]{64}$/), 2]);
  await pass(1500);
  ask('GET projects', { key });
  const use = { last_used_at: timestamp(1500), last_used_from_addr: '192.0.2.1' };
  const [, listed] = ask('GET api_keys');
  expect(listed).toEqual({ ...created, created_by: expect.objectContaining({ id: created.created_by }), ...use });
  expect(ask('DELETE api_keys/2')).toEqual({ ...created, revoked: true, ...use });
  expect([ask('GET api_keys').length, send('GET projects', { key }).status]).toEqual([1, 401]);
});

test('keys of the organization are apart from those of the person, and see no others', () => {
  const { send, ask } = setUp();
  const keys = `organizations/${ask('GET projects').projects[0].org_id}/api_keys`;
  const { id, key } = ask(`POST ${keys}`, { body: '{"key_name":"shared"}' });
  expect([ask('GET api_keys'), ask(`GET ${keys}`)]).toMatchObject([[{ id: 1 }], [{ id, name: 'shared' }]]);
  expect(ask('GET projects', { key }).projects).toHaveLength(1);
  expect([send(`DELETE api_keys/${id}`).status, send('GET api_keys', { key }).status]).toEqual([404, 404]);
  expect(ask(`DELETE ${keys}/${id}`).revoked).toBe(true);
});

test('a project has the documented fields, but locked only when it is read alone', () => {
  const { plane, ask } = setUp({ projects: 2 });
  const [first = '', second = ''] = plane.projectIds;
  const [listed] = ask('GET projects').projects;
  expect(listed).toMatchObject({
    ...anyOf(String, 'name', 'platform_id', 'region_id', 'provisioner', 'proxy_host', 'org_id', 'owner_id'),
    ...anyOf(Number, 'pg_version', 'cpu_used_sec', 'branch_logical_size_limit', 'branch_logical_size_limit_bytes'),
    ...anyOf(String, 'created_at', 'updated_at', 'compute_last_active_at'),
    ...{ id: first, store_passwords: true },
  });
  expect(listed).not.toHaveProperty('locked');
  expect(ask(`GET projects/${first}`).project).toMatchObject({ ...listed, locked: false });
  plane.addProject({ id: 'new', pg_version: 99 });
  plane.removeProject(second);
  expect(ask('GET projects').projects).toMatchObject([{ id: 'new', pg_version: 99 }, { id: first }]);
});

// `test/contract/wait-ids.test.ts` shows the statuses of an operation in time.
test('an operation has all documented fields, alone and in a list, and failures_count 0 until it has failed', async () => {
  const { plane, ask, pass } = setUp();
  const plan = { action: 'start_compute', outcome: 'failed', failuresCount: 3 };
  const { id, projectId, branchId } = plane.startOperation(plan);
  const read = () => ask(`GET OPERATIONS/${id.toUpperCase()}`).operation;
  const fields = { id, project_id: projectId, branch_id: branchId, endpoint_id: expect.stringMatching(/^ep-/) };
  const times = { created_at: timestamp(0), updated_at: timestamp(0), total_duration_ms: 0 };
  expect(read()).toEqual({ ...fields, action: 'start_compute', status: 'scheduling', failures_count: 0, ...times });
  await pass(999);
  expect(read()).toMatchObject({ status: 'running', failures_count: 0 });
  await pass(1);
  expect(read()).toMatchObject({ status: 'failed', failures_count: 3, total_duration_ms: 1000 });
  expect(ask('GET OPERATIONS').operations).toEqual([read()]);
});

test.for<[what: string, status: number, line: string, sent?: Sent]>([
  ['a request without a key', 401, 'GET projects', { headers: { authorization: '' } }],
  ['an unknown path', 404, 'GET nothing'],
  ['bad JSON', 400, 'POST api_keys', { body: '{' }],
  ['a new key without a name', 400, 'POST api_keys', { body: '{"key_name":""}' }],
  ['a body of another content type', 415, 'POST api_keys', { headers: plain, body: '{"key_name":"a"}' }],
  ['a key id that is not an integer', 400, 'DELETE api_keys/abc'],
  ['a cursor that is not URL-encoded', 400, 'GET OPERATIONS?cursor=2024-01-01T00:00:00.000000+00:00'],
  ['a limit above the maximum', 400, 'GET OPERATIONS?limit=1001'],
])('the control plane rejects %s (status %i)', ([, expected, line, sent]) => {
  const { status, headers, body } = setUp().send(line, sent);
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({ ...anyOf(String, 'code', 'message'), request_id: headers['x-request-id'] });
});

const cursor = expect.any(String);
const two = { body: { operations: [{}, {}] } };
const lastPage = 'GET OPERATIONS?limit=3';

/** What the document leaves open: the choice, a request, and its response. */
test.for<[what: string, Partial<NotShown>, line: string, response: object]>([
  ['an error as nested JSON', { errorBody: 'nested' }, 'GET nothing', { body: { error: { code: 'NOT_FOUND' } } }],
  ['an error without a body', { errorBody: 'empty' }, 'GET nothing', { body: '', headers: plain }],
  ['a page below the limit', { maximumPageSize: 2, overMaximum: 'clamp' }, 'GET OPERATIONS?limit=9', two],
  ['pages of projects', { projectsPageSize: 1 }, 'GET projects', { body: { projects: [{}], pagination: { cursor } } }],
  ['a null cursor on the last page', { lastPageCursor: 'null' }, lastPage, { body: { pagination: { cursor: null } } }],
  ['an empty cursor on the last page', { lastPageCursor: 'empty' }, lastPage, { body: { pagination: { cursor: '' } } }],
  ['pages of keys', { keysPageSize: 1 }, 'GET api_keys', { headers: { link: '</v2/api_keys?page=2>; rel="next"' } }],
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
  const { ask } = setUp({ operations: 2, notShown: { lastPageCursor: 'repeated' } });
  const last = ask('GET OPERATIONS');
  expect(ask(`GET OPERATIONS?cursor=${encodeURIComponent(last.pagination.cursor)}`)).toEqual(last);
});

test('a replica that lags shows new operations and keys late, but at once the changes that it made itself', async () => {
  const replica = { operationsBehindMs: 2_000, keysBehindMs: 3_000, historyAfterMs: 4_000 };
  const { plane, send, ask, pass } = setUp({ replicas: [replica], replicasAuthenticate: true });
  await pass(1_000);
  const old = plane.startOperation({ ageMs: 3_600_000, lengthMs: 0 });
  const { id } = plane.startOperation({ lengthMs: 0 });
  const { id: keyId, key } = ask('POST api_keys', { body: '{"key_name":"young"}' });
  const listed = () => ask('GET OPERATIONS').operations.map((one: { id: string }) => one.id);
  const facts = () => [listed(), ask('GET api_keys').length, send('GET projects', { key }).status];
  expect([send(`DELETE api_keys/${keyId}`).status, ...facts()]).toEqual([404, [], 1, 401]);
  await pass(2_000);
  expect(facts()).toEqual([[id], 1, 401]);
  await pass(1_000);
  expect(facts()).toEqual([[id, old.id], 2, 200]);
  expect(ask(`DELETE api_keys/${keyId}`).revoked).toBe(true);
  expect([plane.isAlive(String(keyId)), ...facts()]).toEqual([false, [id, old.id], 2, 200]);
  await pass(3_000);
  expect(facts()).toEqual([[id, old.id], 1, 401]);
});
