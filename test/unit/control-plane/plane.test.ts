import { describe, expect, it } from 'vitest';
import { createControlPlane, ManualClock } from '../../control-plane/index.js';
import { ask, createKey, json, planeRequest } from './asking.js';

function planeWith(options: Parameters<typeof createControlPlane>[0] = {}) {
  const clock = new ManualClock();
  return { clock, ...createControlPlane({ clock, ...options }) };
}

describe('keys', () => {
  it('are made, listed without their secret, used and revoked', () => {
    const { plane, clock } = planeWith();
    const made = createKey(plane, 'deploy');
    expect(Object.keys(made)).toEqual(['id', 'key']);
    clock.advance(1500);
    expect(ask(plane, '/v2/projects', { key: made.key }).status).toBe(200);
    const listed = JSON.parse(ask(plane, '/v2/api_keys').body);
    expect(listed[1]).toEqual({
      id: made.id,
      name: 'deploy',
      created_at: '2024-01-01T00:00:00.000000Z',
      last_used_at: '2024-01-01T00:00:01.500000Z',
      last_used_from_addr: '192.0.2.1',
    });
    const revoked = ask(plane, `/v2/api_keys/${made.id}`, { method: 'DELETE' });
    expect(JSON.parse(revoked.body)).toMatchObject({ id: made.id, name: 'deploy', revoked: true });
    expect(ask(plane, '/v2/projects', { key: made.key }).status).toBe(401);
    expect(plane.isAlive(String(made.id))).toBe(false);
    expect(ask(plane, `/v2/api_keys/${made.id}`, { method: 'DELETE' }).status).toBe(404);
    expect(JSON.parse(ask(plane, '/v2/api_keys').body)).toHaveLength(1);
  });

  it('can revoke themselves, and are dead with the very next request', () => {
    const { plane } = planeWith();
    const { id, key } = createKey(plane, 'own');
    expect(ask(plane, `/v2/api_keys/${id}`, { method: 'DELETE', key }).status).toBe(200);
    expect(ask(plane, `/v2/api_keys/${id}`, { method: 'DELETE', key }).status).toBe(401);
  });

  it('may share a name, and come from a form', () => {
    const { plane } = planeWith();
    createKey(plane, 'a b&c');
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    ask(plane, '/v2/api_keys', { method: 'POST', headers, body: 'key_name=a+b%26c' });
    expect(plane.aliveKeys('a b&c').map(({ id }) => id)).toEqual(['2', '3']);
  });

  it('keep the digits of ids beyond 2^53', () => {
    const { plane } = planeWith({ firstKeyId: '9007199254740993' });
    createKey(plane, 'next');
    const list = ask(plane, '/v2/api_keys').body;
    expect(list).toContain('{"id":9007199254740993,');
    expect(list).toContain('{"id":9007199254740994,');
    expect(ask(plane, '/v2/api_keys/9007199254740994', { method: 'DELETE' }).body).toContain('"id":9007199254740994,');
    expect(plane.isAlive('9007199254740993')).toBe(true);
  });
});

describe('projects', () => {
  it('have all documented fields', () => {
    const { plane } = planeWith();
    const [project] = JSON.parse(ask(plane, '/v2/projects').body).projects;
    expect(project).toEqual({
      id: plane.projectIds[0],
      name: expect.any(String),
      platform_id: expect.any(String),
      region_id: expect.any(String),
      provisioner: expect.any(String),
      pg_version: expect.any(Number),
      locked: false,
      cpu_used_sec: expect.any(Number),
      proxy_host: expect.any(String),
      branch_logical_size_limit: expect.any(Number),
      created_at: expect.stringMatching(/^2023-.*Z$/),
      updated_at: expect.stringMatching(/^2023-.*Z$/),
    });
  });

  it('come and go, and the answer follows', () => {
    const { plane } = planeWith({ projects: 2 });
    const before = plane.projectIds;
    expect(JSON.parse(ask(plane, '/v2/projects').body).projects).toHaveLength(2);
    plane.addProject({ id: 'new', name: 'na\u00efve', pg_version: 99 });
    plane.removeProject(before[1] ?? '');
    const { projects } = JSON.parse(ask(plane, '/v2/projects').body);
    expect(projects.map(({ id }: { id: string }) => id)).toEqual(['new', before[0]]);
    expect(projects[0]).toMatchObject({ name: 'na\u00efve', pg_version: 99 });
    expect(ask(plane, `/v2/projects/${before[1]}/operations`).status).toBe(404);
  });

  it('are the same for the same seed, each with another id', () => {
    const [a, b, other] = [7, 7, 8].map((seed) => planeWith({ projects: 5000, seed }).plane.projectIds);
    expect(new Set(a).size).toBe(5000);
    expect(a).toEqual(b);
    expect(a).not.toEqual(other);
  });
});

