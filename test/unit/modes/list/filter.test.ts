import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BadValue } from '../../../../src/action/inputs/input-values.js';
import { operationFields } from '../../../../src/api/records.js';
import { compileGlob, parseFilter } from '../../../../src/modes/list/filter.js';
import { changingFields } from '../../../../src/modes/wait-operation/settings.js';
import { sanitizeLine } from '../../../../src/text/sanitize-line.js';

const ofList = (text: string) => parseFilter(text, operationFields);
const ofWait = (text: string) => parseFilter(text, operationFields, changingFields);

test('a filter pattern matches the whole value, with * for any text and ? for one character', () => {
  const text = (letters: string) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((parts) => parts.join(''));
  const agree = (value: string, pattern: string) => {
    const expression = pattern.replace(/[.[]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
    expect(compileGlob(pattern)(value)).toBe(new RegExp(`^${expression}$`, 'u').test(value));
  };
  fc.assert(fc.property(text('abA*?🙂'), text('ab*?🙂.['), agree), { numRuns: 3_000 });
});

const admitted = [
  ...['', '  action = create_branch  ', '\n\naction=*\n\n', 'action=create_branch\r\nbranch_id=*'],
  ...['branch_id!=#1\nbranch_id!=br?#1', 'branch_id=br-1\nbranch_id!=br-2\nbranch_id=br-*\nbranch_id=br-1'],
];
const rejected = ['action=create', 'branch_id=BR-1', 'action=create_*\nbranch_id=br-2*', 'branch_id=br=1'];
const rows = [...admitted, ...rejected].map((text) => [text, admitted.includes(text) ? 'admits' : 'rejects'] as const);
test.each(rows)('the filter %j %s an operation with action=create_branch and branch_id=br-1', (text, verdict) => {
  expect(ofWait(text).admits({ id: '1', branch_id: 'br-1', action: 'create_branch' })).toBe(verdict === 'admits');
});

const comment = 'a comment is not possible here. To match a value that contains “ #”, write “?#”';
const folded = 'each condition needs a line of its own, after “filter: |”';
const caseMatters = 'the case matters; expected ';
test.each<[line: string, message: string]>([
  ['# id=x', comment],
  ['branch_id!= # any', comment],
  ['branch_id=br\t#1', comment],
  ['  =x', 'expected field=pattern or field!=pattern'],
  ['action  ', 'expected field=pattern or field!=pattern'],
  ['action>create_branch', 'expected field=pattern or field!=pattern'],
  ['action!=   ', 'the pattern is empty'],
  ...['null', 'undefined', `\${{ x }}`].map((word) => [`branch_id=${word}`, 'is no value'] as [string, string]),
  ['action!=START_COMPUTE', `${caseMatters}start_compute`],
  ['status=Error', `${caseMatters}error`],
  ['status=Fail*', `${caseMatters}failed`],
  ['branch_id=br-1  status = failed', folded],
  ['branch_id=br-*,id!=x', folded],
  ['branch_id=br-*&&other=failed', folded],
  ['branch_id=br-*\\nstatus=failed', folded],
])('list-operations rejects the filter line %j with an error: %s', (line, message) => {
  expect(() => ofList(`id=*\n${line}`)).toThrow(BadValue);
  expect(() => ofList(`id=*\n${line}`)).toThrow(`line 2, “${sanitizeLine(line, 80)}”: ${message}`);
});

test('wait-operation rejects a filter on a field that changes; list-projects accepts a status in any case', () => {
  for (const field of ['status', 'failures_count', 'updated_at'])
    expect(() => ofWait(`${field}=x`)).toThrow(`${field} cannot be used here: it changes during the wait`);
  expect(parseFilter('status=ERROR', ['id']).admits({ status: 'ERROR' })).toBe(true);
});

test('a filter on the field “constructor” ends in an error if no record has this field', () => {
  const filter = ofList('constructor=x');
  filter.note({ id: '1' });
  expect(filter.admits({ id: '1' })).toBe(false);
  expect(filter.missing.error).toMatch(/“constructor”/);
});
