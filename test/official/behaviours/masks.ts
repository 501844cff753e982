import type { Table } from './behaviour.js';

const value = `p"a's s<&)é~ü!*(`;

/** Masks a value, then prints each text. */
const masking = (secret: string, texts: Readonly<Record<string, string>>): string =>
  `console.log('::add-mask::' + ${JSON.stringify(secret)}.replaceAll('%', '%25').replaceAll('\\r', '%0D').replaceAll('\\n', '%0A'));
    for (const [name, text] of Object.entries(${JSON.stringify(texts)})) console.log(name + ' [' + text + ']');`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const shifted = 'secret-value-123';

export const masks: Table = {
  'a secret of the job is masked from the start, each of its lines too': masking('nothing-else', {
    plain: 'the-secret-of-the-job',
    lines: 'first-line-of-it second-line-of-it',
  }),
  'a mask counts from where it stands on, in later steps and in post too': {
    main: "console.log('from-here before'); console.log('::add-mask::from-here'); console.log('x from-here y');",
    next: "console.log('from-here');",
    post: "console.log('from-here');",
  },
  'a mask of several lines hides the whole and each line without the white space around it': masking(
    'one of several\n\n   two of several  \r\nthree of several',
    {
      first: 'one of several',
      second: '   two of several  ',
      third: 'three of several',
      JSON: 'one of several\\n\\n   two of several  \\r\\nthree of several',
    },
  ),
  'a mask of one character counts': masking('§', { one: 'a§b' }),
  'a mask keeps the white space around it': masking('  padded value  ', {
    padded: 'x  padded value  y',
    bare: 'xpadded valuey',
  }),
  'a blank mask gives a warning': "console.log('::add-mask::'); console.log('::add-mask::   '); console.log('a   b');",
  'a mask may stand in the middle of a line': "console.log('x ##[add-mask]mid-line'); console.log('mid-line');",
  'two masks that overlap or touch become one run of stars':
    "for (const mask of ['uvwxy', 'wxyz1', 'z2z3', 'vwv']) console.log('::add-mask::' + mask); console.log('uvwxyz1 uvwxyz2z3 uvwxy z2z3 uvwxywxyz1 vwvwv');",
  'a value is masked in the forms that the runner derives': masking(value, {
    base64: base64(value),
    JSON: JSON.stringify(value).slice(1, -1),
    URI: 'p%22a%27s%20s%3C%26%29%C3%A9~%C3%BC%21%2A%28',
    XML: 'p&quot;a&apos;s s&lt;&amp;)é~ü!*(',
    'command line': value.replaceAll('"', '\\"'),
    expression: value.replaceAll("'", "''"),
  }),
  'a value is not masked in forms such as hex, a web form or capitals': masking(value, {
    hex: Buffer.from(value).toString('hex'),
    'encodeURIComponent, which leaves signs': encodeURIComponent(value),
    'a form': new URLSearchParams({ v: value }).toString(),
    capitals: value.toUpperCase(),
  }),
  'a value is not masked as base64url': masking('p?a>s~s??>>', {
    base64url: Buffer.from('p?a>s~s??>>').toString('base64url'),
  }),
  'base64 of a longer text hides a value at every shift': masking(shifted, {
    0: base64(`uuu${shifted}`),
    1: base64(`u${shifted}`),
    2: base64(`uu${shifted}`),
    'with a tail': base64(`user:${shifted}@host`),
  }),
  'a value with controls and separators is masked as JSON': masking('ctl\u0001\t\u0085\u2028\u{1F600}/\\\u007f', {
    'of .NET': 'ctl\\u0001\\t\\u0085\\u2028\u{1F600}/\\\\\u007f',
    'of JavaScript': JSON.stringify('ctl\u0001\t\u0085\u2028\u{1F600}/\\\u007f').slice(1, -1),
  }),
  'a quoted value is masked without its quotes': masking('"quoted-value"', { bare: 'quoted-value' }),
  'a short quoted value is not masked without its quotes': masking('"quoted"', { bare: 'quoted' }),
  'a mask changes no output, state or variable': {
    main: "console.log('::add-mask::raw-value'); file('OUTPUT', 'a=raw-value\\n'); file('STATE', 'a=raw-value\\n'); file('ENV', 'RAW=raw-value\\n');",
    next: 'see(env(/^RAW$/)); console.log(process.env.RAW);',
    post: 'see(env(/^STATE_a$/)); console.log(process.env.STATE_a);',
  },
  'a value with percent signs is masked as it is': masking('100%25 value%0A', { plain: '100%25 value%0A' }),
};
