import { expect, test } from 'vitest';
import { parseKeyId } from '../../../src/action/inputs/input-values.js';

test.each([
  ['is quoted if it is too short for a key', '12345678901234x', false],
  ['is not quoted if it may be a key', '123456789012345x', true],
])('an invalid id of a key %s', (_, text, hidesValue) => {
  expect(() => parseKeyId(text)).toThrow(expect.objectContaining({ hidesValue }));
});
