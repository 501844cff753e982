import { expect, test } from 'vitest';
import { parseKeyList } from '../../../src/api/keys.js';

test('a list of keys with the status 203 is rejected', () => {
  const response = { status: 203, headers: {}, body: '[]' };
  expect(() => parseKeyList([], response)).toThrow('`status` should be 200, but is 203');
});
