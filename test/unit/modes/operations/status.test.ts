import { expect, test } from 'vitest';
import { isKnown, phaseOf } from '../../../../src/modes/operations/status.js';

test.each([
  ['scheduling', 'pending'],
  ['running', 'pending'],
  ['cancelling', 'pending'],
  ['finished', 'succeeded'],
  ['skipped', 'succeeded'],
  ['failed', 'failed'],
  ['error', 'failed'],
  ['cancelled', 'failed'],
])('%s is known, and %s', (status, phase) => {
  expect(phaseOf(status)).toBe(phase);
  expect(isKnown(status)).toBe(true);
});

test.each(['', 'done', 'Finished', ' finished', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'what nobody knows has not ended: %j',
  (status) => {
    expect(phaseOf(status)).toBe('pending');
    expect(isKnown(status)).toBe(false);
  },
);
