import { expect, test } from 'vitest';
import { isKnownStatus, phaseForStatus } from '../../../src/operations/description.js';

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
  expect(phaseForStatus(status)).toBe(phase);
  expect(isKnownStatus(status)).toBe(true);
});

test.each(['', 'done', 'Finished', ' finished', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'what nobody knows has not ended: %j',
  (status) => {
    expect(phaseForStatus(status)).toBe('pending');
    expect(isKnownStatus(status)).toBe(false);
  },
);