describe('operations', () => {
  it('live by the clock', () => {
    const { plane, clock } = planeWith();
    const operation = plane.startOperation({
      action: 'start_compute',
      schedulingMs: 100,
      lengthMs: 1000,
      outcome: 'failed',
      failuresCount: 3,
    });
    const path = `/v2/projects/${operation.projectId}/operations/${operation.id}`;
    const look = () => JSON.parse(ask(plane, path).body).operation;
    expect(look()).toEqual({
      id: operation.id,
      project_id: operation.projectId,
      branch_id: expect.stringMatching(/^br-/),
      endpoint_id: expect.stringMatching(/^ep-/),
      action: 'start_compute',
      status: 'scheduling',
      failures_count: 0,
      created_at: '2024-01-01T00:00:00.000000Z',
      updated_at: '2024-01-01T00:00:00.000000Z',
    });
    clock.advance(100);
    expect(look()).toMatchObject({ status: 'running', updated_at: '2024-01-01T00:00:00.100000Z' });
    clock.advance(899);
    expect(look().status).toBe('running');
    clock.advance(1);
    const end = { status: 'failed', failures_count: 3, updated_at: '2024-01-01T00:00:01.000000Z' };
    expect(look()).toMatchObject(end);
    clock.advance(1e9);
    expect(look()).toMatchObject(end);
    expect(clock.pending).toBe(0);
  });

  it('have an endpoint only where the action concerns one', () => {
    const { plane } = planeWith();
    const branch = plane.startOperation({ action: 'create_branch' });
    expect(ask(plane, `/v2/projects/${branch.projectId}/operations`).body).not.toContain('endpoint_id');
  });

  it('take any course and any word, and can be ended by hand', () => {
    const { plane, clock } = planeWith();
    const course = [
      { afterMs: 0, status: 'running' },
      { afterMs: 10, status: 'cancelling' },
      { afterMs: 20, status: 'cancelled' },
    ] as const;
    const told = plane.startOperation({ course: [...course], action: 'any_word' });
    const endless = plane.startOperation({ lengthMs: Number.POSITIVE_INFINITY });
    clock.advance(10);
    expect([plane.statusOf(told), plane.statusOf(endless)]).toEqual(['cancelling', 'scheduling']);
    clock.advance(1e9);
    expect([plane.statusOf(told), plane.statusOf(endless)]).toEqual(['cancelled', 'running']);
    plane.endOperation(endless, 'skipped');
    expect(plane.statusOf(endless)).toBe('skipped');
  });

  it('can appear late, vanish by time and be removed', () => {
    const { plane, clock } = planeWith();
    const shy = plane.startOperation({ appearsAfterMs: 10, vanishesAfterMs: 20 });
    const path = `/v2/projects/${shy.projectId}/operations`;
    const seen = () => [ask(plane, `${path}/${shy.id}`).status, JSON.parse(ask(plane, path).body).operations.length];
    expect(seen()).toEqual([404, 0]);
    clock.advance(10);
    expect(seen()).toEqual([200, 1]);
    clock.advance(10);
    expect(seen()).toEqual([404, 0]);
    const other = plane.startOperation();
    expect(ask(plane, `${path}/${other.id.toUpperCase()}`).status).toBe(200);
    plane.removeOperation(other);
    expect(ask(plane, `${path}/${other.id}`).status).toBe(404);
  });

  it('of the past are the same for the same seed, and all over', () => {
    const bodies = [1, 2].map(() => {
      const { plane } = planeWith({ operations: 30, seed: 5 });
      return ask(plane, `/v2/projects/${plane.projectIds[0]}/operations`).body;
    });
    expect(bodies[0]).toBe(bodies[1]);
    const { operations } = JSON.parse(bodies[0] ?? '');
    expect(operations).toHaveLength(30);
    for (const { status } of operations) expect(['finished', 'failed']).toContain(status);
  });
});

