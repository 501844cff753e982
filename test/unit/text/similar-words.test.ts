import { expect, test } from 'vitest';
import { nearest } from '../../../src/text/similar-words.js';

test.each([
  ['action', ['actoin', 'Action']],
  ['branch_id', ['branch']],
  ['created_at', ['create_at', 'creatd_xy']],
  [undefined, ['', 'xy', 'actxyz', 'the quick brown fox']],
])('the suggestion is %s for the unknown words %j', (expected, unknown) => {
  const words = ['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'created_at'];
  for (const word of unknown) expect(nearest(word, words), word).toBe(expected);
});
