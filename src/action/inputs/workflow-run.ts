import { repositoryFingerprint, type WorkflowRun } from '../../keys/key-name.js';
import type { Environment, InputReader } from './input-reader.js';
import { patternParser } from './input-values.js';

export const notARunner = 'expected the value that the GitHub Actions runner sets';

const parseRunId = patternParser(/^[1-9]\d{0,19}$/, `is not the id of a run; ${notARunner}`);
const parseRunAttempt = patternParser(/^[1-9]\d{0,2}$/, `is not the number of an attempt; ${notARunner}`);
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

/** Identifies the workflow run and its attempt. The runner sets both variables, and no step can change them for other steps. */
export function runAndAttempt({ GITHUB_RUN_ID: run = '', GITHUB_RUN_ATTEMPT: attempt = '' }: Environment): string {
  return `${run}/${attempt}`;
}
