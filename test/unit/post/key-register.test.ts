import { expect, test } from 'vitest';
import type { ControlApi } from '../../../src/api/control-api.js';
import { noRetry } from '../../../src/http/retry.js';
import { KeyRegister } from '../../../src/post/key-register.js';
import { Cancellation, Deadline } from '../../../src/time/deadline.js';
import { VirtualClock } from '../../virtual/clock.js';
import { silent } from '../../virtual/silent.js';

test('a pending key stays pending if a list shows its id without a name', () => {
  const register = new KeyRegister('shop-key', new VirtualClock(), silent, true);
  register.add('7', false);
  register.update({ keys: new Map([['7', { id: '7', name: undefined, record: {} }]]), missing: undefined }, 0);
  expect(register.pending.map(({ id }) => id)).toEqual(['7']);
});

test('a key that was marked as gone is pending again if a list still shows it', () => {
  const register = new KeyRegister('shop-key', new VirtualClock(), silent, true);
  register.noteGone(register.add('7', false), 0);
  register.update({ keys: new Map([['7', { id: '7', name: 'shop-key', record: {} }]]), missing: undefined }, 0);
  expect([register.pending.map(({ id }) => id), register.gone]).toEqual([['7'], []]);
});

test('a key found in a list counts as new, so it is not gone when it is first missing', () => {
  const register = new KeyRegister('shop-key', new VirtualClock(), silent, true);
  const record = { created_at: '2020-01-01T00:00:00Z' };
  register.update({ keys: new Map([['7', { id: '7', name: 'shop-key', record }]]), missing: undefined }, 0);
  const [found] = register.pending;
  expect(found && register.noteGone(found, 0)?.message).toMatch(/so new that a replica may not know it yet/);
  expect(register.gone).toEqual([]);
});

test.for([
  [0, 9_999, 'no proof'],
  [0, 10_000, 'gone'],
  // The 10 s begin with the first answer, not with its request.
  [4_000, 13_999, 'no proof'],
  [4_000, 14_000, 'gone'],
] as const)('after a first answer at %i ms, a new key that is missing when asked at %i ms is: %s', async (row) => {
  const [firstAt, askedAt, verdict] = row;
  const clock = new VirtualClock();
  const register = new KeyRegister('shop-key', clock, silent, true);
  const key = register.add('7', true);
  await clock.run(clock.sleep(firstAt));
  register.noteGone(key, 0);
  await clock.run(clock.sleep(15_000));
  expect(register.noteGone(key, askedAt) === undefined ? 'gone' : 'no proof').toBe(verdict);
});

test('only the latest list tells whether the search is complete', () => {
  const register = new KeyRegister('shop-key', new VirtualClock(), silent, true);
  register.update({ keys: new Map(), missing: undefined }, 0);
  register.update({ keys: new Map(), missing: 'header link' }, 0);
  expect(register.isComplete).toBe(false);
});

test.for([
  [true, ['7', '8']],
  [false, ['7']],
] as const)('a check of one key notes another one if there may be one: %s', async ([mayHaveStrays, ids]) => {
  const clock = new VirtualClock();
  const register = new KeyRegister('shop-key', clock, silent, mayHaveStrays);
  const key = register.add('7', true);
  const keys = new Map([['8', { id: '8', name: 'shop-key', record: {} }]]);
  const api = { keys: async () => ({ keys, missing: undefined }) } as unknown as ControlApi;
  const deadline = new Deadline(clock, 20_000, new Cancellation());
  await register.listCheck(key, api, { deadline, retry: noRetry })(key.revocation.key);
  expect(register.pending.map(({ id }) => id)).toEqual(ids);
});

test('a check of one key that shows the id of another key under a new name proves that the other key is gone', async () => {
  const clock = new VirtualClock();
  const register = new KeyRegister('shop-key', clock, silent, true);
  const key = register.add('7', true);
  register.add('8', true);
  const keys = new Map([
    ['7', { id: '7', name: 'shop-key', record: {} }],
    ['8', { id: '8', name: 'other', record: {} }],
  ]);
  const api = { keys: async () => ({ keys, missing: undefined }) } as unknown as ControlApi;
  const deadline = new Deadline(clock, 20_000, new Cancellation());
  await register.listCheck(key, api, { deadline, retry: noRetry })(key.revocation.key);
  register.update({ keys: new Map([['8', { id: '8', name: 'shop-key', record: {} }]]), missing: undefined }, 0);
  expect(register.gone.map(({ id }) => id)).toEqual(['8']);
});
