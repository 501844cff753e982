import { expect, test } from 'vitest';
import { parseKeyList } from '../../../src/api/keys.js';
import { parseResponse } from '../../../src/api/parse-response.js';

const url = new URL('https://control.test/v2/api_keys');
const request = { method: 'GET', url, headers: {}, maxBytes: 1_000 } as const;

test.each([
  ['a message', '{"message":"No.","code":"FAULT"}', ': No. (code FAULT)'],
  ['a message in an object', '{"error":{"message":"No.","code":"FAULT"}}', ': No. (code FAULT)'],
  ['a message that quotes HTML, but no page of a proxy', '{"message":"no <html>"}', ': no <html>'],
  ['text', 'neither \\/ nor', ': neither \\/ nor'],
  ['the request id', '{"request_id":"req-7"}', ' [request id req-7]'],
  ['the request id of another name', '{"requestId" : "req-7"}', ' [request id req-7]'],
  ['nothing of blanks', ' \n', ''],
  ['nothing of a long number', '12345678901234567890', ''],
])('an error shows %s: %j', (_, body, shown) => {
  const parse = () => parseResponse(request, { status: 400, headers: {}, body }, 0, parseKeyList);
  expect(parse).toThrow(expect.objectContaining({ message: `GET /v2/api_keys: status 400${shown}` }));
});
