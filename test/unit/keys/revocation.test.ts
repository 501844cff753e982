import { expect, test } from 'vitest';
import { RequestError, TransportError } from '../../../src/http/errors.js';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import type { Send } from '../../../src/http/retry.js';
import { includesKey, Revocation, revokeEach } from '../../../src/keys/revocation.js';
import { apiBy } from '../../virtual/api.js';
import { deadlineAt } from '../../virtual/deadline.js';
import { sendOnce } from '../../virtual/send.js';
import { silent } from '../../virtual/silent.js';

type Response = number | string | Partial<HttpResponse> | Error;

const closed = new TransportError('The connection closed');
const unsent = new TransportError('Connection refused', { mayHaveTakenEffect: false });
const page = (status: number): Response => ({ status, body: '<!doctype html><title>Login</title>' });
const listed = '[{"id":1,"name":"console"},{"id":7,"name":"ours"}]';
const notListed = '[{"id":1,"name":"console"}]';

/** What the last attempt proves, the response to each DELETE, and that to each request for the list after it. */
test.for<[evidence: string, proof: 'revoked' | 'already-gone' | 'nothing', deletes: Response[], list: Response]>([
  ['a response with revoked: true but no id', 'revoked', ['{"revoked":true}'], listed],
  ['a 202 response with revoked: true', 'revoked', [{ status: 202, body: '{"id":"7","revoked":true}' }], listed],
  ['a response with revoked: true and another name', 'revoked', ['{"id":7,"name":"x","revoked":true}'], listed],
  ['revoked: false and then a list without the key', 'revoked', ['{"id":7,"revoked":false}'], notListed],
  ['a 404 after a lost response', 'revoked', [closed, 404], listed],
  ['a 404 after a 500', 'revoked', [500, 404], listed],
  ['revoked: "true" that the list contradicts', 'nothing', ['{"id":7,"revoked":"true"}'], listed],
  ['an array that the list contradicts', 'nothing', ['[{"id":7,"revoked":true}]'], listed],
  ['a response that revokes another key', 'nothing', ['{"id":3,"revoked":true}'], notListed],
  ['a 404 after a response that revokes another key', 'nothing', ['{"id":3,"revoked":true}', 404], listed],
  ['a repeated 404 that the list contradicts', 'nothing', [404, 404], listed],
  ['a 404 after a 404 and a 503', 'nothing', [404, 503, 404], listed],
  ['a 404 after a request that never reached the service', 'nothing', [unsent, 404], listed],
  ['a 404 after a 403', 'nothing', [403, 404], listed],
  ['a 404 after a 408', 'nothing', [408, 404], listed],
  ['a 404 after an HTML page with 503', 'nothing', [page(503), 404], listed],
  ['a 404 after truncated JSON with 200', 'nothing', ['{"id":7', 404], listed],
  ['an HTML page with 404, a login page, a 401 or a 410', 'nothing', [page(404), page(200), 401, 410], notListed],
  ['an object in place of the list', 'nothing', [404], '{"keys":[]}'],
  ['a partial list', 'nothing', [404], { status: 206, body: '[]' }],
  ['a login page in place of the list', 'nothing', [404], page(200)],
  ['a failed request for the list', 'nothing', [404], 503],
  ['a list of other records', 'nothing', [404], '[{"name":"x"}]'],
  ['a list with two names for the id', 'nothing', [404], '[{"id":7,"name":"ours"},{"id":7,"name":"other"}]'],
  ['a list with the id as text', 'nothing', [404], '[{"id":"7","name":"ours"}]'],
  ['a list with the id but without its name', 'nothing', [404], '[{"id":7}]'],
])('%s proves: %s', async ([, proof, deletes, list]) => {
  const exchange: Exchange = async ({ method }) => {
    const response = method === 'DELETE' ? (deletes[attempts++] ?? 500) : list;
    if (response instanceof Error) throw response;
    const given = typeof response === 'number' ? { status: response } : response;
    return { status: 200, headers: {}, body: '', ...(typeof given === 'string' ? { body: given } : given) };
  };
  let attempts = 0;
  const api = apiBy(exchange);
  const { deadline } = deadlineAt(60_000);
  const revocation = new Revocation({ id: '7', name: 'ours' });
  const send = sendOnce(deadline);
  const attempt = () =>
    send((how) => revocation.attempt(api, how, async (key) => includesKey(await api.keys(send), key)));

  for (let n = 1; n < deletes.length; n++) await expect(attempt()).rejects.toThrow();
  if (proof === 'nothing') await expect(attempt()).rejects.toThrow();
  else expect(await attempt()).toBe(proof);
  expect(attempts).toBe(deletes.length);
});

test('an id that a list showed under another name is not requested again, although a later list shows the old name', async () => {
  const listWith = (name: string) => `[{"id":7,"name":"ours"},{"id":8,"name":"${name}"}]`;
  const lists = [listWith('theirs'), listWith('ours')];
  const deletes: Record<string, (number | string)[]> = { 7: [404, 404, '{"revoked":true}'], 8: [503, 404] };
  const sent: string[] = [];
  const exchange: Exchange = async ({ method, url }) => {
    const id = url.pathname.at(-1) ?? '';
    if (method === 'DELETE') sent.push(id);
    const response = (method === 'DELETE' ? deletes[id]?.shift() : lists.shift()) ?? 500;
    const [status, body] = typeof response === 'number' ? [response, ''] : [200, response];
    return { status, headers: {}, body };
  };
  const { clock, deadline } = deadlineAt(60_000);
  const send: Send = async (attempt) => {
    try {
      return await sendOnce(deadline)(attempt);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      await deadline.sleep(error.status === 503 ? 1_000 : 100);
      return send(attempt);
    }
  };
  const keys = ['7', '8'].map((id) => ({ id, name: 'ours' }));
  await clock.run(revokeEach(keys, apiBy(exchange, clock), send, silent));
  expect(sent).toEqual(['7', '8', '7', '7']);
});

test.for([
  ['2023-12-31T23:59:59Z', false],
  ['2024-01-01T00:00:00Z', true],
] as const)('a key of %s proves that a key of 2024 with its id is gone: %s', async ([created_at, isConfirmed]) => {
  const body = JSON.stringify([{ id: 7, name: 'theirs', created_at }]);
  const exchange: Exchange = async ({ method }) => ({ status: method === 'GET' ? 200 : 404, headers: {}, body });
  const { deadline } = deadlineAt(60_000);
  const key = { id: '7', name: 'ours', createdAt: Date.UTC(2024, 0, 1) };
  const results = await revokeEach([key], apiBy(exchange), sendOnce(deadline), silent);
  expect(results).toEqual([{ id: '7', outcome: 'already-gone', isConfirmed }]);
});
