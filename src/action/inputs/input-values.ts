import { sanitizeLine } from '../../text/sanitize-line.js';
import { formatDuration, parseDuration, unitNames } from '../../time/duration.js';

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

const plainUrl = /^\w+:\/\/(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?(\/[^@?#]*)?$/i;

/** Quotes what a user wrote, but not a URL that may hold a password. */
export function quote(text: string, max = 80): string {
  const colon = text.indexOf(':');
  const mayHoldPassword = text.includes('://') || (colon !== -1 && text.lastIndexOf('@') > colon);
  return `“${mayHoldPassword && !plainUrl.test(text) ? '***' : sanitizeLine(text, max)}”`;
}

/** `other`: what else the input accepts, for the message. */
export function durationParser({
  zero = false,
  minMs = 1,
  maxDays = 5,
  needsUnit = false,
  other = '',
} = {}): Parse<number> {
  const what = `${zero ? '0 or ' : other}a duration${needsUnit ? ' with a unit' : ''}`;
  return (text) => {
    const ms = needsUnit && /^\d+$/.test(text) ? undefined : parseDuration(text);
    const isTooShort = ms !== undefined && ms < minMs && !(zero && ms === 0);
    if (ms === undefined || isTooShort || ms > maxDays * 86_400_000)
      throw new BadValue(
        `is not valid; expected ${what} from ${formatDuration(minMs)} to ${maxDays}d, such as 90s or 1h30m (units: ${unitNames})`,
      );
    return ms;
  };
}

/** Parses `since` and `older-than`. A bare number could mean hours or days as well as seconds. */
export const parseAge = durationParser({ maxDays: 366, needsUnit: true });

export function oneOfParser<T extends string>(words: readonly T[]): Parse<T> {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined)
      throw new BadValue(`${text === '' ? 'is empty' : 'is not a valid value'}; valid values: ${words.join(', ')}`);
    return word;
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

/** A secret goes into a header, so it has only visible ASCII characters. */
export function secretParser(minLength: number): Parse<string> {
  return (text) => {
    if (text.length < minLength || !/^[\x21-\x7e]*$/.test(rejectLeftover(text, true)))
      throw new BadValue(
        `is not usable; expected at least ${minLength} characters, without spaces, line breaks or accents. Check the value of the secret`,
        true,
      );
    return text;
  };
}

export const whyEmpty =
  'Check the expression: it is empty if a step id, an output or a variable is misspelled, or if its step was skipped';

/** Rejects an expression that GitHub did not evaluate, and the output of a failed jq command. */
export function rejectLeftover(text: string, hidesValue = false): string {
  if (text === 'null' || text === 'undefined' || text.includes(`\${{`))
    throw new BadValue('is no value. Check the expression or the step that should provide it', hidesValue);
  return text;
}
