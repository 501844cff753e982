import type { Table } from './behaviour.js';

const writes = (texts: Readonly<Record<string, string>>): Table =>
  Object.fromEntries(Object.entries(texts).map(([claim, text]) => [claim, `file('OUTPUT', ${JSON.stringify(text)});`]));

/** GITHUB_OUTPUT, and so the form of all files of names and values. */
export const outputs: Table = {
  ...writes({
    'a line sets an output, and all after its first equals sign is the value': 'a=1\nb=x=y\n\nc=\nd=1<<2\ne= 3 ',
    'a name keeps the white space around it': ' a =1\nb\t=2\n',
    'a value may stand between two lines with a delimiter': 'a<<E\none\n\ntwo\nE\nb=2\n',
    'a delimited value may be empty, or line breaks alone': 'a<<E\nE\nb<<E\n\nE\nc<<E\n\n\nE',
    'a delimiter is a whole line, and may hold an equals sign': 'a<<E=F\n E=F\nE=F \nE=FF\nb=1\nE=F',
    'a delimiter ends the first value that it fits, and the rest is read as lines': 'a<<E\none\nE\nb=2\nE<<F\nx\nF\n',
    'the first << of a line separates the name from the delimiter': 'a<<b<<E\nx\nb<<E\n',
    'a carriage return at the end of a line is a part of the line': 'a=1\r\nb<<E\r\none\r\nE\r\nc=x\ry\n',
    'a delimiter with a carriage return does not match one without': 'a=1\nb<<E\r\none\nE\n',
    'a BOM at the start of the file is no part of a name': '\uFEFFa=1\n\uFEFFb=2\n',
  }),
  'a byte that is no UTF-8 is replaced': "file('OUTPUT', Buffer.from([0x61, 0x3d, 0xff, 0xc3, 0x0a]));",
  ...writes({
    'a value may hold a NUL and other control characters': 'a=x\u0000y\u001b\u0085\u2028z\n',
    'a name that is set twice has its last value': 'a=1\nb=2\na=3\n',
    'names that differ only in case are one name, spelled as at first': 'Key=1\nkey=2\nKEY<<E\n3\nE\n',
    'names may hold characters that no expression can write': 'a b=1\na.b=2\n-=3\nconstructor=4\n',
    'an output without a name fails the step, and the lines before it count': 'a=1\n=v\nb=2\n',
    'a line without an equals sign fails the step, and the lines before it count': 'a=1\nbad line\nb=2\n',
    'a delimiter that never comes fails the step, and the lines before it count': 'a=1\nb<<E\nx\nc=3\n',
    'a value that is cut off fails the step': 'a=1\nb<<E\nx',
    'a value that is cut off after its first line fails the step': 'a=1\nb<<E',
    'an empty delimiter fails the step': 'a=1\nb<<\nx\n\nc=3\n',
    'a delimited value without a name fails the step': 'a=1\n<<E\nx\nE\n',
  }),
  'a file that the step has deleted is an empty one':
    "for (const name of ['OUTPUT', 'STATE', 'ENV', 'PATH', 'STEP_SUMMARY']) require('node:fs').unlinkSync(process.env['GITHUB_' + name]);",
  'a value of 1 MiB is kept whole': "file('OUTPUT', 'a=' + 'x'.repeat(1024 * 1024) + '\\n');",
  'a file wins over the old command, and both count':
    "file('OUTPUT', 'a=file\\n'); console.log('::set-output name=a::command'); console.log('::set-output name=b::command');",
  'what was written counts where the process is killed': {
    main: "file('OUTPUT', 'a=1\\n'); file('STATE', 'b=2\\n'); file('STEP_SUMMARY', '# c'); process.kill(process.pid, 'SIGKILL'); stay();",
    post: 'see(env(/^STATE_/));',
    needsProcess: true,
  },
  'outputs that post sets are lost': {
    main: "file('OUTPUT', 'a=1\\n');",
    post: "file('OUTPUT', 'a=2\\nb=2\\n');",
  },
};
