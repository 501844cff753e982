import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operationFields, projectFields } from '../../../../src/api/records.js';
import { BadFilter, matches, parseFilter } from '../../../../src/modes/list/filter.js';
import { changingFields, waitFilterFields } from '../../../../src/modes/wait-operation/settings.js';

/** Tries every length that a star may have. */
function matchesByTrial(value: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return value.length === 0;
  if (first === '*')
    return Array.from({ length: value.length + 1 }).some((_, n) => matchesByTrial(value.slice(n), rest));
  const [letter, ...others] = value;
  return letter !== undefined && (first === '?' || first === letter) && matchesByTrial(others, rest);
}

test('a pattern matches whole values, with * for any text and ? for one character', () => {
  const text = (letters: string) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((parts) => parts.join(''));
  const property = fc.property(text('abA*?🙂'), text('ab*?🙂.['), (value, pattern) => {
    expect(matches(value, pattern)).toBe(matchesByTrial(Array.from(value), Array.from(pattern)));
  });
  fc.assert(property, { numRuns: 3_000 });
});

test.each([
  ['', true],
  ['action=create', false],
  ['branch_id=BR-1', false],
  ['  action = create_branch  ', true],
  ['\n\naction=*\n\n', true],
  ['action=create_branch\r\nbranch_id=*', true],
  ['action=create_*\nbranch_id=br-2*', false],
  ['branch_id=br=1', false],
])('the filter %j admits: %s', (text, admits) => {
  const record = { id: '1', branch_id: 'br-1', action: 'create_branch' };
  expect(parseFilter(text, waitFilterFields, changingFields).admits(record)).toBe(admits);
});

test.each([
  ['colour=red', /“colour” is not a field; the fields are id, project_id, branch_id, endpoint_id, action, created_at/],
  ['brach_id=x', /“brach_id” is not a field \(did you mean branch_id\?\); the fields are/],
  ['ACTION=x', /did you mean action\?/],
  ['constructor=x', /is not a field/],
  ['action', /expected field=pattern or field!=pattern/],
  ['=x', /is not a field/],
  ['action=', /the pattern is empty; use \*/],
  ['action!=   ', /the pattern is empty/],
  [`action=${'x'.repeat(257)}`, /longer than 256 characters/],
  ['status=running', /status cannot be used here: it changes/],
  ['failures_count=0', /failures_count cannot be used here/],
  ['updated_at!=x', /updated_at cannot be used here/],
  ['branch_id=br-1 status=failed', /status starts a second condition/],
  ['action=Create_Branch', /write create_branch/],
])('the line %j of a filter of a wait is rejected', (line, message) => {
  const parse = (text: string) => () => parseFilter(text, waitFilterFields, changingFields);
  expect(parse(line)).toThrow(message);
  expect(parse(`action=*\n${line}`)).toThrow(/line 2/);
  expect(parse(line)).toThrow(BadFilter);
});

test.each(['status=Failed', 'status!=FINISHED', 'status=Cancelled', 'action!=START_COMPUTE'])(
  '%s is rejected, and the documented word is named',
  (line) => {
    const documented = line.replace(/.*=/, '').toLowerCase();
    expect(() => parseFilter(line, operationFields)).toThrow(`write ${documented}`);
  },
);

test.each([
  ['status=failed action=create_branch', 'action', 15],
  ['status!=failed action!=create_branch', 'action', 16],
  ['branch_id=br-1  status = failed', 'status', 17],
  ['action=*\tid=x', 'id', 10],
  [`branch_id=${'x'.repeat(300)} status=failed`, 'status', 312],
])('lines that YAML has folded into one are rejected, with the column of the second: %s', (line, field, column) => {
  const parse = () => parseFilter(line, operationFields);
  expect(parse).toThrow(`line 1, column ${column}: ${field} starts a second condition`);
  expect(parse).toThrow('“filter: |”');
});

test.each(['name=my project', 'name=a=b', 'name=rename=x', 'name=x colour=red', 'name=x id', 'name=x?id=y'])(
  '%j is one condition',
  (line) => {
    expect(parseFilter(line, projectFields).warnings).toEqual([]);
  },
);

test.each([
  ['status=paused', 'match nothing'],
  ['status!=paused', 'exclude nothing'],
  ['status=OK', 'match nothing'],
])('%s gets a warning that it may %s', (line, effect) => {
  expect(parseFilter(`id=*\n${line}`, operationFields).warnings).toEqual([
    expect.stringMatching(new RegExp(`^line 2: .* is not a known status, .* ${effect}.*skipped`)),
  ]);
});

const statuses = ['scheduling', 'running', 'finished', 'failed', 'skipped', 'error', 'cancelled', 'cancelling'];
test.each([
  ...[...statuses, 'Fail*', '?aused'].map((word) => `status=${word}`),
  ...['action=of_tomorrow', 'branch_id=Failed', `branch_id=${'x'.repeat(256)}`],
])('%s is accepted without a warning', (line) => {
  expect(parseFilter(line, operationFields).warnings).toEqual([]);
});
