import type { InputReader } from '../../action/inputs/input-reader.js';
import { BadValue, leftoverProblem, quote } from '../../action/inputs/input-values.js';
import { operationActions } from '../../api/records.js';
import { knownStatuses } from '../../operations/description.js';
import { isAbsent, type JsonObject, toText } from '../../text/json.js';
import { didYouMean } from '../../text/similar-words.js';

interface Line {
  readonly field: string;
  readonly matches: (text: string) => boolean;
  readonly admits: boolean;
}

/** Each line is `field=pattern` or `field!=pattern`. A record must match every line. */
export class Filter {
  constructor(
    private readonly lines: readonly Line[],
    /** Warnings about lines that are valid, but probably a mistake. */
    readonly warnings: readonly string[] = [],
  ) {}

  admits(record: JsonObject): boolean {
    return this.lines.every(({ field, matches, admits }) => {
      const value = record[field];
      // A missing field is an empty value, so `*` matches it, too.
      return matches(isAbsent(value) ? '' : toText(value)) === admits;
    });
  }

  /** True if a line `field=pattern` asks for values of this field. */
  requires(field: string): boolean {
    return this.lines.some((line) => line.field === field && line.admits);
  }
}

/** The length is limited, because the time to match a value grows with it. */
const maxPatternLength = 256;

/** `unsupported`: the fields that this mode rejects, each with the reason. */
export function readFilter(reader: InputReader, fields: readonly string[], unsupported?: Record<string, string>) {
  const filter = reader.parse('filter', (text) => parseFilter(text, fields, unsupported));
  for (const warning of filter?.warnings ?? []) reader.warn('filter', warning);
  return filter;
}

export function parseFilter(text: string, fields: readonly string[], unsupported: Record<string, string> = {}): Filter {
  const warnings: string[] = [];
  const words = new Map<string, string>();
  const names = [...fields, ...Object.keys(unsupported)].join('|');
  const secondCondition = new RegExp(`(?:[\\s,;&|]|\\\\n)(${names})\\s*!?=`, 'i');

  /** Returns a problem if the line is invalid. */
  function parseLine(line: string, place: string): Line | string {
    if (/^\s*#|\s#/.test(line))
      return 'comments are not possible here. Put the comment above “filter:”. To match a value that contains “ #”, write “?#”';
    const [, name = '', negation = '', rest] = /^(.*?)(!?)=(.*)$/s.exec(line) ?? [];
    if (rest === undefined || /[<>~^:]$/.test(name))
      return 'expected field=pattern or field!=pattern; there are no other comparisons';
    const field = name.trim();
    const pattern = rest.trim();
    const admits = negation === '';
    if (Object.hasOwn(unsupported, field)) return `${field} cannot be used here: ${unsupported[field]}`;
    if (!fields.includes(field))
      return `${quote(field, 60)} is not a field${didYouMean(field, fields)}; the fields are ${fields.join(', ')}`;
    if (pattern === '') return 'the pattern is empty; use * for any value';
    const leftover = leftoverProblem(pattern);
    if (leftover !== undefined)
      return `the pattern ${leftover}. To match this text all the same, write “?” in place of its first or last character`;
    if (/^[=^~<>!]/.test(pattern))
      return 'the pattern starts with “=”, “^”, “~”, “<”, “>” or “!”. This sign would be a part of the value. Remove it. If the value does begin with it, write “?” in its place';
    const [, second] = secondCondition.exec(rest) ?? [];
    if (second !== undefined)
      return `${second} starts a second condition on this line. Write each condition on its own line. In YAML, start with “filter: |”, because “filter: >” joins lines. If the whole line is one condition, write “?” in place of the sign before ${second}`;
    if (pattern.length > maxPatternLength) return `the pattern is longer than ${maxPatternLength} characters`;
    const word = pattern.toLowerCase().replaceAll('-', '_');
    const known = documentedWords[field];
    const hint =
      field === 'status'
        ? '. What the console calls Error is failed here, OK is finished, and In progress is running'
        : '';
    const matches = compileGlob(pattern);
    const isUnknown = known?.some(matches) === false;
    if (isUnknown && known.some(compileGlob(word))) return `no ${field} is ${quote(pattern)}; write ${word}${hint}`;
    const isWord = !/[*?]/.test(pattern);
    const other = words.get(field) ?? pattern;
    if (isWord && admits) words.set(field, pattern);
    if ((isWord && admits && other !== pattern) || ((known || field.endsWith('id')) && /[,|]/.test(pattern)))
      return `a filter has no “or”, so no ${field} matches this. Use one pattern with “*” that fits all values, or one step for each value`;
    if (isUnknown) {
      // The service may add actions. So an unknown one is probably a mistake only if it is similar to a documented one.
      const meant = didYouMean(pattern, known, 2);
      const what = `${quote(pattern, 60)} is not a known ${field}${meant}`;
      const effect = `this line may ${admits ? 'match nothing' : 'exclude nothing'}`;
      if (field !== 'action' || meant !== '')
        warnings.push(`${place}: ${what}, so ${effect}. Known values: ${known.join(', ')}${hint}`);
    }
    return { field, matches, admits };
  }

  const lines = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = `line ${index + 1}, ${quote(line)}`;
    const parsed = parseLine(line, place);
    if (typeof parsed === 'string') throw new BadValue(`${place}: ${parsed}`, true);
    return [parsed];
  });
  return new Filter(lines, warnings);
}

/** The API documents the values of these fields. */
const documentedWords: Record<string, readonly string[]> = {
  status: knownStatuses,
  action: operationActions,
  locked: ['true', 'false'],
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
