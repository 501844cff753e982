import fc from 'fast-check';

/** Each could be taken for more than text in a way of its own. */
export const attacks: Readonly<Record<string, string>> = {
  'a workflow command': '::error::HACKED',
  'a command on its own line': 'x\n::set-output name=status::HACKED\r::add-mask::running\r\n::stop-commands::HACKED',
  'a workflow command after blanks': ' \t\u00a0\u2028\u0085::warning::HACKED',
  'a workflow command in ##[brackets]': '##[error]HACKED ##[set-env name=PATH]HACKED ###[debug]HACKED',
  'an escaped workflow command': '%0A::error::HACKED%0D%25',
  'terminal escapes': '\u001b[31mred\u001b[2J\u009b1;1H\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007',
  'bidirectional control characters': 'safe\u202Egnp.exe\u2066\u2069\u200F\u061C',
  'characters without width': '\uFEFFa\u200Bb\u200Dc\u2060',
  'unusual line separators': 'a\u2028::error::HACKED\u2029b\u0085c\vd\fe',
  'a null character': 'a\u0000b',
  'unpaired surrogates': 'a\uD800b\uDC00',
  HTML: '<img src=x onerror=alert(1)></code></td></table><script>alert(1)</script><!-- <details>',
  'HTML entities': '&lt;b&gt; &#60;i&#62; &amp;amp; &NewLine;',
  Markdown: '</code>\n\n# HACKED\n\n[HACKED](https://evil.example) ![](https://evil.example/x.png) **b**',
  'mentions and links': '@octocat #1 https://evil.example www.evil.example a@evil.example acme/shop#1 :tada:',
  'Markdown tables': '| a | b |\n|---|---|\n`x` | \\| ``` ~~~',
  'a code fence': '```\n```mermaid\ngraph TD\nHACKED-->B\n```\n',
  'a line that could end a value in GITHUB_OUTPUT': 'x\nEOF\nghadelimiter_x\nstatus=HACKED\nstatus<<EOF\nHACKED\nEOF',
  'the word __proto__': '__proto__',
  'the word constructor': 'constructor',
  'a long text': 'HACKED '.repeat(2_000),
};

const attack = fc.constantFrom(...Object.values(attacks));
const signs = fc.string({ unit: fc.constantFrom(...'`@#<>&|:[]()!*_~"\'\\/\n\r \u001b-.%'), maxLength: 40 });
/** Any text, and often one of the attacks. */
export const text = fc.oneof(attack, attack, fc.string({ unit: 'binary', maxLength: 40 }), signs);

const nested = `${'[{"a":'.repeat(50)}1${'}]'.repeat(50)}`;
const words = ['null', 'true', '{}', '[]', '""', '1e400', '-0', '9007199254740993', '9'.repeat(400)];

/** JSON text, also with numbers and depths that JSON.stringify never writes. */
export const json: fc.Arbitrary<string> = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom(...words, nested),
  fc.json({ maxDepth: 3 }),
);

const names = ['__proto__', 'constructor', 'toString', 'then', 'key', 'id', 'message', '', '0', 'extra'];

/** A record with these fields, except that some have another value, or are missing, or occur twice. */
export function record(fields: Readonly<Record<string, string>>): fc.Arbitrary<string> {
  const given = Object.entries(fields).map(([name, value]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant([`"${name}":${value}`]) },
      { weight: 3, arbitrary: json.map((other) => [`"${name}":${other}`]) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
  );
  const more = fc.tuple(fc.constantFrom(...names), json).map(([name, value]) => [`"${name}":${value}`]);
  return fc.tuple(...given, fc.oneof(more, fc.constant([]))).map((parts) => `{${parts.flat()}}`);
}
