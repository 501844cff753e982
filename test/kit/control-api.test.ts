import { expect, test } from 'vitest';
import type { ControlPlaneOptions } from '../../control-plane/index.js';
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

const plain = { 'content-type': 'text/plain; charset=utf-8' };

test.for<[what: string, status: number, line: string, sent?: Sent]>([
  ['a request without a key', 401, 'GET projects', { headers: { authorization: '' } }],
  ['an unknown path', 404, 'GET nothing'],
  ['bad JSON', 400, 'POST api_keys', { body: '{' }],
  ['a new key without a name', 400, 'POST api_keys', { body: '{"key_name":""}' }],
  ['a body of another content type', 415, 'POST api_keys', { headers: plain, body: '{"key_name":"a"}' }],
  ['a key id that is not an integer', 400, 'DELETE api_keys/abc'],
  ['a cursor that is not URL-encoded', 400, 'GET OPERATIONS?cursor=2024-01-01T00:00:00.000000+00:00'],
  ['a limit above the maximum', 400, 'GET OPERATIONS?limit=1001'],
])('the local control plane rejects %s with status %i', ([, expected, line, sent]) => {
  const { status, headers, body } = setUp().send(line, sent);
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toMatchObject({ request_id: headers['x-request-id'] });
});

test('a replica that lags shows new operations and keys late, but its own changes at once', async () => {
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
