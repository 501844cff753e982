import { expect, test } from 'vitest';
import { parseResponse } from '../../../src/api/parse-response.js';
import { parseKeyList } from '../../../src/api/records.js';

function parse(method: 'GET' | 'POST', status: number, body: string) {
  const url = new URL('https://control.test/v2/api_keys');
  const request = { method, url, headers: {}, maxBytes: 1_000 };
  return parseResponse(request, { status, headers: {}, body }, 0, parseKeyList);
}

test.each([
  ['the message and code of a JSON body', '{"message":"No.","code":"FAULT"}', ': No. (code FAULT)'],
  ['the message and code of a nested object', '{"error":{"message":"No.","code":"FAULT"}}', ': No. (code FAULT)'],
  ['a body of plain text', 'neither \\/ nor', ': neither \\/ nor'],
  ['the request id of a JSON body', '{"request_id":"req-7"}', ' [request id req-7]'],
  ['the request id under the name requestId', '{"requestId" : "req-7"}', ' [request id req-7]'],
  ['nothing of a blank body', ' \n', ''],
  ['nothing of truncated JSON', '{"message":"No', ''],
  ['nothing of a message that is no text', '{"message":["No"]}', ''],
])('the error for a 400 shows %s', (_, body, shown) => {
  const error = expect.objectContaining({ message: `status 400${shown}` });
  expect(() => parse('GET', 400, body)).toThrow(error);
});

test.each([
  [400, 'The name is too long.', ': The name is too long. (code FAULT) [request id req-7]'],
  [409, 'Key shop-run1, or "a b" is bad!', ': Key *** or "a b" is bad! (code FAULT) [request id req-7]'],
  [422, 'Not abcdefg1: abcdef1 is', ': Not *** abcdef1 is (code FAULT) [request id req-7]'],
  [422, 'Not permitted', ': Not permitted (code FAULT) [request id req-7]'],
  [302, 'No.', ': the redirect was not followed'],
  [500, 'No.', ''],
])('the error for a create with %i shows only safe parts of “%s”', (status, message, shown) => {
  const body = JSON.stringify({ message, code: 'FAULT', request_id: 'req-7' });
  const error = expect.objectContaining({ message: `status ${status}${shown}` });
  expect(() => parse('POST', status, body)).toThrow(error);
});
