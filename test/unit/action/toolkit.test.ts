import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { escapeCommands, toolkit } from '../../../src/action/toolkit.js';
import { Masker } from '../../runner/masker.js';
import { StepLog } from '../../runner/step-log.js';

function commandsIn(text: string): string[] {
  const log = new StepLog(new Masker());
  for (const line of text.split(/\r\n|\r|\n/)) log.take(line);
  return log.commands.map(({ name }) => name);
}

const commands = [
  ...['::error::x', '  ::error::x', '\t::error file=a::x', 'a\n::error::x', 'a\r::error::x', '\n\n::error::x'],
  ...['##[error]x', 'a ##[error]x', '###[error]x', '#####[error]x', '##[##[error]x', '##[x] ##[error]y'],
  ...['\u00a0::error::x', '\u3000::error::x', '\u0085::error::x', ':::error::x', '::::error::x'],
];

test('the runner finds no workflow command in a text that was escaped for the log', () => {
  const parts = '::|:|#|##[|[|]|error|add-mask| |\n|\r|\t|\uFEFF|\u0085|\u2028|x|%0A'.split('|');
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((chosen) => chosen.join(''));
  const property = fc.property(text, (given) => {
    expect(commandsIn(escapeCommands(given))).toEqual([]);
  });
  fc.assert(property, { numRuns: 3_000, examples: commands.map((command): [string] => [command]) });
  expect(commands.flatMap(commandsIn).length).toBeGreaterThan(12);
});

test.each(['no command at all', 'a :: b', 'a::b', '[error] #1 ## title'])(
  'the harmless log text %j stays unchanged',
  (text) => {
    expect(escapeCommands(text)).toBe(text);
  },
);

test('spaces around an input do not count', (context) => {
  vi.stubEnv('INPUT_MODE', ' list-keys ');
  context.onTestFinished(() => void vi.unstubAllEnvs());
  expect(toolkit.input('mode')).toBe('list-keys');
});
