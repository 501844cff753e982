import { plain } from '../text/plain.js';
import { BadValue, operationId } from './input-values.js';

const whyEmpty =
  'is empty: an expression that gives nothing (a mistyped step or output, a skipped step, a failed jq) leaves it so, and an empty list would open the gate. ' +
  'Expected the ids of operations, the word all for every unfinished operation of the project, or response-file';

/** Ids with commas, blanks or line ends between, a JSON array of them, or the word `all`, alone. */
export function operationIds(text: string): 'all' | string[] {
  if (text === '') throw new BadValue(whyEmpty);
  if (text === 'all') return 'all';
  if (text.toLowerCase() === 'all') throw new BadValue('is not known here; did you mean all, in small letters?');
  if (/^["']?\s*\{/.test(text)) {
    throw new BadValue(
      'is a JSON object. The runner prints inputs, so an answer of the API does not belong here: write it to a file (curl -o) and name that in response-file',
      true,
    );
  }
  const words = text.startsWith('[') ? arrayOf(text) : text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0 && !text.startsWith('[')) throw new BadValue(whyEmpty);
  return [...new Set(words.map(idIn))];
}

function arrayOf(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The parser's own error would quote the text.
  }
  throw new BadValue('begins like a JSON array, but is none; expected one like ["id", "id"]', true);
}

function idIn(word: unknown, index: number): string {
  if (typeof word !== 'string')
    throw new BadValue(
      `holds at place ${index + 1} something that is not a text; expected ids alone (jq: .operations[].id)`,
      true,
    );
  if (word === 'all') throw new BadValue('has the word all in a list; expected it alone');
  try {
    return operationId(word);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new BadValue(`${index === 0 ? '' : `at place ${index + 1} `}“${plain(word, 60)}” ${error.message}`, true);
  }
}
