import type { Table } from './behaviour.js';

const prints = (texts: Readonly<Record<string, string | readonly string[]>>): Table =>
  Object.fromEntries(
    Object.entries(texts).map(([claim, lines]) => [
      claim,
      `console.log(${JSON.stringify([lines].flat().join('\n'))});`,
    ]),
  );

export const commands: Table = {
  ...prints({
    'a command stands at the start of its line, or after white space':
      '::notice::a\n  \t\u00a0::notice::b\nx ::notice::c\n-::notice::d',
    'a command in brackets counts anywhere in its line, and hides the text before it':
      '##[notice]a\nx ##[warning]b\n###[error]c\n# #[notice]d\n##[notice e',
    'only the first pair of brackets in a line counts':
      '##[other]x ##[notice]y\n::other::##[notice]z\nx ##[notice]a ##[warning]b',
    'the name of a command counts in upper and lower case':
      '::NOTICE::a\n##[Warning]b\n::Add-Mask::in any case\nin any case',
    'a command that is not known is text': [
      '::notices::a',
      '::notice :: b',
      '::notice',
      '::notice:c',
      ':: notice::d',
      '##[ notice]e',
      '::::f',
      '::internal-set-repo-path::g',
    ],
    'most invisible characters before or within the signs of a command make it plain text': [
      '\uFEFFa BOM at the start of all is dropped',
      '\uFEFF::notice::a',
      '\u200b::notice::b',
      '\u00ad::notice::c',
      'x \u200b##[notice]d',
      '#\u200b#[notice]e',
      ':\u200b:notice::f',
      '::notice:\u200b:g',
      '\u0000::notice::h',
      '\u0085::notice::i',
      '\u001b[0m::notice::j',
    ],
    'the escapes in the text of a command are resolved once':
      '::notice::a%0Ab%0Dc%25%3A%2C%5D%3B\n::notice::%250A\n##[notice]%0A%5D%3B%3A%25\n::notice::%0a',
    'the text of a command keeps its white space and further colons': '::notice::  a :: b ::  \n##[notice]  c ]  ',
    'a command without text gives no annotation': '::notice::\n::error::\n##[warning]\n::error::  \nend',
  }),
  'ten annotations of a kind are shown, the log has all':
    "for (let i = 1; i < 13; i++) { console.log('::notice::' + i); if (i < 3) console.log('::warning::' + i); }",
  'the text of an annotation is cut after 4,096 characters, in the log too':
    "console.log('::notice::' + 'x'.repeat(5000));",
  ...prints({
    'an error command alone does not fail a step': '::error::a',
    'debug lines are not shown unless debug is on': '::debug::a\n##[debug]b\nc',
    'old commands for outputs and states count with a warning each':
      '::set-output name=a::1\nx ##[set-output name=b]2\n::save-state name=c::3\n::set-output name=d::',
    'an old command without a name fails the step':
      '::set-output::1\n::save-state name=::2\n::set-output name=after::3',
    'a command that sets a variable fails the step': '::set-env name=FROM_COMMAND::1\n::notice::after',
    'a command that adds to the path fails the step': '::add-path::/from-command',
  }),
  'a line of the log ends with LF, CRLF or CR, and the last one may lack its end':
    "process.stdout.write('a\\r\\nb\\rc\\n\\n::notice::d\\r::notice::e');",
  'commands on stderr count like those on stdout': "console.error('::notice::a');",
  'bytes that are no UTF-8 are replaced in the log':
    'process.stdout.write(Buffer.from([0x61, 0xff, 0x62, 0xc3, 0x0a]));',
  'a long line stays whole, a command in it too':
    "console.log('x'.repeat(200_000) + '##[set-output name=a]' + 'y'.repeat(200_000));",
};

export const debug: Table = {
  'with debug on a process has RUNNER_DEBUG': {
    main: 'see(env(/^RUNNER_DEBUG$/));',
    differs: { why: 'The suite’s log leaves out what the runner tells of its own work.', parts: ['log'] },
  },
};
