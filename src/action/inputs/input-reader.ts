import { UserError } from '../../http/errors.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { sentences } from '../../text/sentences.js';
import type { Secrets } from '../secrets.js';
import type { Environment } from '../toolkit.js';
import {
  BadValue,
  durationParser,
  oneOfParser,
  type Parse,
  parseApiKey,
  parseBaseUrl,
  parseBoolean,
  quote,
} from './input-values.js';

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

export type Valid<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], null> };

/** Reads inputs and collects their problems, because a user wants to fix all problems at once. */
export class InputReader {
  readonly #problems = new Map<string, string>();
  /** The inputs of the mode. The runner sets this one in every mode. */
  readonly #used = new Set<string>(['github-token']);

  constructor(
    private readonly input: (name: string) => string,
    readonly environment: Environment,
  ) {}

  /** Returns the value or the default of an input that the mode uses. */
  text(name: InputName): string {
    this.#used.add(name);
    const given = this.input(name);
    return isUnset(name, given) ? defaults[name] : given;
  }

  /** Returns null for an invalid value. `complete()` later throws an error that names the input. */
  parse<T>(name: InputName, parse: Parse<T>, text = this.text(name)): T | null {
    this.#used.add(name);
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const value = error.hidesValue || text === '' ? '' : `${quote(text)} `;
      this.#problems.set(name, value + error.message);
      return null;
    }
  }

  /** Like `parse`, but an empty value is valid and gives undefined. */
  optional<T>(name: InputName, parse: Parse<T>): T | null | undefined {
    return this.text(name) === '' ? undefined : this.parse(name, parse);
  }

  reject(name: InputName, problem: string): void {
    this.#problems.set(name, `${quote(this.text(name))} ${problem}`);
  }

  rejectVariable(name: string, problem: string): void {
    this.#problems.set(name, problem);
  }

  /** For modes whose responses can hold a new secret. */
  rejectNodeDebug(): void {
    const problem = 'makes Node print responses, and so new secrets; expected it to be empty. Remove it from env';
    if (this.environment['NODE_DEBUG']) this.rejectVariable('NODE_DEBUG', problem);
  }

  /** Returns the values if every input is valid. Otherwise throws one error that names all invalid inputs. */
  complete<Values>(values: Values): Valid<Values> {
    this.#rejectOthers();
    if (this.#problems.size === 0) return values as Valid<Values>;
    const lines = [...this.#problems].map(([name, problem]) => sentences(`Bad input: ${name}: ${problem}`));
    throw new UserError([...lines, 'No request was sent.'].join('\n'));
  }

  /**
   * The runner hands over every input of `with:`. One without effect would be a trap: `revoke-key` would revoke a key despite
   * `dry-run`, and a misspelled `fail-on` would open a gate.
   */
  #rejectOthers(): void {
    // Without a valid mode, nobody knows which inputs have no effect.
    const valid = Object.keys(defaults).filter((name) => this.#used.has(name) || this.#problems.has('mode'));
    for (const [variable, value = ''] of Object.entries(this.environment)) {
      if (!variable.startsWith('INPUT_')) continue;
      const name = variable.slice('INPUT_'.length).toLowerCase();
      const given = value.trim();
      if (valid.includes(name) || isUnset(name, given)) continue;
      // The value may contain a secret, so the message shows it only if it is short and simple.
      const shown = /^[\w.:*/=-]{1,15}$/.test(given) ? `${quote(given)} ` : '';
      const advice = `Remove it from with:. If it is not there, env: or GITHUB_ENV sets ${sanitizeLine(variable, 66)}`;
      const problem = Object.hasOwn(defaults, name)
        ? `${shown}has no effect here, because of mode or another input; expected it to be empty`
        : `is not an input; valid inputs: ${valid.join(', ')}. ${advice}`;
      this.#problems.set(sanitizeLine(name, 60), problem);
    }
  }
}

/** An empty list of ids is not set, just like an empty text. */
function isUnset(name: string, given: string): boolean {
  const { [name]: usual }: Readonly<Record<string, string>> = defaults;
  const word = given.replace(/^(True|TRUE|False|FALSE)$/, (boolean) => boolean.toLowerCase());
  return word === '' || word === usual || (name.endsWith('-id') && /^\[\s*\]$/.test(word));
}

/** Returns the values that may be the parent key: the input first, then the environment variable. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** Throws one error that names all problems. The caller must already have masked the parent key. */
export function readInputs<Name extends string, Run>(
  modes: Readonly<Record<Name, { readonly acceptsZeroTimeout: boolean; read(reader: InputReader): Run }>>,
  input: (name: string) => string,
  environment: Environment,
  secrets: Secrets,
) {
  const reader = new InputReader(input, environment);
  const mode = reader.parse('mode', oneOfParser(Object.keys(modes) as Name[]));
  const chosen = mode === null ? undefined : modes[mode];
  const [apiKey = ''] = apiKeys(input, environment);
  const url = environment['CTL_BASE_URL']?.trim() ?? '';
  const minMs = chosen?.acceptsZeroTimeout === false ? 1 : 0;
  return reader.complete({
    mode,
    apiKey: reader.parse('api-key', parseApiKey, apiKey),
    baseUrl: reader.parse('base-url', (text) => parseBaseUrl(text, url, secrets), input('base-url') || url),
    timeout: reader.parse('timeout', durationParser({ minMs })),
    summary: reader.parse('summary', parseBoolean),
    // The inputs of the mode come last, because its `read` throws one error for all invalid inputs.
    runMode: chosen === undefined ? null : chosen.read(reader),
  });
}
