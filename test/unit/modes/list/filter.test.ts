import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operationFields, projectFields } from '../../../../src/api/records.js';
import { BadFilter, matches, parseFilter } from '../../../../src/modes/list/filter.js';
import { changingFields, waitFilterFields } from '../../../../src/modes/wait-operation/settings.js';

/** Tries every length that a star may have. */
function oracle(value: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return value.length === 0;
  if (first === '*') return Array.from({ length: value.length + 1 }).some((_, n) => oracle(value.slice(n), rest));
  const [letter, ...others] = value;
  return letter !== undefined && (first === '?' || first === letter) && oracle(others, rest);
}

test('a pattern matches what trying everything finds', () => {
  const text = (letters: string[]) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text(['a', 'b', 'A', '*', '?', '🙂']), text(['a', 'b', '*', '?', '🙂', '.']), (value, pattern) => {
      expect(matches(value, pattern)).toBe(oracle(Array.from(value), Array.from(pattern)));
    }),
    { numRuns: 3_000 },
  );
});

test('no pattern takes for ever', () => {
  const began = performance.now();
  expect(matches('a'.repeat(5_000), `${'a*'.repeat(500)}b`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(2_000);
});

const record = {
  id: 'a07f8772-1877-4da9-a939-3a3ae62d1d8d',
  project_id: 'late-field-1',
  branch_id: 'br-green-sun-1',
  endpoint_id: null,
  action: 'create_branch',
  created_at: '2026-01-01T00:00:00.000Z',
};

test.each([
  ['', true],
  ['action=create_branch', true],
  ['action=create', false],
  ['branch_id=BR-green-sun-1', false],
  ['action=create_*', true],
  ['action=create?branch', true],
  ['action!=create_*', false],
  ['action!=start_compute', true],
  ['  action = create_branch  ', true],
  ['action=create_*\nbranch_id=br-green-*', true],
  ['action=create_*\nbranch_id=br-red-*', false],
  ['\n\naction=*\n\n', true],
  ['action=create_branch\r\nbranch_id=*', true],
  ['endpoint_id=*', false],
  ['endpoint_id!=*', true],
  ['endpoint_id!=ep-1', true],
  ['branch_id=br=green', false],
  ['action=[a-z]*', false],
  ['action=.*', false],
])('filter %j: %s', (text, admits) => {
  expect(parseFilter(text, waitFilterFields, changingFields).admits(record)).toBe(admits);
});

function errorOf(text: string, fields: readonly string[], refused?: Readonly<Record<string, string>>): string {
  try {
    parseFilter(text, fields, refused);
  } catch (error) {
    if (error instanceof BadFilter) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

test.each([
  ['an unknown field', 'colour=red', /no such field/],
  ['a field with a typing error', 'brach_id=x', /did you mean branch_id\?/],
  ['a field in capitals', 'ACTION=x', /did you mean action\?/],
  ['a name of every object', 'constructor=x', /no such field/],
  ['no sign', 'action', /expected field=pattern or field!=pattern/],
  ['no field', '=x', /no such field/],
  ['no pattern', 'action=', /the pattern is empty; use \*/],
  ['no pattern but blanks', 'action!=   ', /the pattern is empty/],
  ['status', 'status=running', /status cannot be used here: it changes/],
  ['failures_count', 'failures_count=0', /failures_count cannot be used here/],
  ['updated_at', 'updated_at!=x', /updated_at cannot be used here/],
])('%s is refused', (_, line, message) => {
  expect(errorOf(line, waitFilterFields, changingFields)).toMatch(message);
  expect(errorOf(`action=*\n${line}`, waitFilterFields, changingFields)).toMatch(/line 2/);
});

test.each(['colour=red', 'brach_id=x'])('an unknown field gets the list of all: %s', (line) => {
  const said = errorOf(line, waitFilterFields, changingFields);
  for (const name of waitFilterFields) expect(said).toContain(name);
  expect(said, 'a sentence ends before the next begins').not.toMatch(/field The/);
});

describe('lines that YAML has folded into one are refused', () => {
  test.each([
    ['status=failed action=create_branch', 'action', 15],
    ['status!=failed action!=create_branch', 'action', 16],
    ['branch_id=br-1  status = failed', 'status', 17],
    ['action=*\tid=x', 'id', 10],
    [`branch_id=${'x'.repeat(300)} status=failed`, 'status', 312],
  ])('%.40s', (line, field, column) => {
    const said = errorOf(line, operationFields);
    expect(said).toContain(`line 1, column ${column}: ${field} starts a second condition`);
    expect(said).toContain('“filter: |”');
  });

  test('a field that cannot be used here counts, too', () => {
    expect(errorOf('branch_id=br-1 status=failed', waitFilterFields, changingFields)).toMatch(/second condition/);
  });

  test.each(['name=my project', 'name=a=b', 'name=rename=x', 'name=x colour=red', 'name=x id', 'name=x?id=y'])(
    '%j is one condition',
    (line) => {
      expect(() => parseFilter(line, projectFields)).not.toThrow();
    },
  );
});

describe('words that the API documents', () => {
  test.each([
    ['status=Failed', 'failed'],
    ['status!=FINISHED', 'finished'],
    ['status=Cancelled', 'cancelled'],
    ['action=Create_Branch', 'create_branch'],
    ['action!=START_COMPUTE', 'start_compute'],
  ])('%s is refused, and the word is named', (line, word) => {
    expect(errorOf(line, operationFields)).toContain(`write ${word}`);
  });

  test('an action in capitals is refused in a wait, too', () => {
    expect(errorOf('action=Create_Branch', waitFilterFields, changingFields)).toContain('write create_branch');
  });

  test.each([
    ['status=paused', 'match nothing'],
    ['status!=paused', 'exclude nothing'],
    ['status=OK', 'match nothing'],
  ])('%s gets a warning: it may %s', (line, what) => {
    expect(parseFilter(`id=*\n${line}`, operationFields).warnings).toMatchObject([
      expect.stringMatching(new RegExp(`^line 2: .* is not a known status, .* ${what}.*skipped`)),
    ]);
  });

  test.each([
    ...['scheduling', 'running', 'finished', 'failed', 'skipped', 'error', 'cancelled', 'cancelling'].map(
      (word) => `status=${word}`,
    ),
    'status=Fail*',
    'status=?aused',
    'action=of_tomorrow',
    'action=create_branch',
    'branch_id=Failed',
  ])('%s is accepted without a warning', (line) => {
    expect(parseFilter(line, operationFields).warnings).toEqual([]);
  });
});
