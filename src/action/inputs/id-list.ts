import { type Json, parseJson, textOf } from '../../text/json.js';
import { plain } from '../../text/plain.js';
import { BadValue, type Parse } from './input-values.js';

/** What a list of ids is of: `jq` is how its ids are taken out of an answer. */
interface Kind {
  readonly id: Parse<string>;
  readonly whyEmpty: string;
  /** What belongs here in place of an answer of the API, which can hold a secret. */
  readonly insteadOfObject: string;
  readonly example: string;
  readonly jq: string;
  /** Whether an integer may stand for its digits. */
  readonly areNumbers: boolean;
}

/** Ids with commas, blanks or line ends between, or a JSON array of them; each once. */
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
    // The parser's own error would quote the text.
  }
  throw new BadValue(`begins like a JSON array, but is none; expected one like ${example}`, true);
}

function idAt(word: Json, index: number, { id, jq, areNumbers }: Kind): string {
  if (typeof word !== 'string' && !(areNumbers && typeof word === 'number'))
    throw new BadValue(`holds at place ${index + 1} something that is no id; expected ids alone (jq: ${jq})`, true);
  // Integers of any size keep their digits; what is written in another way was rounded, to the id of another.
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
