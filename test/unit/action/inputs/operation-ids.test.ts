import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadValue } from '../../../../src/action/inputs/input-values.js';
import { parseOperationIds } from '../../../../src/modes/wait-operation/settings.js';

const one = 'a07f8772-1877-4da9-a939-3a3ae62d1d8d';
const two = 'b17f8772-1877-4da9-a939-3a3ae62d1d8d';

function refusal(text: string): BadValue {
  try {
    parseOperationIds(text);
  } catch (error) {
    if (error instanceof BadValue) return error;
    throw error;
  }
  throw new Error('it was taken');
}

test.each([
  [`${one}`],
  [`${one},${one}`],
  [` ${one} `],
  [`["${one}"]`],
  [`["${one}","${one.toUpperCase()}"]`],
  [`[\n  "${one}"\n]`],
  [`${one}\n`],
])('%j is one id', (text) => {
  expect(parseOperationIds(text.trim())).toEqual([one]);
});

test('ids stand between any commas, blanks and line ends, or in an array, in any case', () => {
  const separator = fc.array(fc.constantFrom(',', ' ', '\n', '\r\n', '\t'), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 6 }),
      separator,
      fc.boolean(),
      (ids, by, upper) => {
        const written = upper ? ids.map((id) => id.toUpperCase()) : ids;
        expect(parseOperationIds(written.join(by.join('')))).toEqual(ids);
        expect(parseOperationIds(JSON.stringify(written))).toEqual(ids);
      },
    ),
  );
});

test('an empty array is an empty list', () => {
  expect(parseOperationIds('[]')).toEqual([]);
  expect(parseOperationIds('[ \n ]')).toEqual([]);
});

test('the word all stands alone', () => {
  expect(parseOperationIds('all')).toBe('all');
  expect(refusal(`all ${one}`).message).toMatch(/the single word all/);
  expect(refusal(`${one},all`).message).toMatch(/the single word all/);
});

test.each(['All', 'ALL'])('%s is not the word, but the message names it', (text) => {
  expect(refusal(text).message).toMatch(/\ball\b/);
});

describe('nothing opens no gate', () => {
  test.each(['', ',', ' , ', ',,\n'])('%j says why it may be so, and what all means', (text) => {
    const { message } = refusal(text.trim());
    expect(message).toMatch(/expression without a value/);
    expect(message).toMatch(/skipped step/);
    expect(message).toMatch(/\ball\b.*every unfinished operation/);
    expect(message).toMatch(/response-file/);
  });
});

test.each(['null', 'undefined', 'None', '["null"]', `${one} null`])('%j is what a broken step leaves', (text) => {
  expect(refusal(text).message).toMatch(/failed jq or template/);
});

test.each([
  '{"operation":{"id":"hunter2"}}',
  '{"connection_uris":["postgres://u:hunter2@host"]}',
  '{ "hunter2',
  '[{"id":"hunter2"}]',
  '["hunter2"',
  '[hunter2]',
  `["${one}"] hunter2`,
  `[["${one}"],"hunter2"]`,
])('what may be a body of the API is refused and not shown: %j', (text) => {
  const { message, hidesValue } = refusal(text);
  expect(hidesValue).toBe(true);
  expect(message).not.toContain('hunter2');
});

test('a JSON object gets a pointer to response-file', () => {
  expect(refusal('{"operations":[]}').message).toMatch(/response-file/);
});

test('the word that is wrong is shown, with its place', () => {
  expect(refusal(`${one} not-an-id ${two}`).message).toMatch(/item 2: “not-an-id”.*expected a UUID/);
});

test('a long word that is wrong is cut', () => {
  expect(refusal('x'.repeat(100_000)).message.length).toBeLessThan(400);
});
