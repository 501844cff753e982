import type { CreateKeySettings } from '../../modes/create-key.js';
import { fingerprintOf, labelLength, type Run } from '../../modes/keys/key-name.js';
import { onFailureWords } from '../../modes/keys/post-state.js';
import type { RevokeKeySettings } from '../../modes/revoke-key.js';
import type { SweepKeysSettings } from '../../modes/sweep-keys.js';
import { idsIn } from './id-list.js';
import type { InputReader } from './input-reader.js';
import {
  BadValue,
  boolean,
  duration,
  keyId,
  keyLabel,
  oneOf,
  type Parse,
  refuseLeftover,
  variableToSet,
} from './input-values.js';

export function createKeySettings(reader: InputReader): CreateKeySettings | undefined {
  const run = runOf(reader);
  // Without these files the toolkit passes state, outputs and variables as log commands, and the key would be in the log.
  const needed = ['GITHUB_STATE', 'GITHUB_OUTPUT', ...(reader.text('export-env') === '' ? [] : ['GITHUB_ENV'])];
  const files = needed.map((name) => reader.variable(name, present));
  const label = reader.parse('key-label', keyLabel, reader.text('key-label') || standardLabel(reader));
  const revokeInPost = reader.parse('revoke-in-post', boolean);
  const onRevokeFailure = reader.parse('on-revoke-failure', oneOf(onFailureWords));
  const exportTo = reader.optional('export-env', variableToSet);
  if (run === undefined || files.includes(undefined) || label === undefined) return undefined;
  if (revokeInPost === undefined || onRevokeFailure === undefined || exportTo === undefined) return undefined;
  return { run, label, revokeInPost, onRevokeFailure, exportTo: exportTo.value };
}

export function revokeKeySettings(reader: InputReader): RevokeKeySettings | undefined {
  const name = reader.text('key-name');
  const given = reader.text('key-id');
  if (name !== '' && given !== '') {
    reader.problem('key-id', 'is set, and so is key-name; expected one of them');
    return undefined;
  }
  if (name !== '') {
    const exact = reader.parse('key-name', exactName, name);
    return exact === undefined ? undefined : { name: exact };
  }
  const ids = reader.parse('key-id', keyIds, given);
  return ids === undefined ? undefined : { ids };
}

export interface SweepKeysInputs extends Omit<SweepKeysSettings, 'requestTimeout'> {
  readonly repository: string;
  readonly githubToken: string;
}

export function sweepKeysSettings(reader: InputReader): SweepKeysInputs | undefined {
  const run = runOf(reader);
  const olderThan = reader.parse('older-than', duration({ mostDays: 366 }));
  const dryRun = reader.parse('dry-run', boolean);
  if (run === undefined || olderThan === undefined || dryRun === undefined) return undefined;
  const api = reader.variable('GITHUB_API_URL', gitHubApi, 'https://api.github.com');
  if (api === undefined) return undefined;
  const repository = reader.environment['GITHUB_REPOSITORY'] ?? '';
  return { run, olderThan, dryRun, repository, githubToken: reader.text('github-token') };
}

function keyIds(text: string): string[] {
  const whyEmpty =
    'is empty: an expression that gives nothing (a mistyped step or output, a skipped step) leaves it so. Expected the ids of keys, or key-name';
  return idsIn(text, {
    id: keyId,
    whyEmpty,
    insteadOfObject: 'The runner prints inputs, so an answer of the API does not belong here: expected ids alone',
    example: '[165423, 165424]',
    jq: '.[].id',
    areNumbers: true,
  });
}

const exactName: Parse<string> = (text) => {
  refuseLeftover(text);
  return text;
};

function runOf(reader: InputReader): Run | undefined {
  const id = reader.variable('GITHUB_RUN_ID', runId);
  const attempt = reader.variable('GITHUB_RUN_ATTEMPT', runAttempt, '1');
  const repository = reader.variable('GITHUB_REPOSITORY', repositoryName);
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY_ID: repositoryId = '' } = reader.environment;
  if (id === undefined || attempt === undefined || repository === undefined) return undefined;
  return { id, attempt, fingerprint: fingerprintOf(server || 'https://github.com', repositoryId || repository) };
}

const notARunner = 'expected what the runner of GitHub Actions sets';

const present: Parse<string> = (text) => {
  if (text === '') throw new BadValue(`is empty; ${notARunner}`);
  return text;
};

const repositoryName: Parse<string> = (text) => {
  if (!/^[^/\s]+\/[^/\s]+$/.test(text)) throw new BadValue(`is not owner/name; ${notARunner}`);
  return text;
};

const gitHubApi: Parse<string> = (text) => {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new BadValue(`is not a URL; ${notARunner}`);
  return text;
};

const runId: Parse<string> = (text) => {
  if (!/^[1-9]\d{0,19}$/.test(text)) throw new BadValue(`is not the id of a run; ${notARunner}`);
  return text;
};

const runAttempt: Parse<number> = (text) => {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new BadValue(`is not the number of an attempt; ${notARunner}`);
  return Number(text);
};

function standardLabel({ environment }: InputReader): string {
  const name = (environment['GITHUB_REPOSITORY'] ?? '').replace(/^.*\//, '');
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9-]/g, '-')
      .slice(0, labelLength) || 'ctl'
  );
}
