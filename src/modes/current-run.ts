import { type InputReader, notARunner } from '../action/inputs/input-reader.js';
import { patternParser } from '../action/inputs/input-values.js';
import { repositoryFingerprint, type WorkflowRun } from '../keys/key-name.js';

export function readRun(reader: InputReader): WorkflowRun | null {
  const read = (name: string, pattern: RegExp, expected: string, fallback?: string) =>
    reader.variable(name, patternParser(pattern, `is not ${expected}; ${notARunner}`), fallback);
  const id = read('GITHUB_RUN_ID', /^[1-9]\d{0,19}$/, 'a run id');
  const attempt = read('GITHUB_RUN_ATTEMPT', /^[1-9]\d{0,2}$/, 'an attempt number', '1');
  const repository = read('GITHUB_REPOSITORY', /^[^/\s]+\/[^/\s]+$/, 'owner/name');
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY_ID: repositoryId = '' } = reader.environment;
  if (id === null || attempt === null || repository === null) return null;
  const fingerprint = repositoryFingerprint(server || 'https://github.com', repositoryId || repository);
  return { id, attempt: Number(attempt), fingerprint };
}

/** For modes whose responses can hold a new secret. */
export function rejectNodeDebug(reader: InputReader): void {
  const problem = 'makes Node print responses, and so new secrets; expected it to be empty. Remove it from env';
  reader.variable('NODE_DEBUG', patternParser(/^$/, problem));
}
