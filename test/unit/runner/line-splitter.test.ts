import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../runner/line-splitter.js';

function split(chunks: ReadonlyArray<string | Buffer>): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.write(Buffer.from(chunk));
  splitter.end();
  return lines;
}

test.each<[string[], string[]]>([
  [['a\nb\r\nc\rd'], ['a', 'b', 'c', 'd']],
  [
    ['a', 'b\n', '\nc'],
    ['ab', '', 'c'],
  ],
  [
    ['a\r', '\nb\r', 'c\n'],
    ['a', 'b', 'c'],
  ],
  [
    ['a\r', '\n', '\nb'],
    ['a', '', 'b'],
  ],
  [[], []],
])('%j is cut into %j', (chunks, lines) => {
  expect(split(chunks)).toEqual(lines);
});

test('a character in two chunks stays whole', () => {
  const bytes = Buffer.from('grün\n');
  expect(split([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(['grün']);
});
