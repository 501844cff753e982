import { expect, test } from 'vitest';
import { ControlApi } from '../../../src/api/control-api.js';
import { silent } from '../../../src/api/log.js';
import { type Exchange, type HttpResponse, TransportError } from '../../../src/http/exchange.js';
import { noRetry } from '../../../src/http/retry.js';
import { includesKey, Revocation } from '../../../src/keys/revocation.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';

type Response = number | string | Partial<HttpResponse> | Error;

const closed = new TransportError('The connection closed');
const unsent = new TransportError('Connection refused', { mayHaveTakenEffect: false });
const page = (status: number): Response => ({ status, body: '<!doctype html><title>Login</title>' });
/** The service closed the first connection. This responds to the request on a second one. */
const resent = (status: number): Response => ({ status, wasResent: true });
const listed = '[{"id":1,"name":"console"},{"id":7,"name":"ours"}]';
const notListed = '[{"id":1,"name":"console"}]';
const nextPage = { link: '</v2/api_keys?page=2>; rel="next"' };

/** The response to each DELETE, that to each request for the list after it, and what the last attempt proves. */
type Row = [title: string, deletes: Response[], list: Response, proof: 'revoked' | 'already-gone' | 'nothing'];

const rows: readonly Row[] = [
  ['revoked: true is proof', ['{"id":7,"revoked":true}'], listed, 'revoked'],
  ['revoked: true without an id is proof', ['{"revoked":true}'], listed, 'revoked'],
  ['revoked: true with 202 is proof', [{ status: 202, body: '{"id":"7","revoked":true}' }], listed, 'revoked'],
  ['204 and a list without the key are proof', [204], notListed, 'revoked'],
  ['revoked: false and a list without the key are proof', ['{"id":7,"revoked":false}'], notListed, 'revoked'],
  ['a 404 and a list without the key are proof', [404], notListed, 'already-gone'],
  ['a 404 and a list with another name for the id are proof', [404], '[{"id":7,"name":"other"}]', 'already-gone'],
  ['a 404 after a lost response is proof', [closed, 404], listed, 'revoked'],
  ['a 404 after a 500 is proof', [500, 404], listed, 'revoked'],
  ['a 404 to a request that was sent twice and a list without the key are proof', [resent(404)], notListed, 'revoked'],
  ['204 that the list contradicts is none', [204], listed, 'nothing'],
  ['revoked: "true" that the list contradicts is none', ['{"id":7,"revoked":"true"}'], listed, 'nothing'],
  ['an array that the list contradicts is none', ['[{"id":7,"revoked":true}]'], listed, 'nothing'],
  ['the revocation of another key is none', ['{"id":3,"revoked":true}'], notListed, 'nothing'],
  ['a 404 after the revocation of another key is none', ['{"id":3,"revoked":true}', 404], listed, 'nothing'],
  ['a 404 that the list contradicts is none', [404], listed, 'nothing'],
  ['a repeated 404 that the list contradicts is none', [404, 404], listed, 'nothing'],
  ['a 404 after a 404 and a 503 is none', [404, 503, 404], listed, 'nothing'],
  ['a 404 after a request that never reached the service is none', [unsent, 404], listed, 'nothing'],
  ['a 404 to a request that was sent twice is none', [resent(404)], listed, 'nothing'],
  ['a 404 after a 403 is none', [403, 404], listed, 'nothing'],
  ['a 404 after a 408 is none', [408, 404], listed, 'nothing'],
  ['a 404 after a page with 503 is none', [page(503), 404], listed, 'nothing'],
  ['a 404 after truncated JSON with 200 is none', ['{"id":7', 404], listed, 'nothing'],
  ['a page with 404 is none', [page(404)], notListed, 'nothing'],
  ['a login page is none', [page(200)], notListed, 'nothing'],
  ['a redirect is none', [{ status: 302, headers: { location: '/login' } }], notListed, 'nothing'],
  ['a 401 is none', [401], notListed, 'nothing'],
  ['a 410 is none', [410], notListed, 'nothing'],
  ['a list that is an object is none', [404], '{"keys":[]}', 'nothing'],
  ['a truncated list is none', [404], '[{"id":1}', 'nothing'],
  ['a partial list is none', [404], { status: 206, body: '[]' }, 'nothing'],
  ['a list with 201 is none', [404], { status: 201, body: '[]' }, 'nothing'],
  ['a list with 404 is none', [404], { status: 404, body: '[]' }, 'nothing'],
  ['a login page in place of the list is none', [404], page(200), 'nothing'],
  ['a list that fails is none', [404], 503, 'nothing'],
  ['a list of other records is none', [404], '[{"name":"x"}]', 'nothing'],
  ['a list that announces more is none', [404], { headers: nextPage, body: notListed }, 'nothing'],
  ['a list with the id as a text is none', [404], '[{"id":"7","name":"ours"}]', 'nothing'],
  ['a list with the id without a name is none', [404], '[{"id":7}]', 'nothing'],
];

test.each(rows)('%s', async (_, deletes, list, proof) => {
  const exchange: Exchange = async ({ method }) => {
    const response = method === 'DELETE' ? (deletes[attempts++] ?? 500) : list;
    if (response instanceof Error) throw response;
    const given = typeof response === 'number' ? { status: response } : response;
    return { status: 200, headers: {}, body: '', ...(typeof given === 'string' ? { body: given } : given) };
  };
  let attempts = 0;
  const access = { baseUrl: new URL('https://control.test/v2'), apiKey: 'a-parent-key', requestTimeout: 5_000 };
  const api = new ControlApi(exchange, access, silent);
  const deadline = new Deadline(new VirtualClock(), 60_000, new Cancellation());
  const revocation = new Revocation({ id: '7', name: 'ours' });
  const attempt = () =>
    revocation.attempt(api, deadline, async (key) => includesKey(await api.keys({ deadline, retry: noRetry }), key));

  for (let n = 1; n < deletes.length; n++) await expect(attempt()).rejects.toThrow();
  if (proof === 'nothing') await expect(attempt()).rejects.toThrow();
  else expect(await attempt()).toBe(proof);
  expect(attempts).toBe(deletes.length);
});
