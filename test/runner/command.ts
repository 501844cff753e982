export type Command = NonNullable<ReturnType<typeof parseCommand>>;

// The order of escapes matters: `%25` comes last, or `%250A` would turn into a line break.
const forms: readonly { pattern: RegExp; separator: string; escapes: Readonly<Record<string, string>> }[] = [
  {
    // `::name key=value,key=value::data`, first in its line but for white space. To the runner, U+0085 is that, a BOM is not.
    pattern: /^(?:(?!\uFEFF)\s|\u0085)*::(.*?)::(.*)$/s,
    separator: ',',
    escapes: { '%0D': '\r', '%0A': '\n', '%25': '%' },
  },
  {
    // `##[name key=value;key=value]data`, anywhere in a line: only the first `##[` of it is looked at.
    pattern: /##\[(.*?)\](.*)$/s,
    separator: ';',
    escapes: { '%3B': ';', '%0D': '\r', '%0A': '\n', '%5D': ']', '%25': '%' },
  },
];

export function parseCommand(line: string, known: ReadonlySet<string>) {
  for (const { pattern, separator, escapes } of forms) {
    const [, info = '', written = ''] = pattern.exec(line) ?? [];
    const [word = '', ...pairs] = info.split(' ');
    const name = word.toLowerCase();
    if (!known.has(name)) continue;
    const properties: Record<string, string> = {};
    for (const pair of pairs.join(' ').trim().split(separator)) {
      const equals = pair.indexOf('=');
      const value = pair.slice(equals + 1);
      if (equals > 0 && value !== '') properties[pair.slice(0, equals)] = value;
    }
    const data = Object.entries(escapes).reduce((text, [code, sign]) => text.replaceAll(code, sign), written);
    return { name, properties, data };
  }
  return undefined;
}
