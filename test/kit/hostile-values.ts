import fc from 'fast-check';

/** Each could be taken for more than text in a way of its own. */
export const attacks: Readonly<Record<string, string>> = {
  'a workflow command': '::error::HACKED',
  'a command on its own line': 'x\n::set-output name=status::HACKED\r::add-mask::running\r\n::stop-commands::HACKED',
  'a workflow command after blanks': ' \t\u00a0\u2028\u0085::warning::HACKED',
  'a workflow command of the old form': '##[error]HACKED ##[set-env name=PATH]HACKED ###[debug]HACKED',
  'an escaped workflow command': '%0A::error::HACKED%0D%25',
  'terminal escapes': '\u001b[31mred\u001b[2J\u009b1;1H\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007',
  'bidirectional control characters': 'safe\u202Egnp.exe\u2066\u2069\u200F\u061C',
  'characters without width': '\uFEFFa\u200Bb\u200Dc\u2060',
  'unusual line separators': 'a\u2028::error::HACKED\u2029b\u0085c\vd\fe',
  'a null character': 'a\u0000b',
  'lone surrogates': 'a\uD800b\uDC00',
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>alert(1)</script><!-- <details>',
  'HTML entities': '&lt;b&gt; &#60;i&#62; &amp;amp; &NewLine;',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b**',
  'mentions and URLs': '@octocat #1 https://evil.example www.evil.example a@evil.example acme/shop#1 :tada:',
  'Markdown tables': '| a | b |\n|---|---|\n`x` | \\| ``` ~~~',
  'a code fence': '```\n```mermaid\ngraph TD\nHACKED-->B\n```\n',
  'Mermaid syntax': 'end :crit, 0, 1\nclick 1 href "https://evil.example"\n%%{init: {"theme":"dark"}}%% section x; x:y',
  'the end of a file command': 'x\nEOF\nghadelimiter_x\nstatus=HACKED\nstatus<<EOF\nHACKED\nEOF',
  'the word __proto__': '__proto__',
  'the word constructor': 'constructor',
  'a long text': 'HACKED '.repeat(2_000),
};

const attack = fc.constantFrom(...Object.values(attacks));

const anything = fc.string({ unit: 'binary', maxLength: 40 });
const signs = fc.string({ unit: fc.constantFrom(...'`@#<>&|:[]()!*_~"\'\\/\n\r \u001b-.%'), maxLength: 40 });
const pair = fc.tuple(attack, attack).map((both) => both.join('\n'));
/** Any text, and often one of the attacks. */
export const text = fc.oneof(attack, attack, anything, anything, signs, pair);

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'key', 'id', 'message', '', '0'];
const name = fc.oneof(fc.constantFrom(...names), text);
const numbers = ['1e400', '-1e400', '-0', '1e21', '0.1', '-1', '9007199254740993', '9'.repeat(400), '1e-400'];

const nested = `${'[{"a":'.repeat(50)}1${'}]'.repeat(50)}`;

/** JSON text of any shape, with numbers, names and depths that JSON.stringify never writes. */
export const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'hostile' },
    { weight: 3, arbitrary: text.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false', '{}', '[]', '""', '0', '1') },
    { weight: 2, arbitrary: fc.constantFrom(...numbers) },
    { weight: 1, arbitrary: fc.constant(nested) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items}]`) },
    { weight: 2, arbitrary: fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(printObject) },
  ),
})).value;

/** A name may occur twice. */
function printObject(fields: readonly (readonly [name: string, value: string])[]): string {
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** A record with these fields, except that some have another value or are missing. */
export function record(fields: Readonly<Record<string, string>>): fc.Arbitrary<string> {
  const given = Object.entries(fields).map(([name, value]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant([[name, value]]) },
      { weight: 3, arbitrary: json.map((other) => [[name, other]]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
  );
  const more = fc.array(fc.tuple(fc.constantFrom(...names, 'extra'), json), { maxLength: 1 });
  return fc.tuple(...given, more).map((parts) => printObject(parts.flat() as [string, string][]));
}
