import { minSecretLength } from '../../text/encodings.js';
import type { Secrets } from '../secrets.js';
import type { Environment } from '../toolkit.js';
import { InputReader } from './input-reader.js';
import {
  BadValue,
  durationParser,
  oneOfParser,
  type Parse,
  parseBoolean,
  rejectLeftover,
  secretParser,
  whyEmpty,
} from './input-values.js';

/** Returns the values that may be the parent key: the input first, then the environment variable. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** The main step calls this first, because no output may contain the key unmasked. */
export function maskParentKey(input: (name: string) => string, environment: Environment, secrets: Secrets): void {
  const [key = ''] = apiKeys(input, environment);
  if (key.length >= minSecretLength) secrets.add(key);
}

/** Throws one `BadInputs` that names all problems. The caller must already have masked the parent key. */
export function readInputs<Name extends string, Run>(
  modes: Readonly<Record<Name, { readonly acceptsZeroTimeout: boolean; read(reader: InputReader): Run }>>,
  input: (name: string) => string,
  environment: Environment,
  secrets: Secrets,
) {
  const reader = new InputReader(input, environment, secrets);
  const mode = reader.parse('mode', oneOfParser(Object.keys(modes) as Name[]));
  const chosen = mode === null ? undefined : modes[mode];
  const [apiKey = ''] = apiKeys(input, environment);
  const baseUrl = input('base-url') || environment['CTL_BASE_URL']?.trim() || '';
  return reader.complete({
    mode,
    apiKey: reader.parse('api-key', parseApiKey, apiKey),
    baseUrl: reader.parse('base-url', parseBaseUrl, baseUrl),
    timeout: reader.parse('timeout', durationParser({ zero: chosen?.acceptsZeroTimeout ?? true })),
    summary: reader.parse('summary', parseBoolean),
    // The mode reads its inputs last, because `read` throws if any input is invalid.
    runMode: chosen === undefined ? null : chosen.read(reader),
  });
}

/** Accepts a URL that may get the API key. */
export const parseBaseUrl: Parse<URL> = (text) => {
  if (text === '')
    throw new BadValue(
      `is empty; expected the URL of the control API, in this input or in the environment variable CTL_BASE_URL. ${whyEmpty}`,
    );
  // The URL parser would take the first part of a path as the host, and then the key would go to that host.
  if (!/^https?:\/\/[^/\\?#@\s]+(\/[^\\?#\s]*)?$/i.test(rejectLeftover(text)) || !URL.canParse(text))
    throw new BadValue(
      'is not a usable URL; expected one like https://host/api/v2, without user, password, query and fragment',
      true,
    );
  const url = new URL(text);
  if (url.protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname))
    throw new BadValue(
      'would send the API key unencrypted; expected https (http is accepted only for localhost, 127.0.0.0/8 and [::1])',
    );
  return url;
};

const parseApiKey: Parse<string> = (text) => {
  if (text === '')
    throw new BadValue(
      `is empty; expected an API key in this input, such as “\${{ secrets.NAME }}”, or in the environment variable CTL_API_KEY. Forks and Dependabot see no secrets. In other workflows, check the name behind “secrets.”`,
    );
  return secretParser(minSecretLength)(text);
};
