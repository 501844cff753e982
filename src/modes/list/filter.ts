import { BadValue, quote, rejectLeftover } from '../../action/inputs/input-values.js';
import { automaticActions, operationActions } from '../../api/records.js';
import { knownStatuses } from '../../operations/description.js';
import { isAbsent, type JsonObject, toText } from '../../text/json.js';
import { sanitizeLine } from '../../text/sanitize-line.js';

interface Line {
  readonly text: string;
  readonly field: string;
  readonly matches: (text: string) => boolean;
  readonly admits: boolean;
}

/** Each line is `field=pattern` or `field!=pattern`. A record must match every line. */
export class Filter {
  /** Fields that no record had so far. A line with such a field is probably a mistake. */
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
  get missing(): { readonly error: string | undefined; readonly warnings: readonly string[] } {
    const missing = this.#hasRead ? [...this.#missing] : [];
    const textOf = (field: string) => `filter: no record that was read has the field ${quote(field, 60)}`;
    const unknown = missing.find((field) => !this.documented.includes(field));
    const documented = missing.filter((field) => this.documented.includes(field));
    return {
      error:
        unknown === undefined
          ? undefined
          : `${textOf(unknown)}. The documented fields are ${this.documented.join(', ')}.`,
      warnings: documented.map((field) => `${textOf(field)}, so it counts as empty.`),
    };
  }
}

/** `unusable`: fields that this mode rejects, with the reason. */
export function parseFilter(
  text: string,
  documented: readonly string[],
  unusable: Record<string, string> = {},
): Filter {
  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [parseLine(line.trim(), documented, unusable)];
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      throw new BadValue(`line ${index + 1}, ${quote(line)}: ${error.message}`, true);
    }
  });
  return new Filter(lines, documented);
}

function parseLine(line: string, documented: readonly string[], unusable: Record<string, string>): Line {
  if (/^#|\s#/.test(line))
    throw new BadValue('a comment is not possible here. To match a value that contains “ #”, write “?#”');
  const [, name = '', negation = '', rest] = /^([^=]*?)(!?)=(.*)$/s.exec(line) ?? [];
  const field = name.trim();
  if (rest === undefined || field === '') throw new BadValue('expected field=pattern or field!=pattern');
  if (Object.hasOwn(unusable, field)) throw new BadValue(`${field} cannot be used here: ${unusable[field]}`);
  const pattern = rejectLeftover(rest.trim());
  if (pattern === '')
    throw new BadValue(`the pattern is empty. If records without a value are meant, write ${field}!=?*`);
  if (/(?:[\s,;&|]|\\n)[a-z]\w*\s*!?=/i.test(pattern))
    throw new BadValue(
      'each condition needs a line of its own, after “filter: |”. If this is one condition, write “?” in place of its second “=”',
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
  action: [...new Set([...operationActions, ...automaticActions])],
};

/** A longer value is cut to this length. A search takes at most (length of the value) × (length of the pattern) steps. */
const maxValueLength = 100_000;

/**
 * Compiles a pattern: `*` stands for any text, `?` for one character. Between two `*`, the first place that fits is always
 * right, so no search backtracks. A single regular expression would backtrack: it took 12 s for a name of 5 MB.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.+()[\]{}|/]/g, '\\$&').replaceAll('?', '[^]'));
  const searches = parts.map((source, index) => {
    const [start, end] = [index === 0 ? '^' : '', index === parts.length - 1 ? '$' : ''];
    return new RegExp(start + source + end, 'gu');
  });
  return (text) => {
    const value = text.slice(0, maxValueLength);
    let from = 0;
    return searches.every((search) => {
      search.lastIndex = from;
      const isFound = search.test(value);
      from = search.lastIndex;
      return isFound;
    });
  };
}
