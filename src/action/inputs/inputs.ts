import { minSecretLength } from '../../text/encodings.js';
import type { Secrets } from '../secrets.js';
import { type Environment, InputReader } from './input-reader.js';
import {
  durationParser,
  oneOfParser,
  parseApiKey,
  parseBaseUrl,
  parseBoolean,
  urlWithoutSecrets,
} from './input-values.js';

/** `Run`: what a mode makes of its own inputs. */
export interface Inputs<Name extends string, Run> {
  readonly mode: Name;
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds. 0 means: check once. */
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly summary: boolean;
  readonly run: Run;
  /** Texts on inputs that are unusual but valid. */
  warnings(): string[];
}

/** Candidates for the parent key: the input first, then the environment. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** Every step calls this first, because nothing may print the key before it is masked. */
export function maskParentKey(input: (name: string) => string, environment: Environment, secrets: Secrets): void {
  const [key = ''] = apiKeys(input, environment);
  if (key.length >= minSecretLength) secrets.add(key);
}

/**
 * Reads and checks all inputs. Throws one `BadInputs` that names all problems. The caller masks the parent key first.
 * `modes`: a reader for each mode, which returns undefined if an input is invalid.
 */
export function readInputs<Name extends string, Run>(
  modes: Readonly<Record<Name, (reader: InputReader) => Run | undefined>>,
  input: (name: string) => string,
  environment: Environment,
  secrets: Secrets,
): Inputs<Name, Run> {
  const [key = ''] = apiKeys(input, environment);
  const reader = new InputReader(input, environment, secrets);
  // Marks `api-key` as used. `apiKeys` has already read its value.
  reader.text('api-key');
  const mode = reader.parse('mode', oneOfParser(Object.keys(modes) as Name[]));
  const values = {
    mode,
    apiKey: reader.parse('api-key', parseApiKey, key),
    baseUrl: reader.parse(
      'base-url',
      parseBaseUrl,
      reader.text('base-url') || environment['CTL_BASE_URL']?.trim() || '',
      urlWithoutSecrets,
    ),
    timeout: reader.parse('timeout', durationParser({ zero: mode === undefined || mode === 'wait-operation' })),
    requestTimeout: reader.parse('request-timeout', durationParser()),
    summary: reader.parse('summary', parseBoolean),
    run: mode === undefined ? undefined : modes[mode](reader),
  };
  const complete = reader.complete<Omit<Inputs<Name, Run>, 'warnings'>>(values);
  return {
    ...complete,
    warnings: () => [
      ...reader.warnings,
      ...unusedInputWarnings(reader, complete.mode),
      ...urlWarnings(complete.baseUrl),
    ],
  };
}

function unusedInputWarnings(reader: InputReader, mode: string): string[] {
  const unused = reader.unused();
  return unused.length === 0
    ? []
    : [`Inputs that ${mode} does not use were ignored: ${unused.join(', ')}. Remove them, or check mode.`];
}

function urlWarnings({ pathname }: URL): string[] {
  return /\/v2\/*$/.test(pathname)
    ? []
    : ['The path of base-url does not end in /v2. Check that it is the URL of the control API.'];
}
