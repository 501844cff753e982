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

/** Every mode with what it reads of the inputs that not all modes have. */
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

/** Nothing where a part of it is bad: there is no value that could stand in for it. */
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
  /** Milliseconds; 0: look once. */
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly summary: boolean;
  readonly settings: SettingsOf[Mode];
  /** What is odd about the inputs, but no error. */
  warnings(): string[];
}

/** Where the parent key can stand: in its input, else in the environment. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** Comes before anything else: nothing may print the key that is not masked yet. */
export function maskParentKey(input: (name: string) => string, environment: Environment, secrets: Secrets): void {
  const [key = ''] = apiKeys(input, environment);
  if (key.length >= shortestApiKey) secrets.add(key);
}

/** Reads every input once, or throws one `BadInputs` that tells all that is wrong. The parent key is masked by now. */
export function readInputs(input: (name: string) => string, environment: Environment, secrets: Secrets): Inputs {
  const [key = ''] = apiKeys(input, environment);
  const reader = new InputReader(input, environment, secrets);
  // Read already, for the mask.
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
