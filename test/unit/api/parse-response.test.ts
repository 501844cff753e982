import { expect, test } from 'vitest';
import { parseResponse } from '../../../src/api/parse-response.js';
import { parseKeyList } from '../../../src/api/records.js';

test.each([
  ['the message and code of a JSON body', '{"message":"No.","code":"FAULT"}', ': No. (code FAULT)'],
  ['the message and code of a nested object', '{"error":{"message":"No.","code":"FAULT"}}', ': No. (code FAULT)'],
  ['a body of plain text', 'neither \\/ nor', ': neither \\/ nor'],
  ['a request id in the field requestId', '{"requestId" : "req-7"}', ' [request id req-7]'],
  ['nothing of a truncated JSON body', '{"message":"No', ''],
  ['nothing of a message that is not text', '{"message":["No"]}', ''],
])('the error for a 400 shows %s', (_, body, shown) => {
  const url = new URL('https://control.test/v2/api_keys');
  const request = { method: 'GET', url, headers: {}, maxBytes: 1_000 } as const;
  const parse = () => parseResponse(request, { status: 400, headers: {}, body }, 0, parseKeyList);
  expect(parse).toThrow(expect.objectContaining({ message: `status 400${shown}` }));
});
