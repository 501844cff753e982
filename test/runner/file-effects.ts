import { Buffer } from 'node:buffer';
import { assignIgnoringCase, type CommandFiles, type Pairs, parsePairs, readCommandFile } from './command-files.js';
import type { Job } from './job.js';
import type { StepLog } from './step-log.js';

export interface FileEffects {
  /** Raw: masks do not reach them. A post has none, whatever it sets. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly state: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** As written: before masks. */
  readonly summary: string;
  /** It is too large for the runner. */
  readonly summaryDropped: boolean;
  /** Why command files are malformed; each fails the step. */
  readonly invalid: readonly string[];
}

const SUMMARY_LIMIT = 1024 * 1024;
const HELP =
  'For more information see: https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions' +
  '#adding-a-markdown-summary';

/** Reads the command files when the process has ended, as the runner does. */
export function takeFiles(files: CommandFiles, log: StepLog, job: Job, stage: 'main' | 'post'): FileEffects {
  const invalid: string[] = [];
  const read = (name: 'output' | 'state' | 'env'): Pairs['pairs'] => {
    const { pairs, invalid: malformed } = parsePairs(readCommandFile(files[name]));
    const nameless = name === 'state' ? -1 : pairs.findIndex(([key]) => key === '');
    const problem = nameless < 0 ? malformed : "Value cannot be null. (Parameter 'name')";
    if (problem !== undefined) {
      invalid.push(`${name}: ${problem}`);
      log.fail(`Unable to process file command '${name}' successfully.`);
      log.fail(problem);
    }
    return nameless < 0 ? pairs : pairs.slice(0, nameless);
  };

  const env: Record<string, string> = {};
  for (const [key, value] of read('env')) {
    if (key.toUpperCase() !== 'NODE_OPTIONS') env[key] = value;
    else log.annotate('error', `Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.`, 'runner');
  }
  Object.assign(job.env, env);

  const summary = readCommandFile(files.summary);
  const size = Buffer.byteLength(summary);
  const summaryDropped = size > SUMMARY_LIMIT;
  if (summaryDropped) {
    const sizes = `supports content up to a size of 1024k, got ${Math.floor(size / 1024)}k`;
    log.annotate('error', `$GITHUB_STEP_SUMMARY upload aborted, ${sizes}. ${HELP}`, 'runner');
  }

  const state: Record<string, string> = { ...log.state };
  for (const [key, value] of read('state')) assignIgnoringCase(state, key, value);
  const outputs: Record<string, string> = { ...log.outputs };
  for (const [key, value] of read('output')) assignIgnoringCase(outputs, key, value);

  return { outputs: stage === 'main' ? outputs : {}, state, env, summary, summaryDropped, invalid };
}
