import { expect, test } from 'vitest';
import { nearest } from '../../../src/text/sentences.js';

const words = ['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'created_at'];

test.each([
  ['actoin', 'action'],
  ['Action', 'action'],
  ['branch', 'branch_id'],
  ['create_at', 'created_at'],
  ['endpoint-id', 'endpoint_id'],
])('%s was meant as %s', (word, meant) => {
  expect(nearest(word, words)).toBe(meant);
});

test.each(['', 'xyzxyz', 'the quick brown fox', 'a'.repeat(100_000)])('nothing is near to %.20s', (word) => {
  expect(nearest(word, words)).toBeUndefined();
});
