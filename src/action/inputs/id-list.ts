import { BadValue, type Parse, quote, rejectLeftover, whyEmpty } from './input-values.js';

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

/** For ids that become a part of a path. `expected`: for messages, such as `a project id`. */
export function pathIdsParser(expected: string, max: number): Parse<string[]> {
  const parse: Parse<string> = (word) => {
    if (/^(\s*|\.\.?)$|[/\p{Cc}\p{Cs}]/u.test(word))
      throw new BadValue(`is not ${expected}: it must not be empty, “.” or “..”, or contain “/” or control characters`);
    return word;
  };
  return (text) => {
    const ids = parseIdList(text, parse, expected);
    if (ids.length > max) throw new BadValue(`lists ${ids.length} ids; expected at most ${max}`, true);
    return ids;
  };
}

export function onlyPathIdParser(expected: string): Parse<string> {
  const parse = pathIdsParser(expected, 1);
  return (text) => parse(text)[0] ?? '';
}
