import { minSecretLength } from '../../text/encodings.js';
import { formatDuration } from '../../time/duration.js';
import type { Secrets } from '../secrets.js';
import { type Environment, InputReader } from './input-reader.js';
import { checked, durationParser, leftoverProblem, oneOfParser, parseBoolean, secretProblem } from './input-values.js';

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
    apiKey: reader.parse('api-key', checked(apiKeyProblem, true), apiKey),
    baseUrl: reader.parse('base-url', checked(baseUrlProblem), baseUrl, urlWithoutSecrets),
    timeout: reader.parse('timeout', durationParser({ zero: chosen?.polls ?? true })),
    summary: reader.parse('summary', parseBoolean),
    // The mode reads its inputs last, because `read` throws if any input is invalid.
    runMode: chosen === undefined ? null : chosen.read(reader),
  });
  const { warnings } = reader;
  const seconds = Number(reader.text('timeout'));
  const means = `${seconds} without a unit means ${formatDuration(seconds * 1_000)}`;
  // A job on github.com ends after 6 hours.
  if (seconds > 21_600) reader.warn('timeout', `${means}. If you mean milliseconds, write ${seconds}ms`);
  const url = new URL(inputs.baseUrl);
  if (!/\/v2\/*$/.test(url.pathname))
    warnings.push('The path of base-url does not end in /v2. Check that base-url is the URL of the control API.');
  return { ...inputs, baseUrl: url, warnings };
}

/** Undefined for a URL that may get the API key. */
export function baseUrlProblem(text: string): string | undefined {
  if (text === '')
    return 'is empty; expected the URL of the control API, in this input or in the environment variable CTL_BASE_URL. Check the name of the variable that holds the URL';
  const leftover = leftoverProblem(text);
  if (leftover !== undefined) return leftover;
  if (!URL.canParse(text) || /\s/.test(text)) return 'is not a URL; expected one like https://host/api/v2';
  const { protocol, hostname, username, password } = new URL(text);
  if (!/^https?:$/.test(protocol)) return 'has no scheme or an unsupported one; expected https://…';
  if (protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
    return 'would send the API key unencrypted; expected https (http is accepted only for localhost, 127.0.0.0/8 and [::1])';
  if (username !== '' || password !== '')
    return 'must not contain a user name or password. Pass the API key in the input api-key';
  // If there is no host, the parser takes the first part of the path as the host. Then the key would go to that host.
  if (/^https?:(?!\/\/[^/\\])/i.test(text))
    return 'has no host behind “https://”; expected a URL like https://host/api/v2. If an expression provides the host, it may be empty: check the name of its variable';
  return /[?#]/.test(text) ? 'has a query or a fragment; expected only scheme, host and path' : undefined;
}

/** Hides the query, the fragment, the text before an `@`, and a possible API key. `quote` must hide other forms of a password. */
export function urlWithoutSecrets(text: string): string {
  if (/^[^./:]{16,}$/.test(text)) return '***';
  return text.replace(/^([a-z][a-z\d+.-]*:)?.*@/is, '$1//***@').replace(/([?#]).*/s, '$1***');
}

function apiKeyProblem(text: string): string | undefined {
  if (text === '')
    return 'is empty; expected an API key, in this input or in the environment variable CTL_API_KEY. Workflows from forks and Dependabot get no secrets. In other workflows, check the name of the secret, and that this job may read it';
  if (text.length < minSecretLength)
    return `has fewer than ${minSecretLength} characters, and masking it would hide ordinary text in the log; expected the complete API key`;
  if (/^(https?:|[A-Z_]+=[^=]|gh[a-z]_|github_pat_)/.test(text))
    return 'is a URL, a line NAME=value or a token of GitHub; expected an API key of the service';
  return secretProblem(text, 'API key');
}
