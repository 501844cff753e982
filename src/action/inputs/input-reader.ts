import { sanitizeLine } from '../../text/sanitize-line.js';
import { sentence } from '../../text/sentences.js';
import type { Secrets } from '../secrets.js';
import { BadValue, type Parse } from './input-values.js';

/** Every input of action.yml with its default. A test compares this table with action.yml. */
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
  'github-token': `\${{ github.token }}`,
} as const;

type InputName = keyof typeof defaults;
const inputNames = Object.keys(defaults) as InputName[];
/** The default of `github-token` is an expression, so the action cannot know whether the workflow sets the input. */
const tokenInput = 'github-token';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One error that names every invalid input of the step. */
export class BadInputs extends Error {}

/** Reads inputs and collects their problems, so that a user can fix all of them at once. */
export class InputReader {
  readonly warnings: string[] = [];
  readonly #problems: string[] = [];
  readonly #used = new Set<string>();
  /** Inputs that contain a secret by mistake. Their values are neither parsed nor printed. */
  readonly #withheld = new Set<string>();

  constructor(
    private readonly input: (name: string) => string,
    readonly environment: Environment,
    private readonly secrets: Secrets,
  ) {
    for (const name of inputNames) if (name !== 'api-key' && name !== tokenInput) this.#withholdKey(name);
  }

  text(name: InputName): string {
    this.#used.add(name);
    if (name !== tokenInput) return this.input(name) || defaults[name];
    // Modes that do not need the job token must never read it.
    this.#withholdKey(name);
    return this.input(name);
  }

  #withholdKey(name: InputName): void {
    if (!this.secrets.appearIn(this.input(name))) return;
    this.#withheld.add(name);
    this.#problem(
      name,
      'contains the API key; expected the key only in api-key, because other inputs are printed and sent',
    );
  }

  /** Returns undefined for an invalid value. Later, `complete()` throws an error that names the input. */
  parse<T>(name: InputName, parse: Parse<T>, text = this.text(name), show?: (text: string) => string): T | undefined {
    return this.#withheld.has(name) ? undefined : this.#parse(name, parse, text, show);
  }

  /** Like `parse`, but also returns undefined for an empty value, which is valid. */
  optional<T>(name: InputName, parse: Parse<T>): T | undefined {
    return this.text(name) === '' ? undefined : this.parse(name, parse);
  }

  /** For two inputs that exclude each other. If both are set, returns true, and later `complete()` throws. */
  areBothSet(name: InputName, other: InputName): boolean {
    const areSet = this.text(name) !== '' && this.text(other) !== '';
    if (areSet) this.#problem(name, `is set together with ${other}; expected only one of them`);
    return areSet;
  }

  /** Reads an environment variable that the runner sets. For an invalid value, returns undefined, and `complete()` throws later. */
  variable<T>(name: string, parse: Parse<T>, fallback = ''): T | undefined {
    return this.#parse(name, parse, this.environment[name] || fallback);
  }

  #parse<T>(name: string, parse: Parse<T>, text: string, show = (shown: string) => shown): T | undefined {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const isHidden = error.hidesValue || text === '';
      const value = isHidden ? '' : `“${sanitizeLine(this.secrets.redact(show(text)), 80)}” `;
      this.#problem(name, `${value}${error.message}`);
      return undefined;
    }
  }

  #problem(name: string, message: string): void {
    this.#problems.push(`${name}: ${this.secrets.redact(message)}`);
  }

  /** Warns about a value that is unusual but valid. */
  warn(name: InputName, message: string): void {
    this.warnings.push(`${name}: ${sentence(this.secrets.redact(message))}`);
  }

  /** Inputs that the step does not use, although the workflow sets them to something other than the default. */
  unused(): string[] {
    return inputNames
      .filter((name) => !this.#used.has(name) && name !== tokenInput)
      .filter((name) => !['', defaults[name]].includes(this.input(name)));
  }

  /** Returns the values if every input is valid, and throws otherwise. */
  complete<T>(values: { [Name in keyof T]: T[Name] | undefined }): T {
    const problems = this.#problems.map(sentence);
    if (problems.length === 1) throw new BadInputs(`Bad input: ${problems[0]}\nNo request was sent.`);
    if (problems.length > 1)
      throw new BadInputs(`${problems.length} bad inputs:\n- ${problems.join('\n- ')}\nNo request was sent.`);
    // If a value is missing but no problem was reported, that is a bug in the action, so the step must not continue.
    const missing = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [name] : []));
    if (missing.length > 0) throw new Error(`the inputs have no value for ${missing.join(', ')}`);
    return values as T;
  }
}
