import { expect, test } from 'vitest';
import { parseKeyList } from '../../../src/api/keys.js';
import { parseResponse } from '../../../src/api/parse-response.js';
import type { HttpResponse } from '../../../src/http/exchange.js';

function parseKeys(response: Pick<HttpResponse, 'status' | 'body'>) {
  const request = {
    method: 'GET',
    url: new URL('https://control.test/v2/api_keys'),
    headers: {},
    maxBytes: 1_000,
  } as const;
  return parseResponse(request, { headers: {}, ...response }, 0, parseKeyList);
}

test('an error message that quotes HTML is what the service said, not a page of a proxy', () => {
  const body = JSON.stringify({ message: 'a name must not contain <html>' });
  expect(() => parseKeys({ status: 400, body })).toThrow('status 400: a name must not contain <html>');
});

test.each(['"request_id":"req-7"', '"requestId" : "req-7"'])(
  'the error shows the request id of a body with %s',
  (field) => {
    expect(() => parseKeys({ status: 400, body: `{${field}}` })).toThrow('status 400 [request id req-7]');
  },
);

test('an error with a blank body says its status alone', () => {
  expect(() => parseKeys({ status: 400, body: ' \n' })).toThrow(/status 400$/);
});
