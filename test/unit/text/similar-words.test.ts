import { expect, test } from 'vitest';
import { nearest } from '../../../src/text/similar-words.js';

test.each([
  ['actoin', 'action'],
  ['Action', 'action'],
  ['branch', 'branch_id'],
  ['create_at', 'created_at'],
  ['creatd_xy', 'created_at'],
  ['', 'none'],
  ['xy', 'none'],
  ['actxyz', 'none'],
  ['the quick brown fox', 'none'],
])('the suggestion for the unknown word “%s” is %s', (word, expected) => {
  const words = ['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'created_at'];
  expect(nearest(word, words) ?? 'none').toBe(expected);
});
