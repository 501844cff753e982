import { expect, test } from 'vitest';
import { ControlApi } from '../../../src/api/control-api.js';
import { TransportError } from '../../../src/http/errors.js';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.js';
import { noRetry } from '../../../src/http/retry.js';
import { includesKey, Revocation } from '../../../src/keys/revocation.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';
import { silent } from '../../virtual/silent.js';

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
type Row = [evidence: string, deletes: Response[], list: Response, proof: 'revoked' | 'already-gone' | 'nothing'];

const rows: readonly Row[] = [
  ['a response with revoked: true', ['{"id":7,"revoked":true}'], listed, 'revoked'],
  ['a response with revoked: true but no id', ['{"revoked":true}'], listed, 'revoked'],
  ['a 202 response with revoked: true', [{ status: 202, body: '{"id":"7","revoked":true}' }], listed, 'revoked'],
  ['a 204 and then a list without the key', [204], notListed, 'revoked'],
  ['revoked: false and then a list without the key', ['{"id":7,"revoked":false}'], notListed, 'revoked'],
  ['a 404 and then a list without the key', [404], notListed, 'already-gone'],
  ['a 404 and then a list with another name for the id', [404], '[{"id":7,"name":"other"}]', 'already-gone'],
  ['a 404 after a lost response', [closed, 404], listed, 'revoked'],
  ['a 404 after a 500', [500, 404], listed, 'revoked'],
  ['a 404 to a request that was sent twice and then a list without the key', [resent(404)], notListed, 'revoked'],
  ['a 204 that the list contradicts', [204], listed, 'nothing'],
  ['revoked: "true" that the list contradicts', ['{"id":7,"revoked":"true"}'], listed, 'nothing'],
  ['an array that the list contradicts', ['[{"id":7,"revoked":true}]'], listed, 'nothing'],
  ['a response that revokes another key', ['{"id":3,"revoked":true}'], notListed, 'nothing'],
  ['a 404 after a response that revokes another key', ['{"id":3,"revoked":true}', 404], listed, 'nothing'],
  ['a 404 that the list contradicts', [404], listed, 'nothing'],
  ['a repeated 404 that the list contradicts', [404, 404], listed, 'nothing'],
  ['a 404 after a 404 and a 503', [404, 503, 404], listed, 'nothing'],
  ['a 404 after a request that never reached the service', [unsent, 404], listed, 'nothing'],
  ['a 404 to a request that was sent twice', [resent(404)], listed, 'nothing'],
  ['a 404 after a 403', [403, 404], listed, 'nothing'],
  ['a 404 after a 408', [408, 404], listed, 'nothing'],
  ['a 404 after an HTML page with 503', [page(503), 404], listed, 'nothing'],
  ['a 404 after truncated JSON with 200', ['{"id":7', 404], listed, 'nothing'],
  ['an HTML page with 404', [page(404)], notListed, 'nothing'],
  ['a login page', [page(200)], notListed, 'nothing'],
  ['a redirect', [{ status: 302, headers: { location: '/login' } }], notListed, 'nothing'],
  ['a 401', [401], notListed, 'nothing'],
  ['a 410', [410], notListed, 'nothing'],
  ['an object in place of the list', [404], '{"keys":[]}', 'nothing'],
  ['a truncated list', [404], '[{"id":1}', 'nothing'],
  ['a partial list', [404], { status: 206, body: '[]' }, 'nothing'],
  ['a list with 201', [404], { status: 201, body: '[]' }, 'nothing'],
  ['a list with 404', [404], { status: 404, body: '[]' }, 'nothing'],
  ['a login page in place of the list', [404], page(200), 'nothing'],
  ['a failed request for the list', [404], 503, 'nothing'],
  ['a list of other records', [404], '[{"name":"x"}]', 'nothing'],
  ['a list that announces another page', [404], { headers: nextPage, body: notListed }, 'nothing'],
  ['a list with two names for the id', [404], '[{"id":7,"name":"ours"},{"id":7,"name":"other"}]', 'nothing'],
  ['a list with the id as text', [404], '[{"id":"7","name":"ours"}]', 'nothing'],
  ['a list with the id but without its name', [404], '[{"id":7}]', 'nothing'],
];

const claims = {
  revoked: 'proves that the key is revoked',
  'already-gone': 'proves that the key was already gone',
  nothing: 'does not prove that the key is gone',
};
const cases = rows.map(([evidence, ...row]) => [`${evidence} ${claims[row[2]]}`, ...row] as const);

test.each(cases)('%s', async (_, deletes, list, proof) => {
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
