import { type InputReader, notARunner } from '../../action/inputs/input-reader.js';
import {
  BadValue,
  oneOfParser,
  type Parse,
  parseAge,
  parseBoolean,
  secretParser,
} from '../../action/inputs/input-values.js';
import { readRun } from '../current-run.js';

/** A workflow run may last 35 days. In milliseconds. */
const longestRun = 35 * 86_400_000;

export type SweepKeysSettings = ReturnType<typeof readSweepKeysSettings>;

export function readSweepKeysSettings(reader: InputReader) {
  // octokit reads this variable.
  reader.variable('GITHUB_API_URL', parseGitHubApiUrl, 'https://api.github.com');
  return reader.complete({
    run: readRun(reader),
    olderThan: reader.parse('older-than', (text) => (text === '' ? longestRun : parseAge(text))),
    dryRun: reader.parse('dry-run', parseBoolean),
    failOnMatch: reader.optional('fail-on', oneOfParser(['match'])) === 'match',
    repository: reader.environment['GITHUB_REPOSITORY'] ?? '',
    githubToken: reader.parse('github-token', secretParser(1)),
  });
}

const parseGitHubApiUrl: Parse<string> = (text) => {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) throw new BadValue(`is not a URL; ${notARunner}`);
  return text;
};
