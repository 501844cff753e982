import type { InputReader } from '../../action/inputs/input-reader.js';
import { BadValue, durationParser, type Parse, parseBoolean } from '../../action/inputs/input-values.js';
import { notARunner, readRun } from '../../action/inputs/inputs.js';
import type { SweepKeysSettings } from './sweep-keys.js';

export function readSweepKeysSettings(reader: InputReader): SweepKeysSettings | undefined {
  const run = readRun(reader);
  const olderThan = reader.parse('older-than', durationParser({ maxDays: 366 }));
  const dryRun = reader.parse('dry-run', parseBoolean);
  if (run === undefined || olderThan === undefined || dryRun === undefined) return undefined;
  const api = reader.variable('GITHUB_API_URL', parseGitHubApiUrl, 'https://api.github.com');
  if (api === undefined) return undefined;
  const repository = reader.environment['GITHUB_REPOSITORY'] ?? '';
  return { run, olderThan, dryRun, repository, githubToken: reader.text('github-token') };
}

const parseGitHubApiUrl: Parse<string> = (text) => {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new BadValue(`is not a URL; ${notARunner}`);
  return text;
};
