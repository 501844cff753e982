import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BadValue } from '../../../../src/action/inputs/input-values.js';
import { operationFields } from '../../../../src/api/records.js';
import { compileGlob, parseFilter } from '../../../../src/modes/list/filter.js';
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

test('a filter rejects a capitalized boolean, and says to write it in lower case', () => {
  expect(() => parseFilter('locked=False', ['locked'])).toThrow('no locked is “False”; write false');
});

const folded =
  'starts a second condition on this line. Write each condition on its own line. In YAML, start with “filter: |”';
const comment =
  'comments are not possible here. Put the comment above “filter:”. To match a value that contains “ #”, write “?#”';
const commented = ['id=x # only x', '# id=x', '  #', 'branch_id!= # any', 'branch_id=br\t#1'];
const signed = ['action==x', 'id=^br-.*$', 'failures_count=>0', 'failures_count = <5', 'id=!0'];
const pasted = ['id="x"', "id!='x'", 'id=“x”', 'id=`x`', 'id=["x"]', 'id={x}'];
const literal = [`id!=\${{ x }}`, 'branch_id=$BRANCH', 'branch_id=steps.create.outputs.branch'];
const failed = 'the pattern looks like the output of a failed jq command or template';
test.each<[line: string, message: string]>([
  ...commented.map((line): [string, string] => [line, comment]),
  ...signed.map((line): [string, string] => [line, 'the pattern starts with “=”']),
  ...pasted.map((line): [string, string] => [line, 'the pattern is in quotes or brackets']),
  ...literal.map((line): [string, string] => [line, 'the pattern is no value: GitHub evaluates only expressions in']),
  ['colour=red', '“colour” is not a field; the fields are id, project_id, branch_id, endpoint_id, action, status'],
  ['ACTION=x', '“ACTION” is not a field (did you mean action?); the fields are'],
  ['constructor=x', '“constructor” is not a field'],
  ['  =x', '“” is not a field'],
  ['action  ', 'expected field=pattern or field!=pattern'],
  ['action!=   ', 'the pattern is empty; use *'],
  ...['null', 'undefined', 'None'].map((word): [string, string] => [`branch_id=${word}`, failed]),
  ...['Object', 'Array'].map((word): [string, string] => [`id!=${word}`, 'the pattern is what an expression makes of']),
  [`action=${'x'.repeat(257)}`, 'the pattern is longer than 256 characters'],
  ['action!=START_COMPUTE', 'no action is “START_COMPUTE”; write start_compute'],
  ['action=create-branch', 'no action is “create-branch”; write create_branch'],
  ['action=create_branch,start_compute', 'a filter has no “or”, so no action matches this'],
  ['branch_id=br-1|br-2', 'a filter has no “or”, so no branch_id matches this'],
  ['action=create_branch|start_*', 'a filter has no “or”, so no action matches this'],
  ['pg_version>=15', 'expected field=pattern or field!=pattern; there are no other comparisons'],
  ['action>create_branch', 'expected field=pattern or field!=pattern; there are no other comparisons'],
  ['status=Error', 'no status is “Error”; write error. What the console calls Error is failed here, OK is finished'],
  ['status=Fail*', 'no status is “Fail*”; write fail*'],
  ['action=*-Branch', 'no action is “*-Branch”; write *_branch'],
  ['status!=failed action!=create_branch', `action ${folded}`],
  ['branch_id=br-1  status = failed', `status ${folded}`],
  ['branch_id=br-1 Status=failed', `Status ${folded}`],
  ['action=*\tid=x', `id ${folded}`],
  ['branch_id=br-*,id!=x', `id ${folded}`],
  ['branch_id=br-*&&status=failed', `status ${folded}`],
  ['branch_id=br-*\\nstatus=failed', `status ${folded}`],
  [`branch_id=${'x'.repeat(300)} status=failed`, `status ${folded}`],
])('a list rejects the filter line %j: %s', (line, message) => {
  expect(() => ofList(`id=*\n${line}`)).toThrow(BadValue);
  const shown = sanitizeLine(line, 80);
  expect(() => ofList(`id=*\n${line}`)).toThrow(`line 2, “${shown}”: ${message}`);
});

test.each([
  ['branch_id=br-1\u200B', 'the pattern is in quotes or brackets, or has an invisible character at one end'],
  ['failures_count=0', 'failures_count cannot be used here: it changes during the wait'],
  ['updated_at!=x', 'updated_at cannot be used here'],
  ['branch_id=br-1 status=failed', `status ${folded}`],
  ['branch_id=br-1\nbranch_id=br-2', 'a filter has no “or”, so no branch_id matches this'],
])('a wait rejects the filter %j: %s', (line, message) => {
  expect(() => ofWait(line)).toThrow(message);
});

const statuses = ['scheduling', 'running', 'finished', 'failed', 'skipped', 'error', 'cancelled', 'cancelling'];
test.each([
  ...[...statuses, 'fail*', '?unning'].map((word) => `status=${word}`),
  ...['action=of_tomorrow', 'branch_id=Failed', `branch_id=${'x'.repeat(256)}`, 'branch_id=a=b', 'branch_id=x?id=y'],
  ...['branch_id=my project', 'branch_id=reaction=x', 'branch_id=x colour=red', 'branch_id=x id'],
])('the filter line $0 causes no warning', (line) => {
  expect(ofList(line).warnings).toEqual([]);
});
