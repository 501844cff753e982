import { UserError } from '../../http/errors.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { sentence } from '../../text/sentences.js';
import type { Secrets } from '../secrets.js';
import type { Outputs } from '../step-report.js';
import type { Environment } from '../toolkit.js';
import { BadValue, type Parse, quote } from './input-values.js';

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
  'key-name': '',
  'key-id': '',
  'ignore-not-found': 'false',
  'revoke-in-post': 'true',
  'on-revoke-failure': 'warn',
  'older-than': '',
  'dry-run': 'false',
  // In action.yml, its default is an expression. So the action cannot know whether the workflow sets it.
  'github-token': '',
} as const;

type InputName = keyof typeof defaults;
const inputNames = Object.keys(defaults) as InputName[];

export class BadInputs extends UserError {
  constructor(
    message: string,
    readonly outputs: Outputs,
  ) {
    super(message);
  }
}

export type Valid<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], null> };

/** Reads inputs and collects their problems, because a user wants to fix all problems at once. */
export class InputReader {
  /** Outputs that a step has even if its inputs are invalid. */
  outputsIfInvalid: Outputs = {};
  /** One of each input. The value of such an input is neither parsed nor printed again. */
  readonly #problems = new Map<string, string>();
  /** The inputs of the mode. */
  readonly #used = new Set<InputName>();

  constructor(
    private readonly input: (name: string) => string,
    readonly environment: Environment,
    private readonly secrets: Secrets,
  ) {
    const others = inputNames.filter((name) => name !== 'api-key').map((name) => [name, input(name)] as const);
    for (const [name, value] of [...others, ['CTL_BASE_URL', environment['CTL_BASE_URL'] ?? ''] as const])
      if (secrets.appearIn(value))
        this.#reject(
          name,
          'contains the API key; expected the key only in api-key, because other values appear in logs',
        );
  }

  /** Returns the value or the default of an input that the mode uses. */
  text(name: InputName): string {
    this.#used.add(name);
    return this.#given(name) || defaults[name];
  }

  /** Returns null for an invalid value. `complete()` later throws an error that names the input. */
  parse<T>(name: InputName, parse: Parse<T>, text = this.text(name)): T | null {
    this.#used.add(name);
    return this.#problems.has(name) ? null : this.#parse(name, parse, text);
  }

  /** Like `parse`, but an empty value is valid and gives undefined. */
  optional<T>(name: InputName, parse: Parse<T>): T | null | undefined {
    return this.text(name) === '' ? undefined : this.parse(name, parse);
  }

  /** Like `parse`, but for an environment variable that the runner sets. */
  variable<T>(name: string, parse: Parse<T>, fallback = ''): T | null {
    return this.#parse(name, parse, this.environment[name] || fallback);
  }

  /** Rejects a value that is valid by itself. */
  reject(name: InputName, message: string): void {
    if (!this.#problems.has(name)) this.#reject(name, `${quote(this.text(name))} ${message}`);
  }

  /** Returns the values if every input is valid. Otherwise throws one error that names all invalid inputs. */
  complete<Values>(values: Values): Valid<Values> {
    // Without a valid mode, nobody knows which inputs have no effect.
    const isModeValid = !this.#problems.has('mode');
    this.#rejectUnknown(isModeValid);
    if (isModeValid) this.#rejectUnused();
    const problems = [...this.#problems].map(([name, problem]) => sentence(`${name}: ${problem}`));
    if (problems.length === 0) return values as Valid<Values>;
    const [first = '', ...more] = problems;
    const all =
      more.length === 0 ? `Bad input: ${first}` : `${problems.length} bad inputs:\n- ${problems.join('\n- ')}`;
    throw new BadInputs(`${all}\nNo request was sent.`, this.outputsIfInvalid);
  }

  #parse<T>(name: string, parse: Parse<T>, text: string): T | null {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const value = error.hidesValue || text === '' ? '' : `${quote(this.secrets.redact(text))} `;
      this.#reject(name, `${value}${error.message}`);
      return null;
    }
  }

  /** An empty list of ids is not set, just like an empty text. */
  #given(name: InputName): string {
    const text = this.input(name);
    return name.endsWith('-id') ? text.replace(/^\[\s*\]$/, '') : text;
  }

  /** An input without effect would be a trap. For example, `revoke-key` would revoke a key despite `dry-run`. */
  #rejectUnused(): void {
    for (const name of inputNames) {
      const given = this.#given(name);
      const isDefault = ['', defaults[name]].includes(
        given.replace(/^(True|TRUE|False|FALSE)$/, (word) => word.toLowerCase()),
      );
      if (isDefault || this.#used.has(name) || this.#problems.has(name) || name === 'github-token') continue;
      // The value may contain a secret, so the message shows it only if it is short and simple.
      const value = /^[\w.:*/=-]{1,15}$/.test(given) ? `${quote(given)} ` : '';
      this.#reject(name, `${value}has no effect here, because of mode or another input; expected it to be empty`);
    }
  }

  /** The runner hands over every input of `with:`, also a misspelled one that would have opened a gate. */
  #rejectUnknown(isModeValid: boolean): void {
    const known = new Set(inputNames.map((name) => `INPUT_${name.toUpperCase()}`));
    const valid = isModeValid ? [...this.#used] : inputNames;
    const mode = isModeValid ? this.input('mode') : 'this action';
    for (const [variable, value] of Object.entries(this.environment)) {
      if (!variable.startsWith('INPUT_') || known.has(variable) || !value?.trim()) continue;
      const name = sanitizeLine(variable.slice('INPUT_'.length).toLowerCase(), 60);
      const source = `If it is not in with:, then env: or GITHUB_ENV sets ${sanitizeLine(variable, 66)}: rename it there`;
      this.#reject(name, `is not an input; the inputs of ${mode} are ${valid.join(', ')}. ${source}`);
    }
  }

  #reject(name: string, problem: string): void {
    this.#problems.set(name, this.secrets.redact(problem));
  }
}

export const notARunner = 'expected the value that the GitHub Actions runner sets';
