import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeCommands } from '../../../src/action/toolkit.js';
import { parseCommand } from '../../runner/command.js';
import { Masker } from '../../runner/masker.js';
import { StepLog } from '../../runner/step-log.js';

const known = new Set(['error', 'warning', 'add-mask', 'set-output', 'stop-commands', 'debug']);

function commandsIn(text: string): unknown[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) => parseCommand(line, known) ?? []);
}

test.each([
  '::error::x',
  '  ::error::x',
  '\t::error file=a::x',
  'a\n::error::x',
  'a\r::error::x',
  '##[error]x',
  'a ##[error]x',
  '###[error]x',
  '#####[error]x',
  '##[##[error]x',
  '##[x] ##[error]y',
  ':::error::x',
  '::::error::x',
  '\n\n::error::x',
  '\u00a0::error::x',
  '\u3000::error::x',
  '\u0085::error::x',
])('%j is no command any more', (text) => {
  expect(commandsIn(escapeCommands(text))).toEqual([]);
});

test.each(['no command at all', 'a :: b', 'a::b', '[error] #1 ## title'])('%j is left as it is', (text) => {
  expect(escapeCommands(text)).toBe(text);
});

test('no text gets a command through the runner', () => {
  const token = fc.constantFrom(
    ...[
      '::',
      ':',
      '#',
      '##[',
      '[',
      ']',
      'error',
      'add-mask',
      ' ',
      '\n',
      '\r',
      '\t',
      '\uFEFF',
      '\u0085',
      '\u2028',
      'x',
      '%0A',
    ],
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
      const text = escapeCommands(tokens.join(''));
      expect(commandsIn(text)).toEqual([]);
      const log = new StepLog(new Masker(), true);
      for (const line of text.split(/\r\n|\r|\n/)) log.take(line);
      expect(log.commands).toEqual([]);
    }),
    { numRuns: 5_000 },
  );
});
