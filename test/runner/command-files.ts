import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from './job.js';
import type { StepLog } from './step-log.js';

const prefixes = {
  output: 'set_output',
  state: 'save_state',
  env: 'set_env',
  path: 'add_path',
  summary: 'step_summary',
  artifacts: 'artifacts',
  artifactsList: 'artifacts_list',
} as const;

/** The files through which a step talks to the runner; it reads them when the process has ended, however it ended. */
export type CommandFiles = Readonly<Record<keyof typeof prefixes, string>>;

export function createCommandFiles(temp: string): CommandFiles {
  const folder = join(temp, '_runner_file_commands');
  mkdirSync(folder, { recursive: true });
  const suffix = randomUUID();
  const created = Object.entries(prefixes).map(([name, part]) => [name, join(folder, `${part}_${suffix}`)] as const);
  for (const [, file] of created) writeFileSync(file, '');
  return Object.fromEntries(created) as CommandFiles;
}

/** A file that the step has deleted counts as an empty one. A BOM at its start is no part of it. */
function readCommandFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** Names of outputs and states differ in no case; the first spelling stays. */
export function assignIgnoringCase(into: Record<string, string>, name: string, value: string): void {
  const lower = name.toLowerCase();
  into[Object.keys(into).find((known) => known.toLowerCase() === lower) ?? name] = value;
}

/** `name=value` and `name<<DELIMITER` entries. On Windows lines may end with CRLF. `invalid` fails the step, the pairs count. */
function parsePairs(text: string): { pairs: Pairs; invalid?: string } {
  const pairs: [name: string, value: string][] = [];
  // What follows the last line break is a line only where it is not empty.
  const lines = text.split(process.platform === 'win32' ? /\r?\n/ : '\n');
  if (lines.at(-1) === '') lines.pop();
  const unended = text.endsWith('\n') ? -1 : lines.length - 1;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (line === '') continue;
    const equals = line.indexOf('=');
    const heredoc = line.indexOf('<<');
    if (equals >= 0 && (heredoc < 0 || equals < heredoc)) {
      pairs.push([line.slice(0, equals), line.slice(equals + 1)]);
      continue;
    }
    if (heredoc < 0) return { pairs, invalid: `Invalid format '${line}'` };
    const delimiter = line.slice(heredoc + 2);
    if (heredoc === 0 || delimiter === '')
      return { pairs, invalid: `Invalid format '${line}'. Name must not be empty and delimiter must not be empty` };
    const end = lines.indexOf(delimiter, i + 1);
    if (end < 0) {
      const problem = unended > i ? 'EOF marker missing new line.' : `Matching delimiter not found '${delimiter}'`;
      return { pairs, invalid: `Invalid value. ${problem}` };
    }
    pairs.push([line.slice(0, heredoc), lines.slice(i + 1, end).join('\n')]);
    i = end;
  }
  return { pairs };
}

type Pairs = readonly (readonly [name: string, value: string])[];

const SUMMARY_LIMIT = 1024 * 1024;
const HELP =
  'For more information see: https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions' +
  '#adding-a-markdown-summary';

/** Reads the command files when the process has ended, as the runner does. One that is malformed fails the step. */
export function takeFiles(files: CommandFiles, log: StepLog, job: Job, stage: 'main' | 'post') {
  const read = (name: 'output' | 'state' | 'env'): Pairs => {
    const { pairs, invalid } = parsePairs(readCommandFile(files[name]));
    const nameless = name === 'state' ? -1 : pairs.findIndex(([key]) => key === '');
    const problem = nameless < 0 ? invalid : "Value cannot be null. (Parameter 'name')";
    if (problem !== undefined) {
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
  const written = readCommandFile(files.summary);
  // The toolkit ends its lines with CRLF on Windows. A page shows LF.
  let summary = process.platform === 'win32' ? written.replaceAll('\r\n', '\n') : written;
  const size = Buffer.byteLength(written);
  if (size > SUMMARY_LIMIT) {
    summary = '';
    const sizes = `supports content up to a size of 1024k, got ${Math.floor(size / 1024)}k`;
    log.annotate('error', `$GITHUB_STEP_SUMMARY upload aborted, ${sizes}. ${HELP}`, 'runner');
  }
  const [state, outputs] = [{ ...log.state }, { ...log.outputs }];
  for (const [key, value] of read('state')) assignIgnoringCase(state, key, value);
  for (const [key, value] of read('output')) assignIgnoringCase(outputs, key, value);
  return {
    /** Raw: masks do not reach them. A post has none, whatever it sets. */
    outputs: stage === 'main' ? outputs : {},
    state,
    env,
    /** As written: before masks. Empty if it is too large for the runner. */
    summary,
  };
}
