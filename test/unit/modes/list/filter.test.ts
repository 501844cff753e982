import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BadValue } from '../../../../src/action/inputs/input-values.js';
import { operationFields } from '../../../../src/api/records.js';
import { compileGlob, type Filter, parseFilter } from '../../../../src/modes/list/filter.js';
import { changingFields, waitFilterFields } from '../../../../src/modes/wait-operation/settings.js';
import { sanitizeLine } from '../../../../src/text/sanitize-line.js';

const ofList = (text: string) => parseFilter(text, operationFields);
const ofWait = (text: string) => parseFilter(text, waitFilterFields, changingFields);

test('a pattern matches whole values, with * for any text and ? for one character', () => {
  const text = (letters: string) =>
    fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((parts) => parts.join(''));
  const agree = (value: string, pattern: string) => {
    const expression = pattern.replace(/[.[]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
    expect(compileGlob(pattern)(value)).toBe(new RegExp(`^${expression}$`, 'u').test(value));
  };
  fc.assert(fc.property(text('abA*?🙂'), text('ab*?🙂.['), agree), { numRuns: 3_000 });
  // Positions are bits, so the places where a word of 32 or 64 bits ends get cases of their own.
  for (const length of [31, 32, 33, 63, 64, 65, 255, 256])
    for (const end of ['a', 'b', '?', '*', '*a', '?*b'])
      for (const value of [length - 2, length - 1, length, length + 1].map((count) => 'a'.repeat(count)))
        for (const last of ['', 'a', 'b']) agree(value + last, 'a'.repeat(length - end.length) + end);
});

const admitted = [
  ...['', '  action = create_branch  ', '\n\naction=*\n\n', 'action=create_branch\r\nbranch_id=*'],
  ...['branch_id!=#1\nbranch_id!=br?#1', 'branch_id=br-1\nbranch_id!=br-2\nbranch_id=br-*\nbranch_id=br-1'],
];
const rejected = ['action=create', 'branch_id=BR-1', 'action=create_*\nbranch_id=br-2*', 'branch_id=br=1'];
const rows = [...admitted, ...rejected].map((text) => [text, admitted.includes(text) ? 'admits' : 'rejects'] as const);
test.each(rows)('the filter %j %s an operation create_branch on br-1', (text, verdict) => {
  expect(ofWait(text).admits({ id: '1', branch_id: 'br-1', action: 'create_branch' })).toBe(verdict === 'admits');
});

const comment = 'a comment is not possible here. To match a value that contains “ #”, write “?#”';
const folded = 'each condition needs a line of its own, after “filter: |”';
const caseMatters = 'the case matters; expected ';
test.each<[line: string, message: string]>([
  ...['id=x # only x', '# id=x', '  #', 'branch_id!= # any', 'branch_id=br\t#1'].map(
    (line) => [line, comment] as [string, string],
  ),
  ['  =x', 'expected field=pattern or field!=pattern'],
  ['action  ', 'expected field=pattern or field!=pattern'],
  ['action>create_branch', 'expected field=pattern or field!=pattern'],
  ['action!=   ', 'the pattern is empty'],
  ...['null', 'undefined', `\${{ x }}`].map((word) => [`branch_id=${word}`, 'is no value'] as [string, string]),
  ['action!=START_COMPUTE', `${caseMatters}start_compute`],
  ['action=TENANT_DETACH', `${caseMatters}tenant_detach`],
  ['status=Error', `${caseMatters}error`],
  ['status=Fail*', `${caseMatters}failed`],
  ['status!=failed action!=create_branch', folded],
  ['branch_id=br-1  status = failed', folded],
  ['action=*\tid=x', folded],
  ['branch_id=br-*,id!=x', folded],
  ['branch_id=br-*&&other=failed', folded],
  ['branch_id=br-*\\nstatus=failed', folded],
])('a list rejects the filter line %j: %s', (line, message) => {
  expect(() => ofList(`id=*\n${line}`)).toThrow(BadValue);
  expect(() => ofList(`id=*\n${line}`)).toThrow(`line 2, “${sanitizeLine(line, 80)}”: ${message}`);
});

test('a wait rejects fields that change, and admits statuses of other records in any case', () => {
  for (const field of ['status', 'failures_count', 'updated_at'])
    expect(() => ofWait(`${field}=x`)).toThrow(`${field} cannot be used here: it changes during the wait`);
  expect(parseFilter('status=ERROR', ['id']).admits({ status: 'ERROR' })).toBe(true);
});

test('a field with a name that objects inherit is missing like any other', () => {
  const filter = ofList('constructor=x');
  filter.note({ id: '1' });
  expect(filter.admits({ id: '1' })).toBe(false);
  expect(filter.missing.error).toMatch(/“constructor”/);
});

test('a filter names the fields that no record has, as an error if one is not documented', () => {
  const read = (text: string, ...records: Parameters<Filter['note']>[0][]) => {
    const filter = ofList(text);
    for (const record of records) filter.note(record);
    return filter.missing;
  };
  const text = 'of_tomorrow!=x\nendpoint_id=*\nid=*';
  expect(read(text)).toEqual({ error: undefined, warnings: [] });
  expect(read(text, { id: 'a', endpoint_id: null }, { of_tomorrow: 1 })).toEqual({ error: undefined, warnings: [] });
  const endpoint = 'filter: no record that was read has the field “endpoint_id”, so it counts as empty.';
  expect(read(text, { id: 'a' }, { of_tomorrow: 1 })).toEqual({ error: undefined, warnings: [endpoint] });
  const error =
    /^filter: no record that was read has the field “of_tomorrow”\. The documented fields are id, project_id/;
  expect(read(text, { id: 'a' }).error).toMatch(error);
});
