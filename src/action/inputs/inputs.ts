import { repositoryFingerprint, type WorkflowRun } from '../../keys/key-name.js';
import { minSecretLength } from '../../text/encodings.js';
import type { Secrets } from '../secrets.js';
import { type Environment, InputReader } from './input-reader.js';
import {
  durationParser,
  oneOfParser,
  parseApiKey,
  parseBaseUrl,
  parseBoolean,
  patternParser,
  urlWithoutSecrets,
} from './input-values.js';

/** Reads the inputs of one mode. `Run` is the type of the function that runs the mode. */
export interface ModeInputs<Run> {
  readonly acceptsZeroTimeout: boolean;
  /** Throws if an input is invalid. */
  readonly read: (reader: InputReader) => Run;
}

export interface Inputs<Name extends string, Run> {
  readonly mode: Name;
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** 0 means that the mode checks once. In milliseconds. */
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly summary: boolean;
  readonly run: Run;
  /** True if the mode has the input `project-id`. */
  readonly namesProject: boolean;
  /** Warnings about inputs that are unusual but valid. */
  readonly warnings: readonly string[];
}

/** Candidates for the parent key: the input first, then the environment. */
export function apiKeys(input: (name: string) => string, environment: Environment): string[] {
  return [input('api-key'), environment['CTL_API_KEY']?.trim() ?? ''].filter((key) => key !== '');
}

/** Every step calls this before anything else, because nothing may print the key unmasked. */
export function maskParentKey(input: (name: string) => string, environment: Environment, secrets: Secrets): void {
  const [key = ''] = apiKeys(input, environment);
  if (key.length >= minSecretLength) secrets.add(key);
}

/** Reads all inputs. Throws one `BadInputs` that names all problems. The caller must already have masked the parent key. */
export function readInputs<Name extends string, Run>(
  modes: Readonly<Record<Name, ModeInputs<Run>>>,
  input: (name: string) => string,
  environment: Environment,
  secrets: Secrets,
): Inputs<Name, Run> {
  const reader = new InputReader(input, environment, secrets);
  const mode = reader.parse('mode', oneOfParser(Object.keys(modes) as Name[]));
  const modeInputs = mode === undefined ? undefined : modes[mode];
  const values = {
    mode,
    apiKey: reader.parse('api-key', parseApiKey, reader.text('api-key') || environment['CTL_API_KEY']?.trim() || ''),
    baseUrl: reader.parse(
      'base-url',
      parseBaseUrl,
      reader.text('base-url') || environment['CTL_BASE_URL']?.trim() || '',
      urlWithoutSecrets,
    ),
    timeout: reader.parse('timeout', durationParser({ zero: modeInputs?.acceptsZeroTimeout ?? true })),
    requestTimeout: reader.parse('request-timeout', durationParser()),
    summary: reader.parse('summary', parseBoolean),
    // The mode's inputs come last, because an invalid input makes this call throw.
    run: modeInputs?.read(reader),
  };
  const complete = reader.complete<Omit<Inputs<Name, Run>, 'warnings' | 'namesProject'>>(values);
  const warnings = [...reader.warnings];
  const unused = reader.unused();
  if (unused.length > 0)
    warnings.push(
      `Inputs that ${complete.mode} does not use were ignored: ${unused.join(', ')}. Remove them, or check the input mode.`,
    );
  if (!/\/v2\/*$/.test(complete.baseUrl.pathname))
    warnings.push('The path of base-url does not end in /v2. Check that base-url is the URL of the control API.');
  return { ...complete, namesProject: reader.uses('project-id'), warnings };
}

export const notARunner = 'expected the value that the GitHub Actions runner sets';

const parseRunId = patternParser(/^[1-9]\d{0,19}$/, `is not a run id; ${notARunner}`);
const parseRunAttempt = patternParser(/^[1-9]\d{0,2}$/, `is not an attempt number; ${notARunner}`);
const parseRepositoryName = patternParser(/^[^/\s]+\/[^/\s]+$/, `is not owner/name; ${notARunner}`);

export function readRun(reader: InputReader): WorkflowRun | undefined {
  const id = reader.variable('GITHUB_RUN_ID', parseRunId);
  const attempt = reader.variable('GITHUB_RUN_ATTEMPT', parseRunAttempt, '1');
  const repository = reader.variable('GITHUB_REPOSITORY', parseRepositoryName);
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY_ID: repositoryId = '' } = reader.environment;
  if (id === undefined || attempt === undefined || repository === undefined) return undefined;
  return {
    id,
    attempt: Number(attempt),
    fingerprint: repositoryFingerprint(server || 'https://github.com', repositoryId || repository),
  };
}

/** Identifies the run and its attempt. The runner sets both variables, and no step can change them for other steps. */
export function runAndAttempt({ GITHUB_RUN_ID: run = '', GITHUB_RUN_ATTEMPT: attempt = '' }: Environment): string {
  return `${run}/${attempt}`;
}
