import { type Json, parseJsonOrUndefined, toText } from '../../text/json.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { BadValue, type Parse, rejectLeftover } from './input-values.js';

interface IdListOptions {
  readonly id: Parse<string>;
  readonly whyEmpty: string;
  /** Advice for a user who passes a whole API response, which can contain a secret. */
  readonly insteadOfObject: string;
  readonly example: string;
  /** The jq filter that extracts the ids from an API response. */
  readonly jq: string;
  /** True if a JSON array of the ids may contain integers. */
  readonly areNumbers: boolean;
}

/** The ids are separated by commas or whitespace, or are a JSON array. */
export function parseIdList(text: string, options: IdListOptions): string[] {
  if (/^["']?\s*\{/.test(text)) throw new BadValue(`is a JSON object. ${options.insteadOfObject}`, true);
  const isArray = text.startsWith('[');
  const words = isArray ? parseJsonOrUndefined(text) : text.split(/[\s,]+/).filter((word) => word !== '');
  if (!Array.isArray(words))
    throw new BadValue(`is not a valid JSON array; expected one such as ${options.example}`, true);
  if (words.length === 0 && !isArray) throw new BadValue(options.whyEmpty);
  return [...new Set(words.map((word, index) => parseItem(word, index, options)))];
}

function parseItem(word: Json, index: number, { id, jq, areNumbers }: IdListOptions): string {
  if (typeof word !== 'string' && !(areNumbers && typeof word === 'number'))
    throw new BadValue(`item ${index + 1} is not an id; expected only ids (extract them with jq: ${jq})`, true);
  // A large number in another notation, such as 1e20, is rounded and may be another id.
  if (Number.isInteger(word) && !Number.isSafeInteger(word))
    throw new BadValue(`item ${index + 1} is a number that is not written as an integer; expected only digits`, true);
  const written = toText(word);
  try {
    return id(written);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const place = index === 0 ? '' : `item ${index + 1}: `;
    const value = error.hidesValue ? 'the value' : `“${sanitizeLine(written, 60)}”`;
    throw new BadValue(`${place}${value} ${error.message}`, true);
  }
}

const maxProjects = 100;

export function parseProjectId(text: string): string {
  return parseOnlyId(text, 'a project id', '. Several are allowed only in wait-operation with “operation-id: all”');
}

export function parseOrgId(text: string): string {
  return parseOnlyId(text, 'an organization id', '');
}

function parseOnlyId(text: string, anId: string, advice: string): string {
  const [id = '', ...others] = parseNonEmptyList(text, anId);
  if (others.length > 0) throw new BadValue(`lists ${others.length + 1} ids; expected one${advice}`);
  return id;
}

export function parseProjectIds(text: string): string[] {
  const ids = parseNonEmptyList(text, 'a project id');
  if (ids.length > maxProjects)
    throw new BadValue(
      `lists ${ids.length} projects; expected at most ${maxProjects} in one step. Raise max-batches in the step that lists the projects`,
    );
  return ids;
}

function parseNonEmptyList(text: string, anId: string): string[] {
  const ids = parseIdList(text, {
    id: (word) => {
      rejectLeftover(word);
      if (word === '' || word === '.' || word === '..' || /[/\p{Cc}]/u.test(word))
        throw new BadValue(`is not ${anId}: it must not be “.” or “..”, or contain “/” or control characters`);
      return word;
    },
    whyEmpty: `is empty; expected ${anId}. Check the expression: it is empty if a step id or output name is misspelled`,
    insteadOfObject: `Expected ${anId}`,
    example: '["id", "id"]',
    jq: '.projects[].id',
    areNumbers: true,
  });
  // A wait for zero projects would succeed without a check, and a deploy could start.
  if (ids.length === 0) throw new BadValue(`is an empty list; expected ${anId}`);
  return ids;
}
