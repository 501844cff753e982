import { expect, test } from 'vitest';
import type { ControlApi } from '../../../src/api/control-api.js';
import { KeyRegister } from '../../../src/post/key-register.js';
import { deadlineAt } from '../../virtual/deadline.js';
import { sendOnce } from '../../virtual/send.js';
import { silent } from '../../virtual/silent.js';

const idsOf = (keys: readonly { readonly id: string }[]) => keys.map(({ id }) => id);

function listOf(names: Readonly<Record<string, string | undefined>>, createdAt?: number) {
  const keys = Object.entries(names).map(([id, name]) => [id, { id, name, createdAt, record: {} }] as const);
  return new Map(keys);
}

/** A register with one key, and a check of that key by this list. */
function setUp(isYoung: boolean) {
  const { clock, deadline } = deadlineAt(20_000);
  const register = new KeyRegister('shop-key', clock, silent);
  const key = register.add('7', isYoung);
  const checkBy = (list: ReturnType<typeof listOf>) =>
    register.listCheck(
      key,
      { keys: async () => list } as unknown as ControlApi,
      sendOnce(deadline),
    )(key.revocation.key);
  return { clock, register, key, checkBy };
}

test('one list without a key is no proof if an earlier list had the key, however old its record is', () => {
  const { register } = setUp(false);
  register.update(listOf({ 8: 'shop-key' }, 0), 0);
  const found = register.pending.find(({ id }) => id === '8');
  expect(found && register.noteGone(found, 0)?.message).toMatch(/so new that a replica may not know it yet/);
  expect(register.gone).toEqual([]);
});

test.for([
  [0, 9_999, 'not gone'],
  [0, 10_000, 'gone'],
  // The 10 s begin with the first answer, not with its request.
  [4_000, 13_999, 'not gone'],
  [4_000, 14_000, 'gone'],
] as const)('a new key that is missing at %i ms and again at %i ms is: %s', async ([firstAt, askedAt, verdict]) => {
  // The answer comes late: one to the DELETE of the key, or a list.
  for (const isList of [false, true]) {
    const { clock, register, key } = setUp(true);
    await clock.run(clock.sleep(firstAt));
    register.noteGone(key, 0);
    await clock.run(clock.sleep(15_000));
    if (isList) register.update(listOf({}), askedAt);
    else register.noteGone(key, askedAt);
    expect(idsOf(register.gone)).toEqual(verdict === 'gone' ? ['7'] : []);
  }
});

test('a later key with the same id proves a key gone, even if the list was read to check another key', async () => {
  const { register, checkBy } = setUp(true);
  register.update(listOf({ 7: 'shop-key', 8: 'shop-key' }, 1), 0);
  await checkBy(listOf({ 7: 'shop-key', 8: 'other' }, 2));
  register.update(listOf({ 8: 'shop-key' }, 1), 0);
  expect(idsOf(register.gone)).toEqual(['8']);
});

test.for([
  ['with the same creation time is out of date', 1, []],
  ['with a later creation time shows another key of this job', 2, ['7']],
] as const)('a list that shows a revoked key again %s', ([, createdAt, pending]) => {
  const { register, key } = setUp(true);
  register.update(listOf({ 7: 'shop-key' }, 1), 0);
  key.revocation.isConfirmed = true;
  register.noteGone(key, 0);
  register.update(listOf({ 7: 'shop-key' }, createdAt), 0);
  expect(idsOf(register.pending)).toEqual(pending);
});
