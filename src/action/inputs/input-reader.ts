import { sanitizeLine } from '../../text/sanitize-line.js';
import { sentence } from '../../text/sentences.js';
import type { Secrets } from '../secrets.js';
import { BadValue, type Parse } from './input-values.js';

/** A default with this prefix is an expression. The action cannot know its value. */
const expressionMark = '${{';

/** Every input of action.yml with its default. A test compares the two. */
export const defaults = {
  mode: '',
  'api-key': '',
  'base-url': '',
  timeout: '10m',
  'request-timeout': '30s',
  summary: 'true',
  'project-id': '',
  'operation-id': '',
  'response-file': '',
  filter: '',
  'fail-on': '',
  'poll-interval': 'auto',
  'fail-fast': 'true',
  since: '',
  limit: '',
  'max-batches': '256',
  shard: '',
  'key-label': '',
  'key-name': '',
  'key-id': '',
  'revoke-in-post': 'true',
  'on-revoke-failure': 'warn',
  'export-env': '',
  'older-than': '35d',
  'dry-run': 'false',
  'github-token': `${expressionMark} github.token }}`,
} as const;

type InputName = keyof typeof defaults;

export type Environment = Readonly<Record<string, string | undefined>>;

/** One error that names every invalid input of the step. */
export class BadInputs extends Error {}

/** Reads inputs and collects their problems, so that a user can fix all of them at once. */
export class InputReader {
  readonly environment: Environment;
  readonly #input: (name: string) => string;
  readonly #secrets: Secrets;
  readonly #problems: string[] = [];
  readonly #warnings: string[] = [];
  readonly #used = new Set<string>();
  /** Inputs that contain a known secret. Their values are neither parsed nor printed. */
  readonly #withheld = new Set<string>();

  constructor(input: (name: string) => string, environment: Environment, secrets: Secrets) {
    this.environment = environment;
    this.#input = input;
    this.#secrets = secrets;
    for (const name of Object.keys(defaults) as InputName[])
      if (name !== 'api-key' && !isExpression(defaults[name])) this.#withholdKey(name);
  }

  text(name: InputName): string {
    this.#used.add(name);
    const standard = defaults[name];
    if (!isExpression(standard)) return this.#input(name) || standard;
    // This is the job's token. Only the mode that uses it reads it.
    this.#withholdKey(name);
    return this.#input(name);
  }

  #withholdKey(name: InputName): void {
    if (!this.#secrets.appearIn(this.#input(name))) return;
    this.#withheld.add(name);
    this.problem(name, 'contains the API key; expected it only in api-key, because other inputs are printed and sent');
  }

  /** Returns `undefined` for an invalid value; `complete()` then throws. */
  parse<T>(
    name: InputName,
    parse: Parse<T>,
    text: string = this.text(name),
    show: (text: string) => string = (shown) => shown,
  ): T | undefined {
    return this.#withheld.has(name) ? undefined : this.#parse(name, parse, text, show);
  }

  /** Like `parse`, for an input that may be empty. Wraps the value, to tell empty from invalid. */
  optional<T>(name: InputName, parse: Parse<T>): { readonly value: T | undefined } | undefined {
    const text = this.text(name);
    if (text === '') return { value: undefined };
    const value = this.parse(name, parse, text);
    return value === undefined ? undefined : { value };
  }

  /** Reads a variable of the runner. Like an input, it can be missing or invalid. */
  variable<T>(name: string, parse: Parse<T>, fallback = ''): T | undefined {
    return this.#parse(name, parse, this.environment[name] || fallback, (shown) => shown);
  }

  #parse<T>(name: string, parse: Parse<T>, text: string, show: (text: string) => string): T | undefined {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.#note(
        name,
        error.hidesValue || text === ''
          ? error.message
          : `“${sanitizeLine(this.#secrets.redact(show(text)), 80)}” ${error.message}`,
      );
      return undefined;
    }
  }

  problem(name: InputName, message: string): void {
    this.#used.add(name);
    this.#note(name, message);
  }

  /** For a value that is unusual but valid. */
  warn(name: InputName, message: string): void {
    this.#warnings.push(`${name}: ${sentence(this.#secrets.redact(message))}`);
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  #note(name: string, message: string): void {
    this.#problems.push(`${name}: ${this.#secrets.redact(message)}`);
  }

  /** Inputs that the workflow sets to something other than the default, and that this step does not use. */
  unused(): string[] {
    return Object.entries(defaults).flatMap(([name, standard]) => {
      if (this.#used.has(name) || isExpression(standard)) return [];
      const set = this.#input(name);
      return set === '' || set === standard ? [] : [name];
    });
  }

  /** Returns the values if every input is valid, and throws otherwise. */
  complete<T>(values: { [Name in keyof T]: T[Name] | undefined }): T {
    const [first, ...others] = this.#problems;
    if (first === undefined) return assertComplete(values);
    if (others.length === 0) throw new BadInputs(`Bad input: ${sentence(first)}\nNo request was sent.`);
    throw new BadInputs(
      `${others.length + 1} bad inputs:\n${this.#problems.map((problem) => `- ${sentence(problem)}`).join('\n')}\nNo request was sent.`,
    );
  }
}

function isExpression(standard: string): boolean {
  return standard.startsWith(expressionMark);
}

/** A missing value without a reported problem is a defect of the action. The step must not go on. */
function assertComplete<T>(values: { [Name in keyof T]: T[Name] | undefined }): T {
  const missing = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0) throw new Error(`the inputs have no value for ${missing.join(', ')}`);
  return values as T;
}
