import { type Json, parseJson, textOf } from '../../text/json.js';
import { plain } from '../../text/plain.js';
import { BadValue, type Parse } from './input-values.js';

/** The kind of ids in a list. `jq` is the filter that extracts them from an API response. */
interface Kind {
  readonly id: Parse<string>;
  readonly whyEmpty: string;
  /** Advice if the input is an API response, which can contain a secret. */
  readonly insteadOfObject: string;
  readonly example: string;
  readonly jq: string;
  /** Whether the JSON array may contain integers. */
  readonly areNumbers: boolean;
}

/** Ids separated by commas, whitespace or line breaks, or a JSON array of them. Duplicates are removed. */
export function idsIn(text: string, kind: Kind): string[] {
  if (/^["']?\s*\{/.test(text)) throw new BadValue(`is a JSON object. ${kind.insteadOfObject}`, true);
  const isArray = text.startsWith('[');
  const words = isArray ? arrayOf(text, kind) : text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0 && !isArray) throw new BadValue(kind.whyEmpty);
  return [...new Set(words.map((word, index) => idAt(word, index, kind)))];
}

function arrayOf(text: string, { example }: Kind): Json[] {
  try {
    const value = parseJson(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The error of JSON.parse quotes the text, which can contain a secret.
  }
  throw new BadValue(`begins like a JSON array, but is none; expected one like ${example}`, true);
}

function idAt(word: Json, index: number, { id, jq, areNumbers }: Kind): string {
  if (typeof word !== 'string' && !(areNumbers && typeof word === 'number'))
    throw new BadValue(`holds at place ${index + 1} something that is no id; expected ids alone (jq: ${jq})`, true);
  // `parseJson` keeps the digits of any integer. A large number in another notation (1e20) was rounded to another id.
  if (Number.isInteger(word) && !Number.isSafeInteger(word))
    throw new BadValue(
      `holds at place ${index + 1} a number that is not written as an integer; expected its digits`,
      true,
    );
  const written = textOf(word);
  try {
    return id(written);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const place = index === 0 ? '' : `at place ${index + 1} `;
    const value = error.hidesValue ? 'what stands there' : `“${plain(written, 60)}”`;
    throw new BadValue(`${place}${value} ${error.message}`, true);
  }
}
