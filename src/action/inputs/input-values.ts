import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isNoPathPart } from '../../api/records.js';
import { parseJsonOrUndefined } from '../../text/json.js';
import { minSecretLength, sanitizeLine } from '../../text/sanitize-line.js';
import { formatDuration, parseDuration } from '../../time/duration.js';
import type { Secrets } from '../secrets.js';

/** The message says what is wrong and what is expected. It follows the input and its value: `timeout: “ten” is …`. */
export class BadValue extends Error {
  constructor(
    message: string,
    /** True if the value may contain a secret, so that no message quotes the value. */
    readonly hidesValue = false,
  ) {
    super(message);
  }
}

export type Parse<T> = (text: string) => T;

/** Quotes what a user wrote, but not what may be a URL with a password. */
export function quote(text: string, max = 80): string {
  return `“${/:\/\/|:.*@/s.test(text) ? '***' : sanitizeLine(text, max)}”`;
}

export const whyEmpty =
  'Check the expression: it is empty if a step id, an output or a variable is misspelled, or if its step was skipped';

/** Rejects an expression that GitHub did not evaluate, and the `null` that jq prints for a missing field. */
export function rejectLeftover(text: string, hidesValue = false): string {
  if (text === 'null' || text === 'undefined' || text.includes(`\${{`))
    throw new BadValue('is no value. Check the expression or the step that should provide it', hidesValue);
  return text;
}

export function durationParser({ minMs = 1, maxDays = 5, what = 'a duration' }): Parse<number> {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === undefined || ms < minMs || ms > maxDays * 86_400_000)
      throw new BadValue(
        `is not valid; expected ${what} from ${formatDuration(minMs)} to ${maxDays}d, such as 90s or 1h30m (units: ms, s, m, h, d)`,
      );
    return ms;
  };
}

/** Parses `since` and `older-than`. A bare number could mean hours or days as well as seconds. */
export const parseAge: Parse<number> = (text) =>
  durationParser({ maxDays: 366, what: 'a duration with a unit' })(text.replace(/^\d+$/, ''));

export function oneOfParser<T extends string>(words: readonly T[]): Parse<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined)
      throw new BadValue(`${text === '' ? 'is empty' : 'is not a valid value'}; valid values: ${words.join(', ')}`);
    return word;
  };
}

/** Accepts the same words as `core.getBooleanInput`: the booleans of the YAML 1.2 core schema. */
export const parseBoolean: Parse<boolean> = (text) => {
  if (!/^(true|True|TRUE|false|False|FALSE)$/.test(text))
    throw new BadValue('is not a boolean; expected true or false');
  return text.toLowerCase() === 'true';
};

/** A secret goes into a header, so it has only visible ASCII characters. */
export const parseSecret: Parse<string> = (text) => {
  if (text.length < minSecretLength || !/^[\x21-\x7e]*$/.test(rejectLeftover(text, true)))
    throw new BadValue(
      `is not usable; expected at least ${minSecretLength} characters, without spaces, line breaks or accents. Check the value of the secret`,
      true,
    );
  return text;
};

export const parseApiKey: Parse<string> = (text) => {
  if (text === '')
    throw new BadValue(
      `is empty; expected an API key in this input, such as “\${{ secrets.NAME }}”, or in the environment variable CTL_API_KEY. Forks and Dependabot see no secrets. In other workflows, check the name behind “secrets.”`,
    );
  return parseSecret(text);
};

/** Accepts a URL to which the API key may be sent. `variable`: the value of CTL_BASE_URL, even if the input is set. */
export function parseBaseUrl(text: string, variable: string, secrets: Secrets): URL {
  const where = 'in this input or in the environment variable CTL_BASE_URL';
  if (text === '') throw new BadValue(`is empty; expected the URL of the control API, ${where}. ${whyEmpty}`);
  if ([text, variable].some((url) => secrets.redact(url) !== url))
    throw new BadValue(`contains the API key; expected a URL without it, ${where}`, true);
  // The URL parser would take the first part of a path as the host, and then the key would go to that host.
  if (!/^https?:\/\/[^/\\?#@\s]+(\/[^\\?#\s]*)?$/i.test(rejectLeftover(text)) || !URL.canParse(text))
    throw new BadValue(
      'is not a usable URL; expected one like https://host/api/v2, without user, password, query and fragment',
      true,
    );
  const url = new URL(text);
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw new BadValue(
      `would send the API key unencrypted to ${url.host}; expected https (http is accepted only for localhost, 127.0.0.0/8 and [::1])`,
      true,
    );
  return url;
}

/** Parses ids that are separated by commas or whitespace, or are a JSON array. `expected`: such as `a project id`. */
export function parseIdList(text: string, parse: Parse<string>, expected: string): string[] {
  const ids: unknown = text.startsWith('[') ? parseJsonOrUndefined(text) : text.split(/\s*,\s*|\s+/);
  // JSON.parse would round a large integer to another id.
  const isId = (id: unknown) => id === null || typeof id === 'string' || Number.isSafeInteger(id);
  // A whole response of the API can contain a secret.
  if (!Array.isArray(ids) || !ids.every(isId) || /^["']?\s*\{/.test(text))
    throw new BadValue(`is not a list of ids; expected ${expected}, or a JSON array with nothing but ids`, true);
  // If an empty id were ignored, the wait could succeed without a check of that operation.
  if (ids.length === 0 || ids.includes(''))
    throw new BadValue(`is empty or has an empty id; expected ${expected}. ${whyEmpty}`);
  const parseId = (id: string) => parsePart(quote(id, 60), () => parse(rejectLeftover(id)));
  return [...new Set(ids.map(String).map(parseId))];
}

/** Parses a part of an input. The message begins with its name, unless the part may contain a secret. */
export function parsePart<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new BadValue(`${error.hidesValue ? 'an item' : name} ${error.message}`, true);
  }
}

/** For ids that become a part of a path. `expected`: for messages, such as `a project id`. */
export function pathIdsParser(expected: string, max: number): Parse<string[]> {
  const parse: Parse<string> = (id) => {
    if (id.trim() === '' || isNoPathPart(id))
      throw new BadValue(`is not ${expected}: it must not be empty, “.” or “..”, or contain “/” or control characters`);
    return id;
  };
  return (text) => {
    const ids = parseIdList(text, parse, expected);
    if (ids.length > max) throw new BadValue(`lists ${ids.length} ids; expected at most ${max}`, true);
    return ids;
  };
}

export function onlyPathIdParser(expected: string): Parse<string> {
  return (text) => pathIdsParser(expected, 1)(text)[0] ?? '';
}

const maxFileBytes = 8 * 2 ** 20;

/** Reads a file that an earlier step wrote. A relative path starts at `folder`. No error quotes the file, because it can hold a secret. */
export function readInputFile(path: string, folder: string): string {
  if (/^[{[]/.test(path)) throw new BadValue('is JSON; expected the path of a file that contains it', true);
  const file = resolve(folder, rejectLeftover(path));
  try {
    const stat = statSync(file);
    // Reading a pipe would block until the writer closes it.
    if (!stat.isFile() || stat.size > maxFileBytes) throw new Error('it is not a regular file of at most 8 MiB');
    // TextDecoder removes the byte order mark that some shells write.
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new BadValue(
      `cannot be read (${code ?? message}, looked for ${quote(file, 300)}); expected a file that an earlier step of this job wrote`,
    );
  }
}
