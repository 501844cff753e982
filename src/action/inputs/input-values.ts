import { minSecretLength } from '../../text/encodings.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { didYouMean } from '../../text/similar-words.js';
import { parseDuration, unitNames } from '../../time/duration.js';

/** The message says what is wrong and what was expected. It follows the input and its value: `timeout: “ten” is …`. */
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

/** Quotes what a user wrote, without the password of a URL. Shortening comes last: it can cut off the `@` behind a password. */
export function quote(text: string, max = 80): string {
  const note = /[\p{Cf}\u00a0]/u.test(text.slice(0, max)) ? ' (with invisible characters)' : '';
  return `“${sanitizeLine(withoutPassword(text), max)}”${note}`;
}

/** Hides user and password of a URL. The text may be an invalid URL, so no URL parser is used. */
function withoutPassword(text: string): string {
  const hidden = text.replace(/:\/.*(?:@|%40|\uff20|&#64;)/is, '://***@');
  // What follows a host and a colon, and is no port, may be a password without an `@` behind it.
  return hidden.replace(/(:\/\/(?!\[)[^/?#:]*:)(?!\d*(?:[/?#]|$)).*/s, '$1***');
}

/** `otherwise`: what else the input accepts, for the message. */
export function durationParser({ zero = false, minMs = 0, maxDays = 24, otherwise = '' } = {}): Parse<number> {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === undefined)
      throw new BadValue(
        `is not a duration; expected ${otherwise}whole numbers with units (${unitNames}), such as 10m or 1h30m. A number without a unit means seconds`,
      );
    const least = minMs === 0 ? 'a duration above 0' : `at least ${minMs}ms`;
    if (ms < minMs || (ms === 0 && !zero))
      throw new BadValue(`is ${ms === 0 ? 'zero' : 'too short'}; expected ${otherwise}${least}`);
    if (ms > maxDays * 86_400_000) throw new BadValue(`is too long; expected at most ${maxDays} days`);
    return ms;
  };
}

export function oneOfParser<T extends string>(words: readonly T[]): Parse<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    const problem = text === '' ? 'is empty' : 'is not a valid value';
    throw new BadValue(`${problem}; valid values: ${words.join(', ')}${didYouMean(text, words)}`);
  };
}

export function patternParser(pattern: RegExp, problem: string): Parse<string> {
  return (text) => {
    if (!pattern.test(text)) throw new BadValue(problem);
    return text;
  };
}

/** Accepts the same words as `core.getBooleanInput`: the booleans of the YAML 1.2 core schema. */
export const parseBoolean: Parse<boolean> = (text) => {
  if (['true', 'True', 'TRUE'].includes(text)) return true;
  if (['false', 'False', 'FALSE'].includes(text)) return false;
  throw new BadValue('is not a boolean; expected true or false');
};

/** Rejects the words that jq, JavaScript and Python print for a missing value, and GitHub for a list or an object. */
export const rejectLeftover: Parse<string> = (text) => {
  if (['Array', 'Object'].includes(text))
    throw new BadValue(
      'is what an expression makes of a list or an object; put “toJSON(…)” around it, such as “toJSON(matrix.batch)”',
    );
  if (!['null', 'undefined', 'None'].includes(text)) return text;
  throw new BadValue(
    'looks like the output of a failed jq command or template; check the step that should provide the value',
  );
};

export const parseBaseUrl: Parse<URL> = (text) => {
  if (text === '')
    throw new BadValue(
      'is empty; expected the URL of the control API, in this input or in the environment variable CTL_BASE_URL. Check the name of the variable that holds the URL',
    );
  if (!URL.canParse(text) || /\s/.test(text)) throw new BadValue('is not a URL; expected one like https://host/api/v2');
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) throw new BadValue('has an unsupported scheme; expected https');
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw new BadValue(
      'would send the API key unencrypted; expected https (http is accepted only for localhost, 127.0.0.0/8 and [::1])',
    );
  if (url.username !== '' || url.password !== '')
    throw new BadValue('must not contain a user name or password. Pass the API key in the input api-key');
  if (/[?#]/.test(text)) throw new BadValue('has a query or a fragment; expected only scheme, host and path');
  return url;
};

export function isBaseUrl(text: string): boolean {
  try {
    parseBaseUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** Hides query and fragment, and all that comes before an `@`. `quote` hides the other forms of a password. */
export function urlWithoutSecrets(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:)?.*@/is, '$1//***@').replace(/[?#].*/s, '?***');
}

export const parseApiKey: Parse<string> = (text) => {
  if (text === '')
    throw new BadValue(
      'is empty; expected an API key, in this input or in the environment variable CTL_API_KEY. Workflows from forks and Dependabot get no secrets. In other workflows, check the name of the secret, and that this job may read it',
    );
  if (text.length < minSecretLength)
    throw new BadValue(
      `has fewer than ${minSecretLength} characters, and masking it would hide ordinary text in the log; expected the complete API key`,
      true,
    );
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new BadValue(
      'contains a space, a line break or another character that is not allowed in a key; expected only the API key. Check the value of the secret',
      true,
    );
  return text;
};
