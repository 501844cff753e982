import { expect, test } from 'vitest';
import { silent } from '../../../../src/api/log.js';
import { KeyRegister } from '../../../../src/modes/post/key-register.js';

test('a listed key without a name proves nothing about the key with its id', () => {
  const register = new KeyRegister('shop-key', silent);
  register.add('7', 0);
  register.update({ keys: [{ id: '7', name: undefined, record: {} }], isComplete: true }, undefined);
  expect(register.pending.map(({ id }) => id)).toEqual(['7']);
});

test('a key that a list still shows is pending again, although it seemed to be gone', () => {
  const register = new KeyRegister('shop-key', silent);
  register.setGone(register.add('7', 0));
  register.update({ keys: [{ id: '7', name: 'shop-key', record: {} }], isComplete: true }, undefined);
  expect([register.pending.map(({ id }) => id), register.gone]).toEqual([['7'], []]);
});
