import { expect, it, test } from 'vitest';
import { mintedIn } from '../../../src/api/keys.js';
import { Misshapen } from '../../../src/api/records.js';

test.each(['', 'o', '1234567'])(
  'a minted key “%s” is too short to be masked, and makes the response unusable',
  (key) => {
    expect(() => mintedIn({ id: 5, key })).toThrow(new Misshapen('`key` is not a new key'));
  },
);

it('a minted key of 8 characters is taken', () => {
  expect(mintedIn({ id: 5, key: '12345678' })).toEqual({ id: '5', secret: '12345678' });
});