describe('what it refuses', () => {
  const { plane } = planeWith();
  const project = plane.projectIds[0];
  const create = { method: 'POST', headers: json };
  it.each([
    ['no key', '/v2/projects', { headers: { authorization: '' } }, 401],
    ['a wrong key', '/v2/projects', { key: 'wrong' }, 401],
    ['another scheme', '/v2/projects', { headers: { authorization: `Basic ${plane.apiKey}` } }, 401],
    ['no key on an unknown path', '/v2/nothing', { key: 'wrong' }, 401],
    ['an unknown path', '/v2/nothing', {}, 404],
    ['a path of another version', '/v1/projects', {}, 404],
    ['a trailing slash', '/v2/projects/', {}, 404],
    ['an empty parameter', '/v2/projects//operations', {}, 404],
    ['a wrong method', '/v2/projects', { method: 'POST' }, 405],
    ['a method named like a property', '/v2/projects', { method: 'constructor' }, 405],
    ['bad JSON', '/v2/api_keys', { ...create, body: '{' }, 400],
    ['JSON that is no object', '/v2/api_keys', { ...create, body: '["key_name"]' }, 400],
    ['a missing field', '/v2/api_keys', { ...create, body: '{}' }, 400],
    ['a field of the wrong type', '/v2/api_keys', { ...create, body: '{"key_name":1}' }, 400],
    ['an empty name', '/v2/api_keys', { ...create, body: '{"key_name":""}' }, 400],
    ['another type of body', '/v2/api_keys', { method: 'POST', body: '{"key_name":"a"}' }, 415],
    ['a key id that is no integer', '/v2/api_keys/abc', { method: 'DELETE' }, 400],
    ['an unknown key id', '/v2/api_keys/999', { method: 'DELETE' }, 404],
    ['an unknown project', '/v2/projects/none/operations', {}, 404],
    ['an unknown operation', `/v2/projects/${project}/operations/00000000-0000-4000-8000-000000000000`, {}, 404],
    ['an operation id that is no UUID', `/v2/projects/${project}/operations/1`, {}, 400],
    ['a path that is not URL-encoded', '/v2/projects/%zz/operations', {}, 400],
    ['a cursor that is none', `/v2/projects/${project}/operations?cursor=abc`, {}, 400],
    ['an empty cursor', `/v2/projects/${project}/operations?cursor=`, {}, 400],
    ['limit 0', `/v2/projects/${project}/operations?limit=0`, {}, 400],
    ['a limit that is no integer', `/v2/projects/${project}/operations?limit=1.5`, {}, 400],
    ['a limit above the maximum', `/v2/projects/${project}/operations?limit=1001`, {}, 400],
  ])('%s', (_what, target, options, status) => {
    const answer = ask(plane, target, options);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({
      code: expect.any(String),
      message: expect.any(String),
      request_id: answer.headers['x-request-id'],
    });
  });

  it('says which methods a path takes', () => {
    expect(ask(plane, '/v2/api_keys', { method: 'PUT' }).headers['allow']).toBe('GET, POST');
  });

  it('a cursor whose + was not encoded', () => {
    const { plane } = planeWith({ operations: 3, notShown: { cursorZone: '+00:00' } });
    const path = `/v2/projects/${plane.projectIds[0]}/operations`;
    const { cursor } = JSON.parse(ask(plane, `${path}?limit=1`).body).pagination;
    expect(ask(plane, `${path}?cursor=${cursor}`).status).toBe(400);
    expect(ask(plane, `${path}?cursor=${encodeURIComponent(cursor)}`).status).toBe(200);
  });
});

describe('what the document does not show', () => {
  it('can be told otherwise', () => {
    const { plane } = planeWith({
      notShown: {
        successStatus: { 'create-key': 201 },
        errorBody: 'nested',
        maximumPageSize: 2,
        overMaximum: 'clamp',
        neverUsed: 'null',
        revokedAgain: 'revoked',
      },
      operations: 3,
    });
    const body = '{"key_name":"a"}';
    expect(ask(plane, '/v2/api_keys', { method: 'POST', headers: json, body }).status).toBe(201);
    expect(JSON.parse(ask(plane, '/v2/nothing').body).error.code).toBe('NOT_FOUND');
    expect(
      JSON.parse(ask(plane, `/v2/projects/${plane.projectIds[0]}/operations?limit=9`).body).operations,
    ).toHaveLength(2);
    expect(JSON.parse(ask(plane, '/v2/api_keys').body)[1].last_used_at).toBeNull();
    const revoke = () => ask(plane, '/v2/api_keys/2', { method: 'DELETE' }).body;
    expect(revoke()).toBe(revoke());
  });

  it.each([
    ['text', 'text/plain; charset=utf-8', 'There is no such path.'],
    ['empty', 'text/plain; charset=utf-8', ''],
  ] as const)('gives errors as %s', (errorBody, type, body) => {
    const { plane } = planeWith({ notShown: { errorBody } });
    expect(ask(plane, '/v2/x')).toMatchObject({ body, headers: { 'content-type': type } });
  });
});

it('says which key a request bore, revoked or not', () => {
  const { plane, exchanges } = planeWith();
  const { id, key } = createKey(plane, 'a');
  plane.revokeKey(String(id));
  exchanges.receive(planeRequest('/v2/projects', { key }));
  exchanges.receive(planeRequest('/v2/projects', { key: 'never made' }));
  expect(exchanges.log.exchanges.map(({ keyId }) => keyId)).toEqual([String(id), undefined]);
});
