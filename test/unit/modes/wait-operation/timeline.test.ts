import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeline } from '../../../../src/modes/wait-operation/timeline.js';
import type { OperationRow } from '../../../../src/operations/table.js';

function row(over: Partial<OperationRow> = {}): OperationRow {
  return {
    id: 'a07f8772-1877-4da9-a939-3a3ae62d1d8d',
    phase: 'succeeded',
    action: 'create_branch',
    branch: 'br-green-sun-1',
    status: 'finished',
    duration: '2s',
    failures: '0',
    span: { from: 1_000, to: 3_000 },
    ...over,
  };
}

test('one operation needs no picture, nor do those that nobody saw', () => {
  expect(timeline([row()])).toBe('');
  expect(timeline([row(), row({ span: undefined })])).toBe('');
});

test('two make a gantt, in order of time, that names and colours what has failed', () => {
  const lines = timeline([
    row({ action: 'start_compute', status: 'failed', phase: 'failed', span: { from: 2_000, to: 9_000 } }),
    row(),
  ]).split('\n');
  expect(lines.slice(0, 2)).toEqual(['```mermaid', 'gantt']);
  expect(lines.filter((line) => line.includes(' :'))).toEqual([
    '  1 finished create_branch br-green-sun-1 :done, 1000, 3000',
    '  2 failed start_compute br-green-sun-1 :crit, 2000, 9000',
  ]);
});

test('whatever the texts, every line of the picture is one of ours', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      'end',
      'click x href "https://evil.example"',
      '%%{init: {}}%%',
      ': crit, 0, 1',
      '```',
      '<img>',
      '\n```\n',
    ),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ status: text, action: text, branch: text }), { minLength: 2, maxLength: 4 }),
      (texts) => {
        const lines = timeline(texts.map((over) => row(over))).split('\n');
        expect(lines.slice(0, 4)).toEqual(['```mermaid', 'gantt', '  dateFormat x', '  axisFormat %H:%M:%S']);
        expect(lines.slice(-2)).toEqual(['```', '']);
        for (const line of lines.slice(4, -2))
          expect(line).toMatch(/^ {2}\d+[A-Za-z0-9_. -]* :(done|crit|active), \d+, \d+$/);
      },
    ),
  );
});

test('times of a record that make no sense draw nothing wrong', () => {
  const picture = timeline([row({ span: { from: 5, to: 5 } }), row({ span: { from: 5, to: 5 } })]);
  expect(picture).not.toMatch(/NaN|Infinity/);
  expect(picture).toMatch(/, 5, [6-9]/);
});
