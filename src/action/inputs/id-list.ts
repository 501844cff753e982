import { BadValue, type Parse, quote, rejectLeftover, whyEmpty } from './input-values.js';

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Parses ids that are separated by commas or whitespace, or are a JSON array. `parse` parses one id. `expected`: for messages,
 * such as `a project id`.
 */
export function parseIdList(text: string, parse: Parse<string>, expected: string): string[] {
  const words = text.startsWith('[') ? parseArray(text) : text.split(/[\s,]+/).filter((word) => word !== '');
  // A whole response of the API can contain a secret.
  if (/^["']?\s*\{/.test(text) || words === undefined)
    throw new BadValue(`is not a list of ids; expected ${expected}, or a JSON array of ids alone`, true);
  if (words.length === 0) throw new BadValue(`is empty; expected ${expected}. ${whyEmpty}`, true);
  // Without its id, a wait could succeed although it did not check the operation.
  if (!text.startsWith('[') && /^,|,\s*,|,$/.test(text))
    throw new BadValue(`has a comma without an id beside it; expected an id on both sides. ${whyEmpty}`);
  return [...new Set(words.map((word, index) => parseItem(word, index, parse)))];
}

/** Returns undefined unless the text is a JSON array of strings and integers. A large integer would be rounded to another id. */
function parseArray(text: string): string[] | undefined {
  try {
    const items: unknown[] = JSON.parse(text);
    const isId = (item: unknown) => item === null || typeof item === 'string' || Number.isSafeInteger(item);
    return items.every(isId) ? items.map(String) : undefined;
  } catch {
    return undefined;
  }
}

function parseItem(word: string, index: number, parse: Parse<string>): string {
  try {
    return parse(rejectLeftover(word));
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const place = index === 0 ? '' : `item ${index + 1}: `;
    throw new BadValue(`${place}${error.hidesValue ? 'the value' : quote(word, 60)} ${error.message}`, true);
  }
}

export function parseOperationIds(text: string): string[] {
  const expected = 'operation ids, or the word “all” for every operation of the project, or response-file';
  return parseIdList(text, parseOperationId, expected);
}

const parseOperationId: Parse<string> = (word) => {
  if (!uuid.test(word)) throw new BadValue('is not an operation id; expected a UUID, or the word “all” alone');
  return word.toLowerCase();
};

export function parseProjectId(text: string): string {
  return parseOnlyId(text, 'a project id', '. Several are allowed only in wait-operation with “operation-id: all”');
}

export function parseOnlyId(text: string, anId: string, advice = ''): string {
  const [id = '', ...others] = parsePathIds(text, anId);
  if (others.length > 0) throw new BadValue(`lists ${others.length + 1} ids; expected one${advice}`);
  return id;
}

/** Parses ids that fit into the path of a URL. */
export function parsePathIds(text: string, anId: string): string[] {
  const parse = (word: string) => {
    if (/^(\s*|\.\.?)$|[/\p{Cc}\p{Cs}]/u.test(word))
      throw new BadValue(`is not ${anId}: it must not be empty, “.” or “..”, or contain “/” or control characters`);
    return word;
  };
  return parseIdList(text, parse, anId);
}
