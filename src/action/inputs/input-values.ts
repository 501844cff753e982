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

/** Quotes what a user wrote. Hides the password of a URL first, because shortening can cut off the `@` after the password. */
export function quote(text: string, max = 80): string {
  const note = /[\p{Cf}\u00a0]/u.test(text.slice(0, max)) ? ' (with invisible characters)' : '';
  return `“${sanitizeLine(withoutPassword(text), max)}”${note}`;
}

/** Hides user and password of a URL. The text may be an invalid URL, so no URL parser is used. */
function withoutPassword(text: string): string {
  // Only the first `:/` can match, so the search takes linear time.
  const hidden = text.replace(/^((?:(?!:\/).)*):\/.*(?:@|%40|\uff20|&#64;)/is, '$1://***@');
  // Text after `://host:` that is not a port may be a password, even if no `@` follows it.
  return hidden.replace(/(:\/\/(?!\[)[^/?#:]*:)(?!\d*(?:[/?#]|$)).*/s, '$1***');
}

/** `otherwise`: what else the input accepts, for the message. */
export function durationParser({ zero = false, minMs = 0, maxDays = 24, otherwise = '' } = {}): Parse<number> {
  return (text) => {
    const ms = parseDuration(text);
    const problem = `is not a duration; expected ${otherwise}whole numbers with units (${unitNames}) and without spaces, such as 10m or 1h30m. A number without a unit means seconds`;
    if (ms === undefined) throw new BadValue(problem);
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

/** Accepts a text for which `problemOf` returns undefined. */
export function checked(problemOf: (text: string) => string | undefined, hidesValue = false): Parse<string> {
  return (text) => {
    const problem = problemOf(text);
    if (problem !== undefined) throw new BadValue(problem, hidesValue);
    return text;
  };
}

export function patternParser(pattern: RegExp, problem: string): Parse<string> {
  return checked((text) => (pattern.test(text) ? undefined : problem));
}

/** Accepts the same words as `core.getBooleanInput`: the booleans of the YAML 1.2 core schema. */
export const parseBoolean: Parse<boolean> = (text) => {
  if (['true', 'True', 'TRUE'].includes(text)) return true;
  if (['false', 'False', 'FALSE'].includes(text)) return false;
  throw new BadValue('is not a boolean; expected true or false');
};

/** Accepts only visible ASCII characters, because the secret goes into a header. */
export function secretProblem(text: string, noun: string): string | undefined {
  const problem = /[^\x21-\x7e]/.test(text)
    ? `contains a space, a line break or another character that no ${noun} has; expected only the ${noun}, without “Bearer ”`
    : leftoverProblem(text);
  return problem && `${problem}. Check the value of the secret`;
}

/** Describes a text that is no value: the output of a failed tool, an expression that GitHub did not evaluate, or quoted text. */
export function leftoverProblem(text: string): string | undefined {
  if (text === 'Array')
    return 'is what an expression makes of a list; if a list is allowed here, put “toJSON(…)” around it';
  if (text === 'Object')
    return 'is what an expression makes of an object; name the field that holds the value, such as “matrix.project.id”';
  if (/\{\{|^\$[({A-Za-z_]|^(env|github|inputs|matrix|needs|secrets|steps|vars)\.[\w.-]+$/.test(text))
    return `is no value: GitHub evaluates only expressions in “\${{ }}”; expected one such as “\${{ vars.NAME }}”, or the value itself`;
  if (/^(["'`]).*\1$|^[“‘„].*[”’“]$|^\[.*\]$|^\{.*\}$|^\p{Cf}|\p{Cf}$/su.test(text))
    return 'is in quotes or brackets, or has an invisible character at one end; expected the value alone';
  if (['null', 'undefined', 'None'].includes(text))
    return 'looks like the output of a failed jq command or template; check the step that should provide the value';
  return undefined;
}

export const rejectLeftover = checked(leftoverProblem);
