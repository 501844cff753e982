import { minSecretLength } from '../../text/encodings.js';
import { formatDuration } from '../../time/duration.js';
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

/** Returns the values that may be the parent key: the input first, then the environment variable. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** Every step calls this function before any other, because no output may contain the key unmasked. */
export function maskParentKey(input: (name: string) => string, environment: Environment, secrets: Secrets): void {
  const [key = ''] = apiKeys(input, environment);
  if (key.length >= minSecretLength) secrets.add(key);
}

/** Throws one `BadInputs` that names all problems. The caller must already have masked the parent key. */
export function readInputs<Name extends string, Run>(
  modes: Readonly<Record<Name, { readonly polls: boolean; read(reader: InputReader): Run }>>,
  input: (name: string) => string,
  environment: Environment,
  secrets: Secrets,
) {
  const reader = new InputReader(input, environment, secrets);
  const mode = reader.parse('mode', oneOfParser(Object.keys(modes) as Name[]));
  const chosen = mode === null ? undefined : modes[mode];
  const apiKey = reader.text('api-key') || environment['CTL_API_KEY']?.trim() || '';
  const baseUrl = reader.text('base-url') || environment['CTL_BASE_URL']?.trim() || '';
  const inputs = reader.complete({
    mode,
    apiKey: reader.parse('api-key', parseApiKey, apiKey),
    baseUrl: reader.parse('base-url', parseBaseUrl, baseUrl, urlWithoutSecrets),
    timeout: reader.parse('timeout', durationParser({ zero: chosen?.polls ?? true })),
    requestTimeout: reader.parse('request-timeout', durationParser()),
    summary: reader.parse('summary', parseBoolean),
    // The mode reads its inputs last, because `read` throws if any input is invalid.
    runMode: chosen === undefined ? null : chosen.read(reader),
  });
  const { warnings } = reader;
  for (const name of ['timeout', 'request-timeout'] as const) {
    const seconds = Number(reader.text(name));
    const means = `${seconds} without a unit means ${formatDuration(seconds * 1_000)}`;
    // A job on github.com ends after 6 hours.
    if (seconds > 21_600) reader.warn(name, `${means}. If you mean milliseconds, write ${seconds}ms`);
  }
  if (!/\/v2\/*$/.test(inputs.baseUrl.pathname))
    warnings.push('The path of base-url does not end in /v2. Check that base-url is the URL of the control API.');
  return { ...inputs, hasProjectId: reader.uses('project-id'), warnings };
}
