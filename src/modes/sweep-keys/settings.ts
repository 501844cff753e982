import { type InputReader, notARunner, readAge } from '../../action/inputs/input-reader.js';
import { checked, oneOfParser, parseBoolean, secretProblem } from '../../action/inputs/input-values.js';
import { readRun } from '../current-run.js';

/** A workflow run may last 35 days. In milliseconds. */
const longestRun = 35 * 86_400_000;

export type SweepKeysSettings = ReturnType<typeof readSweepKeysSettings>;

export function readSweepKeysSettings(reader: InputReader) {
  // octokit reads this variable.
  reader.variable('GITHUB_API_URL', parseGitHubApiUrl, 'https://api.github.com');
  return reader.complete({
    run: readRun(reader),
    olderThan: readAge(reader, 'older-than') ?? longestRun,
    dryRun: reader.parse('dry-run', parseBoolean),
    failOnMatch: reader.optional('fail-on', oneOfParser(['match'])) === 'match',
    repository: reader.environment['GITHUB_REPOSITORY'] ?? '',
    githubToken: reader.parse('github-token', parseToken),
  });
}

const parseToken = checked((text) => secretProblem(text, 'token'), true);

const parseGitHubApiUrl = checked((text) =>
  /^https?:\/\/./.test(text) && URL.canParse(text) ? undefined : `is not a URL; ${notARunner}`,
);
