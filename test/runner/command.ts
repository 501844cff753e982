/** A workflow command as it was found in a line. */
export interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly data: string;
}

type Escapes = Readonly<Record<string, string>>;

// Order matters: `%25` comes last, or `%250A` would turn into a line break.
const DATA: Escapes = { '%0D': '\r', '%0A': '\n', '%25': '%' };
const OLD: Escapes = { '%3B': ';', '%0D': '\r', '%0A': '\n', '%5D': ']', '%25': '%' };

export function parseCommand(line: string, known: ReadonlySet<string>): Command | undefined {
  return parseNew(line, known) ?? parseOld(line, known);
}

/** `::name key=value,key=value::data`, first in its line but for white space. */
function parseNew(line: string, known: ReadonlySet<string>): Command | undefined {
  // As the runner trims: U+0085 is white space to it, a BOM is none.
  const text = line.replace(/^(?:(?!\uFEFF)\s|\u0085)+/, '');
  if (!text.startsWith('::')) return undefined;
  const end = text.indexOf('::', 2);
  if (end < 0) return undefined;
  return command(text.slice(2, end), ',', resolveEscapes(text.slice(end + 2), DATA), known);
}

/** `##[name key=value;key=value]data`, anywhere in a line: only the first `##[` of it is looked at. */
function parseOld(line: string, known: ReadonlySet<string>): Command | undefined {
  const start = line.indexOf('##[');
  if (start < 0) return undefined;
  const end = line.indexOf(']', start);
  if (end < 0) return undefined;
  return command(line.slice(start + 3, end), ';', resolveEscapes(line.slice(end + 1), OLD), known);
}

function command(info: string, separator: string, data: string, known: ReadonlySet<string>): Command | undefined {
  const space = info.indexOf(' ');
  const name = (space < 0 ? info : info.slice(0, space)).toLowerCase();
  if (!known.has(name)) return undefined;
  const properties: Record<string, string> = {};
  const pairs = space < 0 ? '' : info.slice(space + 1).trim();
  for (const pair of pairs.split(separator)) {
    const equals = pair.indexOf('=');
    const value = pair.slice(equals + 1);
    if (equals > 0 && value !== '') properties[pair.slice(0, equals)] = value;
  }
  return { name, properties, data };
}

function resolveEscapes(text: string, escapes: Escapes): string {
  return Object.entries(escapes).reduce((result, [written, meant]) => result.replaceAll(written, meant), text);
}
