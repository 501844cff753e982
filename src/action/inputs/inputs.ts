import type { CreateKeySettings } from '../../modes/create-key.js';
import type { ListOperationsSettings } from '../../modes/list-operations.js';
import type { ListProjectsSettings } from '../../modes/list-projects.js';
import type { Wanted } from '../../modes/lists/listing.js';
import type { RevokeKeySettings } from '../../modes/revoke-key.js';
import type { WaitSettings } from '../../modes/wait-operation.js';
import type { Secrets } from '../secrets.js';
import { type Environment, InputReader } from './input-reader.js';
import { apiKey, baseUrl, boolean, duration, oneOf, shortestApiKey, urlWithoutSecrets } from './input-values.js';
import { createKeySettings, revokeKeySettings, type SweepKeysInputs, sweepKeysSettings } from './key-inputs.js';
import { listKeysSettings, listOperationsSettings, listProjectsSettings } from './list-inputs.js';
import { waitSettings } from './wait-inputs.js';

/** The settings of each mode: the inputs that not all modes share. */
export interface SettingsOf {
  'wait-operation': WaitSettings;
  'list-operations': ListOperationsSettings;
  'list-projects': ListProjectsSettings;
  'create-key': CreateKeySettings;
  'list-keys': Wanted;
  'revoke-key': RevokeKeySettings;
  'sweep-keys': SweepKeysInputs;
}

export type Mode = keyof SettingsOf;

/** A reader returns `undefined` if one of its inputs is invalid. An invalid input has no fallback value. */
const settingsOf: { readonly [M in Mode]: (reader: InputReader) => SettingsOf[M] | undefined } = {
  'wait-operation': waitSettings,
  'list-operations': listOperationsSettings,
  'list-projects': listProjectsSettings,
  'create-key': createKeySettings,
  'list-keys': listKeysSettings,
  'revoke-key': revokeKeySettings,
  'sweep-keys': sweepKeysSettings,
};

export interface Inputs {
  readonly mode: Mode;
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds. 0 means: check once. */
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly summary: boolean;
  readonly settings: SettingsOf[Mode];
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
  if (key.length >= shortestApiKey) secrets.add(key);
}

/** Reads every input once, or throws one `BadInputs` that names all problems. The parent key is already masked. */
export function readInputs(input: (name: string) => string, environment: Environment, secrets: Secrets): Inputs {
  const [key = ''] = apiKeys(input, environment);
  const reader = new InputReader(input, environment, secrets);
  // This marks `api-key` as used. `apiKeys` has read its value.
  reader.text('api-key');
  const mode = reader.parse('mode', oneOf(Object.keys(settingsOf) as Mode[]));
  const values = {
    mode,
    apiKey: reader.parse('api-key', apiKey, key, () => '***'),
    baseUrl: reader.parse(
      'base-url',
      baseUrl,
      reader.text('base-url') || environment['CTL_BASE_URL']?.trim() || '',
      urlWithoutSecrets,
    ),
    timeout: reader.parse('timeout', duration({ zero: mode === undefined || mode === 'wait-operation' })),
    requestTimeout: reader.parse('request-timeout', duration()),
    summary: reader.parse('summary', boolean),
    settings: mode === undefined ? undefined : settingsOf[mode](reader),
  };
  const complete = reader.complete<Omit<Inputs, 'warnings'>>(values);
  return {
    ...complete,
    warnings: () => [...reader.warnings, ...unusedInputs(reader, complete.mode), ...oddUrl(complete.baseUrl)],
  };
}

function unusedInputs(reader: InputReader, mode: Mode): string[] {
  const unused = reader.unused();
  return unused.length === 0 ? [] : [`Not used by this step (${mode}) and ignored: ${unused.join(', ')}.`];
}

function oddUrl({ pathname }: URL): string[] {
  return /\/v2\/*$/.test(pathname)
    ? []
    : ['The path of base-url does not end in /v2, as that of the control API does.'];
}
