import { expect, test } from 'vitest';
import { didYouMean } from '../../../src/text/similar-words.js';

test.each([
  ['action', ['actoin', 'Action']],
  ['branch_id', ['branch']],
  ['created_at', ['create_at', 'creatd_xy']],
  ['', ['', 'xy', 'actxyz', 'the quick brown fox']],
])('the suggestion is %j for the unknown words %j', (meant, unknown) => {
  const words = ['id', 'project_id', 'branch_id', 'endpoint_id', 'action', 'created_at'];
  const expected = meant && ` (did you mean ${meant}?)`;
  for (const word of unknown) expect(didYouMean(word, words), word).toBe(expected);
});
