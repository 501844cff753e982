import { BadValue, parsePart, quote, rejectLeftover } from '../../action/inputs/input-values.js';
import { knownStatuses } from '../../api/operation-status.js';
import { knownActions } from '../../api/records.js';
import { isAbsent, type JsonObject, toText } from '../../text/json.js';
import { sanitizeLine } from '../../text/sanitize-line.js';

type Line = ReturnType<typeof parseLine>;

/** Each line is `field=pattern` or `field!=pattern`. A record must match every line. */
export class Filter {
  /** The fields of its lines that no record had so far. */
  readonly #missing: Set<string>;
  #hasRead = false;

  /** `documented`: the fields that the API documents. The service may send others. */
  constructor(
    private readonly lines: readonly Line[],
    private readonly documented: readonly string[],
  ) {
    this.#missing = new Set(lines.map(({ field }) => field));
  }

  get texts(): string[] {
    return this.lines.map(({ text }) => text);
  }

  admits(record: JsonObject): boolean {
    return this.lines.every(({ field, matches, admits }) => {
      const value = Object.hasOwn(record, field) ? record[field] : undefined;
      // A missing field is an empty value, so `*` matches it, too.
      return matches(isAbsent(value) ? '' : toText(value)) === admits;
    });
  }

  /** True if a line `field=pattern` asks for values of this field. */
  requires(field: string): boolean {
    return this.lines.some((line) => line.field === field && line.admits);
  }

  /** Takes each record that a step reads, to learn which fields exist. */
  note(record: JsonObject): void {
    this.#hasRead = true;
    for (const field of this.#missing) if (Object.hasOwn(record, field)) this.#missing.delete(field);
  }

  /** The fields that no record had, if any was read. An undocumented one does not exist, so its line means nothing. */
  get missing(): { readonly error?: string; readonly warnings: readonly string[] } {
    const missing = this.#hasRead ? [...this.#missing] : [];
    const textOf = (field: string) => `filter: no record that was read has the field ${quote(field, 60)}`;
    const warnings = missing.map((field) => `${textOf(field)}, so it counts as empty.`);
    const unknown = missing.find((field) => !this.documented.includes(field));
    if (unknown === undefined) return { warnings };
    return { warnings: [], error: `${textOf(unknown)}. The documented fields are ${this.documented.join(', ')}.` };
  }
}

/** `changing`: a wait cannot use these fields. */
export function parseFilter(text: string, documented: readonly string[], changing: readonly string[] = []): Filter {
  const lines = text.split('\n').flatMap((line, index) => {
    const parse = () => parseLine(line.trim(), documented, changing);
    return line.trim() === '' ? [] : [parsePart(`line ${index + 1}, ${quote(line)}:`, parse)];
  });
  const usable = documented.filter((name) => !changing.includes(name));
  return new Filter(lines, usable);
}

function parseLine(line: string, documented: readonly string[], changing: readonly string[]) {
  if (/^#|\s#/.test(line))
    throw new BadValue('a comment is not possible here. To match a value that contains “ #”, write “?#”');
  const [, name = '', negation = '', rest] = /^([^=]*?)(!?)=(.*)$/s.exec(line) ?? [];
  const field = name.trim();
  if (rest === undefined || field === '') throw new BadValue('expected field=pattern or field!=pattern');
  if (changing.includes(field)) throw new BadValue(`${field} cannot be used here: it changes during the wait`);
  const pattern = rejectLeftover(rest.trim());
  if (pattern === '')
    throw new BadValue(`the pattern is empty. If records without a value are meant, write ${field}!=?*`);
  if (/(?:[\s,;&|]|\\n)[a-z]\w*\s*!?=/i.test(pattern))
    throw new BadValue(
      'each condition needs a line of its own, after “filter: |”. If the second “=” belongs to the value, write “?” (any character) for it',
    );
  const matches = compileGlob(pattern);
  const known = documented.includes(field) ? (knownWords[field] ?? []) : [];
  const meant = known.filter(compileGlob(pattern.toLowerCase()));
  if (meant.length > 0 && !known.some(matches))
    throw new BadValue(`the case matters; expected ${meant.join(' or ')} in lower case`);
  return { text: sanitizeLine(line), field, matches, admits: negation === '' };
}

const knownWords: Record<string, readonly string[]> = {
  status: knownStatuses,
  action: knownActions,
};

/**
 * Compiles a pattern: `*` stands for any text, `?` for one character. Between two `*`, the first place that fits is always
 * right. JavaScript never tries a lookahead again, so no search backtracks: with `.*`, a name of 5 MB took 12 s.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const source = `${pattern.replace(/[\\^$.+()[\]{}|/]/g, '\\$&').replaceAll('?', '[^]')}$`;
  const [first, ...others] = source.split('*');
  const searches = others.map((part, n) => `(?=([^]*?${part}))\\${n + 1}`);
  const expression = new RegExp(`^${first}${searches.join('')}`, 'u');
  return (text) => expression.test(text);
}
