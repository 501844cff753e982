import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProjectId, parseProjectIds } from '../../../../src/action/inputs/id-list.js';
import { refusal } from './refusal.js';

describe.each([
  ['one project', (text: string) => [parseProjectId(text)]],
  ['several projects', parseProjectIds],
])('%s', (_, parse) => {
  test.each(['late-field-12345678', 'p', 'a.b', '...', 'Ä', '%2F', '$&', 'all', 'null-1', '123', '007'])(
    '%j is an id, bare or in a JSON array',
    (id) => {
      expect(parse(id)).toEqual([id]);
      expect(parse(JSON.stringify([id]))).toEqual([id]);
    },
  );

  test.each(['.', '..', 'a/b', '/', 'a\u0000b', 'a\u007fb', 'a\u0085b', '[""]', '["a/b"]'])('%j is refused', (text) => {
    expect(refusal(() => parse(text))).toMatch(/not the id of a project/);
  });

  test.each(['null', 'undefined', 'None', '[null]', '["null"]'])('%s is refused', (text) => {
    expect(refusal(() => parse(text))).toMatch(/jq/);
  });

  test.each(['', ',', ', ,'])('%j is refused as empty', (text) => {
    expect(refusal(() => parse(text))).toMatch(/is empty/);
  });

  test.each(['[]', '[ ]'])('%j is refused as an empty list', (text) => {
    expect(refusal(() => parse(text))).toMatch(/is an empty list/);
  });

  test.each(['["a"', '[a]', '["a"] b', '["a",]'])('%s is refused as a broken JSON array', (text) => {
    expect(refusal(() => parse(text))).toMatch(/is not a valid JSON array/);
  });

  test('an object is refused, and not shown', () => {
    expect(refusal(() => parse('{"projects":"hunter2"}'))).toMatch(/^is a JSON object(?!.*hunter2)/);
  });

  test('a number keeps all its digits', () => {
    expect(parse('[12345678901234567890]')).toEqual(['12345678901234567890']);
  });

  test('a number that was rounded is refused', () => {
    expect(refusal(() => parse('[1e300]'))).toMatch(/not written as an integer/);
  });
});

test('several ids may stand between commas, blanks and line ends, or in a JSON array, and count once', () => {
  const separator = fc.array(fc.constantFrom(',', ' ', '\n', '\r\n', '\t'), { minLength: 1, maxLength: 3 });
  const id = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).filter((word) => word !== 'null' && word !== 'undefined');
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 100 }), separator, (ids, by) => {
      expect(parseProjectIds([...ids, ids[0]].join(by.join('')))).toEqual(ids);
      expect(parseProjectIds(JSON.stringify([...ids, ids[0]]))).toEqual(ids);
    }),
  );
});

test('100 projects are accepted in one step, 101 are not', () => {
  const ids = Array.from({ length: 101 }, (_, index) => `p-${index}`);
  expect(parseProjectIds(ids.slice(1).join(' '))).toHaveLength(100);
  expect(refusal(() => parseProjectIds(ids.join(' ')))).toMatch(/lists 101 projects; expected at most 100/);
});

test.each(['a,b', 'a b', 'a\nb', '["a","b"]'])('two projects where one is expected are refused: %j', (text) => {
  expect(refusal(() => parseProjectId(text))).toMatch(/lists 2 projects; expected one\. Only wait-operation .*all/);
});

test('one project that is named twice is one', () => {
  expect(parseProjectId('a, a')).toBe('a');
});
