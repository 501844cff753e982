import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { Masker } from '../../runner/masker.js';

function masking(...values: string[]): (text: string) => string {
  const masker = new Masker();
  for (const value of values) masker.add(value);
  return (text) => masker.mask(text);
}

test('a value is masked wherever it stands', () => {
  expect(masking('hush')('hush, a hush is "hush"')).toBe('***, a *** is "***"');
  expect(masking('')('nothing')).toBe('nothing');
});

test('values that overlap or touch become one run of stars', () => {
  expect(masking('abc', 'cde')('abcde')).toBe('***');
  expect(masking('aba')('ababa')).toBe('***');
  expect(masking('ab', 'cd')('abcd ab cd')).toBe('*** *** ***');
});

test.each([
  ['base64', (value: string) => Buffer.from(value).toString('base64')],
  ['JSON', (value: string) => JSON.stringify(value).slice(1, -1)],
  ['a URI', () => 'p%22a%27s%20s%3C%26%29%C3%A9'],
  ['XML', () => 'p&quot;a&apos;s s&lt;&amp;)é'],
  ['a command line', () => `p\\"a's s<&)é`],
  ['an expression', () => `p"a''s s<&)é`],
])('a value is masked in the form of %s', (_form, encode) => {
  const value = `p"a's s<&)é`;
  expect(masking(value)(`[${encode(value)}]`)).toBe('[***]');
});

test.each([1, 2])('base64 of a longer text hides a value that begins at byte %i of a group', (shift) => {
  const value = 'secret-value-123';
  const encoded = Buffer.from(`${'u'.repeat(3 - shift)}${value}`).toString('base64');
  expect(masking(value)(encoded)).toMatch(/^[A-Za-z0-9+/]{4}\*\*\*$/);
});

test('hex and base64url are not masked, nor are they by the runner', () => {
  const value = 'p?a>s~s??>>';
  for (const encoding of ['hex', 'base64url'] as const) {
    const encoded = Buffer.from(value).toString(encoding);
    expect(masking(value)(encoded)).toBe(encoded);
  }
});
