import { sentence } from '../../text/sentences.js';
import type { Secrets } from '../secrets.js';
import { BadValue, durationParser, type Parse, quote } from './input-values.js';

/** The inputs of action.yml. A test compares this table with action.yml. */
export const defaults = {
  mode: '',
  'api-key': '',
  'base-url': '',
  timeout: '10m',
  summary: 'true',
  'project-id': '',
  'operation-id': '',
  'response-file': '',
  request: '',
  body: '',
  'body-file': '',
  filter: '',
  'fail-on': '',
  'poll-interval': 'auto',
  'fail-fast': 'true',
  since: '',
  limit: '',
  'max-batches': '256',
  'org-id': '',
  shard: '',
  'key-name': '',
  'key-id': '',
  'ignore-not-found': 'false',
  'revoke-in-post': 'true',
  'on-revoke-failure': 'warn',
  'older-than': '',
  'dry-run': 'false',
  'github-token': `\${{ github.token }}`,
} as const;

type InputName = keyof typeof defaults;
/** The default of `github-token` is an expression, so the action cannot know whether the workflow sets the input. */
const tokenInput = 'github-token';

export type Environment = Readonly<Record<string, string | undefined>>;

export class BadInputs extends Error {
  constructor(
    message: string,
    readonly outputs: InputReader['outputsIfInvalid'],
  ) {
    super(message);
  }
}

export type Valid<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], null> };

/** Reads inputs and collects their problems, because a user wants to fix all problems at once. */
export class InputReader {
  readonly warnings: string[] = [];
  /** Outputs that a step has even if its inputs are invalid. */
  readonly outputsIfInvalid: { readonly name: string; readonly value: string }[] = [];
  readonly #problems: string[] = [];
  readonly #used = new Set<string>();
  /** Inputs that already have a problem. Their values are neither parsed nor printed. */
  readonly #rejected = new Set<string>();

  constructor(
    private readonly input: (name: string) => string,
    readonly environment: Environment,
    private readonly secrets: Secrets,
  ) {}

  text(name: InputName): string {
    this.#used.add(name);
    const text = this.input(name);
    if (name !== 'api-key' && !this.#rejected.has(name) && this.secrets.appearIn(text))
      this.#problem(
        name,
        'contains the API key; expected the key only in api-key, because other inputs can appear in logs and requests',
      );
    return text || (name === tokenInput ? '' : defaults[name]);
  }

  /** Returns null for an invalid value. `complete()` later throws an error that names the input. */
  parse<T>(name: InputName, parse: Parse<T>, text = this.text(name), show?: (text: string) => string): T | null {
    return this.#rejected.has(name) ? null : this.#parse(name, parse, text, show);
  }

  /** Like `parse`, but an empty value is valid and gives undefined. */
  optional<T>(name: InputName, parse: Parse<T>): T | null | undefined {
    return this.text(name) === '' ? undefined : this.parse(name, parse);
  }

  rejectBoth(name: InputName, other: InputName): void {
    if (this.text(name) === '' || this.text(other) === '') return;
    this.#rejected.add(other);
    this.#problem(name, `is set together with ${other}; expected only one of them`);
  }

  /** Like `parse`, but for an environment variable that the runner sets. */
  variable<T>(name: string, parse: Parse<T>, fallback = ''): T | null {
    return this.#parse(name, parse, this.environment[name] || fallback);
  }

  #parse<T>(name: string, parse: Parse<T>, text: string, show = (shown: string) => shown): T | null {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const isHidden = error.hidesValue || text === '';
      const value = isHidden ? '' : `${quote(this.secrets.redact(show(text)))} `;
      this.#problem(name, `${value}${error.message}`);
      return null;
    }
  }

  /** Rejects a value that is valid by itself. */
  reject(name: InputName, message: string): void {
    if (!this.#rejected.has(name)) this.#problem(name, `${quote(this.text(name))} ${message}`);
  }

  #problem(name: string, message: string): void {
    this.#rejected.add(name);
    this.#problems.push(`${name}: ${this.secrets.redact(message)}`);
  }

  warn(name: InputName, message: string): void {
    this.warnings.push(`${name}: ${sentence(this.secrets.redact(message))}`);
  }

  /** Rejects inputs that have no effect because of other inputs. */
  rejectUnless(names: readonly InputName[], when: string): void {
    for (const name of names) {
      this.text(name);
      if (!this.#isSet(name)) continue;
      this.#problem(name, `${shownIfSimple(this.input(name))}counts only ${when}; expected it to be empty`);
    }
  }

  #isSet(name: InputName): boolean {
    const value = this.input(name).replace(/^(True|TRUE|False|FALSE)$/, (word) => word.toLowerCase());
    return value !== '' && value !== defaults[name];
  }

  /** Returns the values if every input is valid. Otherwise throws one error that names all invalid inputs. */
  complete<Values>(values: Values): Valid<Values> {
    // Without a valid mode, nobody knows which inputs have no effect.
    if (!this.#rejected.has('mode')) this.#rejectUnused();
    const problems = this.#problems.map(sentence);
    if (problems.length === 0) return values as Valid<Values>;
    const what =
      problems.length === 1
        ? `Bad input: ${problems[0]}`
        : `${problems.length} bad inputs:\n- ${problems.join('\n- ')}`;
    throw new BadInputs(`${what}\nNo request was sent.`, this.outputsIfInvalid);
  }

  /** An input without effect would be a trap. For example, the mode `revoke-key` would revoke a key despite `dry-run`. */
  #rejectUnused(): void {
    for (const name of Object.keys(defaults) as InputName[]) {
      if (this.#used.has(name) || this.#rejected.has(name) || name === tokenInput || !this.#isSet(name)) continue;
      const problem = `has no effect in ${this.input('mode')}; expected it to be empty`;
      this.#problem(name, `${shownIfSimple(this.input(name))}${problem}. Remove it, or check the value of mode`);
    }
  }
}

/** The value of an input without effect may contain a secret, so a message shows it only if it is short and simple. */
function shownIfSimple(value: string): string {
  return /^[\w.:*/=-]{1,15}$/.test(value) ? `“${value}” ` : '';
}

const maxAgeDays = 366;

/** Reads `since` or `older-than`. A bare number means seconds. If it is small, the user probably meant hours or days. */
export function readAge(reader: InputReader, name: 'since' | 'older-than'): number | null | undefined {
  const text = reader.text(name);
  if (text === '') return undefined;
  const means = `${text} without a unit means ${text} seconds. If you mean hours or days, write ${text}h or ${text}d`;
  if (/^\d+$/.test(text) && Number(text) <= maxAgeDays) reader.warn(name, means);
  return reader.parse(name, durationParser({ maxDays: maxAgeDays }));
}

export const notARunner = 'expected the value that the GitHub Actions runner sets';
