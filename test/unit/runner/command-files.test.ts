import { expect, test } from 'vitest';
import { parsePairs } from '../../runner/command-files.js';

test.each<[string, Array<[string, string]>]>([
  ['', []],
  [
    'a=1\nb=x=y\n\nc=',
    [
      ['a', '1'],
      ['b', 'x=y'],
      ['c', ''],
    ],
  ],
  ['a=1<<2\n', [['a', '1<<2']]],
  [
    'a<<E\none\ntwo\nE\nb=2\n',
    [
      ['a', 'one\ntwo'],
      ['b', '2'],
    ],
  ],
  ['a<<E\nE\n', [['a', '']]],
  ['a<<E\n\nE', [['a', '']]],
  ['a<<E\n\n\nE', [['a', '\n']]],
  ['a<<E=F\nb=1\nE=F', [['a', 'b=1']]],
  ['a<<E\n E\nEE\nE\n', [['a', ' E\nEE']]],
])('%j is read', (text, pairs) => {
  expect(parsePairs(text)).toEqual({ pairs });
});

test.each([
  ['a=1\nb', /Invalid format 'b'/],
  ['a=1\n<<E\nx\nE', /Name must not be empty/],
  ['a=1\nb<<\nx\n', /delimiter must not be empty/],
  ['a=1\nb<<E\nx\n', /Matching delimiter not found 'E'/],
  ['a=1\nb<<E', /Matching delimiter not found 'E'/],
  ['a=1\nb<<E\nx', /EOF marker missing new line/],
])('%j is malformed, and what stands before the mistake counts', (text, problem) => {
  const parsed = parsePairs(text);
  expect(parsed.invalid).toMatch(problem);
  expect(parsed.pairs).toEqual([['a', '1']]);
});
