import { resolve } from 'node:path';
import { BadFilter, parseFilter } from '../modes/filter.js';
import { fieldsToWaitBy, fieldsUnderWay } from '../modes/wait/fields.js';
import type { Target } from '../modes/wait/target.js';
import type { WaitSettings } from '../modes/wait-operation.js';
import { parseDuration } from '../time/duration.js';
import { InputReader } from './input-reader.js';
import { apiKey, BadValue, baseUrl, boolean, duration, oneOf, projectId, urlWithoutSecrets } from './input-values.js';
import { operationIds } from './operation-ids.js';
import { operationIdsIn } from './response-file.js';
import type { Secrets } from './secrets.js';

export const modes = ['wait-operation'] as const;
export type Mode = (typeof modes)[number];

export interface Inputs {
  readonly mode: Mode;
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** Milliseconds; 0: look once. */
  readonly timeout: number;
  readonly requestTimeout: number;
  readonly summary: boolean;
  readonly settings: WaitSettings;
  /** What is odd about the inputs, but no error. */
  warnings(): string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every input once, or throws one `BadInputs` that tells all that is wrong. */
export function readInputs(input: (name: string) => string, environment: Environment, secrets: Secrets): Inputs {
  // Before anything else: nothing may print the key that is not masked yet.
  const key = input('api-key') || environment['CTL_API_KEY']?.trim() || '';
  secrets.add(key);

  const reader = new InputReader(input, secrets);
  // Read already, for the mask.
  reader.text('api-key');
  const mode = reader.parse('mode', oneOf(modes));
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
    settings: mode === undefined ? undefined : settingsOf[mode](reader, environment),
  };
  const complete = reader.complete(values);
  return { ...complete, warnings: () => [...unusedInputs(reader, complete.mode), ...oddUrl(complete.baseUrl)] };
}

/** Nothing where a part of it is bad: there is no value that could stand in for it. */
const settingsOf: Record<Mode, (reader: InputReader, environment: Environment) => WaitSettings | undefined> = {
  'wait-operation': (reader, environment) => {
    const project = reader.parse('project-id', projectId);
    const target = targetOf(reader, environment, project);
    const interval = reader.parse('poll-interval', pollInterval);
    const failFast = reader.parse('fail-fast', boolean);
    if (project === undefined || target === undefined || interval === undefined || failFast === undefined)
      return undefined;
    return { projectId: project, target, pollInterval: interval, failFast };
  },
};

function pollInterval(text: string): number | 'auto' {
  if (text === 'auto') return text;
  if (parseDuration(text) === undefined)
    throw new BadValue(
      'is neither the word auto nor a duration; expected whole numbers with units, such as 500ms, 5s or 1m',
    );
  return duration()(text);
}

function targetOf(reader: InputReader, environment: Environment, project: string | undefined): Target | undefined {
  const file = reader.text('response-file');
  const given = reader.text('operation-id');
  if (file !== '' && given !== '') {
    reader.problem('operation-id', 'is set, and so is response-file; expected one of them');
    return undefined;
  }
  if (file !== '') {
    const workspace = environment['GITHUB_WORKSPACE'] ?? '';
    const ids = reader.parse('response-file', (path) => operationIdsIn(resolve(workspace, path), project), file);
    return ids === undefined ? undefined : { ids };
  }
  const ids = reader.parse('operation-id', operationIds, given);
  if (ids === undefined) return undefined;
  if (ids !== 'all') return { ids };
  const filter = reader.parse('filter', (text) => filterOf(text));
  const failOn = reader.text('fail-on');
  if (failOn !== '') reader.parse('fail-on', oneOf(['empty']), failOn);
  return filter === undefined ? undefined : { all: filter, failOnEmpty: failOn === 'empty' };
}

function filterOf(text: string) {
  try {
    return parseFilter(text, fieldsToWaitBy, fieldsUnderWay);
  } catch (error) {
    throw error instanceof BadFilter ? new BadValue(error.message, true) : error;
  }
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
