import { idText, parseJsonOrUndefined, toText } from '../../text/json.js';
import { BadValue, checked, leftoverProblem, type Parse, quote } from './input-values.js';

interface IdListOptions {
  readonly id: Parse<string>;
  readonly whyEmpty: string;
  /** Advice for a user who passes a whole API response, which can contain a secret. */
  readonly insteadOfObject: string;
  /** The jq filter that extracts the ids from an API response. */
  readonly jq: string;
}

/** The ids are separated by commas or whitespace, or are a JSON array. */
export function parseIdList(text: string, { id, whyEmpty, insteadOfObject, jq }: IdListOptions): string[] {
  if (/^["']?\s*\{(?!\{)/.test(text)) throw new BadValue(`is a JSON object. ${insteadOfObject}`, true);
  const isArray = text.startsWith('[');
  const words = isArray ? parseJsonOrUndefined(text) : text.split(/[\s,]+/).filter((word) => word !== '');
  if (!Array.isArray(words)) throw new BadValue('is not a valid JSON array; expected one such as ["id", "id"]', true);
  // The parser would change a number such as 1e3 into another id. Strings, digits and `null` stay as they were written.
  const hasLongNumber = words.some((word) => typeof word === 'number' && idText(word) === undefined);
  if (hasLongNumber || (isArray && !/^\[[\d\s,]*\]$/.test(text.replace(/"(?:[^"\\]|\\.)*"|\bnull\b/g, ''))))
    throw new BadValue(`has an item that is not an id; expected only ids (extract them with jq: ${jq})`, true);
  if (words.length === 0 && !isArray) throw new BadValue(whyEmpty);
  // An expression beside the comma may be empty. Without its id, a wait could succeed although it did not check the operation.
  if (!isArray && /^,|,\s*,|,$/.test(text))
    throw new BadValue(
      'has a comma without an id beside it; expected an id on both sides. An expression beside the comma may be empty, because a step id or output name is misspelled',
    );
  return [...new Set(words.map((word, index) => parseItem(toText(word), index, id)))];
}

function parseItem(word: string, index: number, parse: Parse<string>): string {
  try {
    return parse(word);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const place = index === 0 ? '' : `item ${index + 1}: `;
    const value = error.hidesValue ? 'the value' : quote(word, 60);
    throw new BadValue(`${place}${value} ${error.message}`, true);
  }
}

export function parseProjectId(text: string): string {
  return parseOnlyId(text, 'a project id', '. Several are allowed only in wait-operation with “operation-id: all”');
}

export function parseOnlyId(text: string, anId: string, advice = ''): string {
  const [id = '', ...others] = parseNonEmptyList(text, anId);
  if (others.length > 0) throw new BadValue(`lists ${others.length + 1} ids; expected one${advice}`);
  return id;
}

export function parseNonEmptyList(text: string, anId: string): string[] {
  const ids = parseIdList(text, {
    id: checked((word) => {
      const problem = `is not ${anId}: it must not be empty, “.” or “..”, or contain “/” or control characters`;
      return leftoverProblem(word) ?? (/^(\s*|\.\.?)$|[/\p{Cc}\p{Cs}]/u.test(word) ? problem : undefined);
    }),
    whyEmpty: `is empty; expected ${anId}. Check the expression: it is empty if a step id or output name is misspelled`,
    insteadOfObject: `Expected ${anId}`,
    jq: '.projects[].id',
  });
  // A wait for zero projects would succeed without a check, and a deploy could start.
  if (ids.length === 0) throw new BadValue(`is an empty list; expected ${anId}`);
  return ids;
}
