import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BadFilter, matches, parseFilter } from '../../../../src/modes/lists/filter.js';
import { fieldsToWaitBy, fieldsUnderWay } from '../../../../src/modes/wait/fields.js';

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
  ['action=Create_branch', false],
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
  expect(parseFilter(text, fieldsToWaitBy, fieldsUnderWay).admits(record)).toBe(admits);
});

function errorOf(text: string): string {
  try {
    parseFilter(text, fieldsToWaitBy, fieldsUnderWay);
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
  expect(errorOf(line)).toMatch(message);
  expect(errorOf(`action=*\n${line}`)).toMatch(/line 2/);
});

test.each(['colour=red', 'brach_id=x'])('an unknown field gets the list of all: %s', (line) => {
  const said = errorOf(line);
  for (const name of fieldsToWaitBy) expect(said).toContain(name);
  expect(said, 'a sentence ends before the next begins').not.toMatch(/field The/);
});
