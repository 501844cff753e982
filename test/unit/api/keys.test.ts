import { expect, it, test } from 'vitest';
import { parseKeyList, parseMintedKey } from '../../../src/api/keys.js';
import { UnexpectedShapeError } from '../../../src/api/records.js';

test.each(['', 'o', '1234567'])(
  'a minted key “%s” is too short to be masked, and makes the response unusable',
  (key) => {
    expect(() => parseMintedKey({ id: 5, key })).toThrow(new UnexpectedShapeError('`key` is not a usable key'));
  },
);

it('a minted key of 8 characters is taken', () => {
  expect(parseMintedKey({ id: 5, key: '12345678' })).toEqual({ id: '5', secret: '12345678' });
});

it('a list of keys is complete unless its response announces more', () => {
  const listOf = (headers: Readonly<Record<string, string>>) =>
    parseKeyList([{ id: 5, name: 'shop' }], { status: 200, headers, body: '' });
  expect(listOf({})).toMatchObject({ keys: [{ id: '5', name: 'shop' }], isComplete: true });
  expect(listOf({ link: '<?page=2>; rel=next' })).toMatchObject({ keys: [{ id: '5' }], isComplete: false });
});

it.each([[{ api_keys: [], pagination: { cursor: 'x' } }], [{ keys: [] }]])(
  'a list within an object is not the documented shape, and is unusable: %j',
  (body) => {
    expect(() => parseKeyList(body, { status: 200, headers: {}, body: '' })).toThrow(UnexpectedShapeError);
  },
);
