import fc from 'fast-check';

/** Each begins in a way of its own to be taken for more than text. */
export const attacks: Readonly<Record<string, string>> = {
  'a command': '::error::HACKED',
  'a command on a line of its own':
    'x\n::set-output name=status::HACKED\r::add-mask::running\r\n::stop-commands::HACKED',
  'a command after blanks': ' \t\u00a0\u2028\u0085::warning::HACKED',
  'an old command': '##[error]HACKED ##[set-env name=PATH]HACKED ###[debug]HACKED',
  'escapes of a command': '%0A::error::HACKED%0D%25',
  'colours and a cleared screen':
    '\u001b[31mred\u001b[2J\u009b1;1H\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007',
  'marks of direction': 'safe\u202Egnp.exe\u2066\u2069\u200F\u061C',
  'what has no width': '\uFEFFa\u200Bb\u200Dc\u2060',
  'other ends of a line': 'a\u2028::error::HACKED\u2029b\u0085c\vd\fe',
  'a character of no value': 'a\u0000b',
  'halves of a pair': 'a\uD800b\uDC00',
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>alert(1)</script><!-- <details>',
  entities: '&lt;b&gt; &#60;i&#62; &amp;amp; &NewLine;',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b**',
  'what becomes a link': '@octocat #1 https://evil.example www.evil.example a@evil.example acme/shop#1 :tada:',
  'table cells': '| a | b |\n|---|---|\n`x` | \\| ``` ~~~',
  'a fence': '```\n```mermaid\ngraph TD\nHACKED-->B\n```\n',
  'a chart': 'end :crit, 0, 1\nclick 1 href "https://evil.example"\n%%{init: {"theme":"dark"}}%% section HACKED; x:y',
  'the end of a file command': 'x\nEOF\nghadelimiter_x\nstatus=HACKED\nstatus<<EOF\nHACKED\nEOF',
  'a name of every object': '__proto__',
  'another name of every object': 'constructor',
  'a long text': 'HACKED '.repeat(2_000),
};

const attack = fc.constantFrom(...Object.values(attacks));

/** Any text, and the worst of it. */
export const text = fc.oneof(
  { weight: 2, arbitrary: attack },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(...'`@#<>&|:[]()!*_~"\'\\/\n\r \u001b-.%'), maxLength: 40 }),
  },
  { weight: 1, arbitrary: fc.tuple(attack, attack).map((both) => both.join('\n')) },
);

const strangeNames = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  'key',
  'id',
  'message',
  '',
  '0',
];
const strangeNumbers = ['1e400', '-1e400', '-0', '1e21', '0.1', '-1', '9007199254740993', '9'.repeat(400), '1e-400'];

/** The text of a JSON value of any shape, with numbers, names and depths that no JavaScript value would give. */
export const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'hostile' },
    { weight: 3, arbitrary: text.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false', '{}', '[]', '""', '0', '1') },
    { weight: 2, arbitrary: fc.constantFrom(...strangeNumbers) },
    { weight: 1, arbitrary: fc.constantFrom(100, 6_000, 50_000).map((depth) => nested(depth)) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items}]`) },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.tuple(fc.oneof(fc.constantFrom(...strangeNames), text), tie('value')), { maxLength: 3 })
        .map(printedObject),
    },
  ),
})).value;

export function nested(depth: number): string {
  return `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
}

/** Names may come twice. */
export function printedObject(fields: readonly (readonly [name: string, value: string])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** A record that is right but for some of its fields, and those that are left out. */
export function record(fields: Readonly<Record<string, string>>): fc.Arbitrary<string> {
  const right = Object.entries(fields).map(([name, value]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant([[name, value]]) },
      { weight: 3, arbitrary: json.map((other) => [[name, other]]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
  );
  const more = fc.array(fc.tuple(fc.constantFrom(...strangeNames, 'extra'), json), { maxLength: 1 });
  return fc.tuple(...right, more).map((parts) => printedObject(parts.flat() as [string, string][]));
}
