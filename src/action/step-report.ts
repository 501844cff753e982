import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../http/errors.js';
import { isObject, type Json } from '../text/json.js';
import { errorMessage } from '../text/sentences.js';
import { paragraph } from './markdown.js';
import type { Secrets } from './secrets.js';
import { type Environment, escapeCommands, escapeCommandsInJson, type Toolkit } from './toolkit.js';

/** An array becomes JSON. */
export type Outputs = Readonly<Record<string, string | number | readonly unknown[]>>;

export interface StepReport {
  readonly status: string;
  /** True only if the result was confirmed. If false, the step fails. */
  readonly succeeded: boolean;
  /** A few words for the summary and the log, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: Outputs;
  /** Outputs that pass a secret to later steps on purpose. All others are redacted. */
  readonly secretOutputs?: Readonly<Record<string, string>>;
  /** What the result file has besides the outputs. Undefined if there is no result file. */
  readonly resultFields?: Readonly<Record<string, unknown>>;
  /** The response to the user's own request, as it came. */
  readonly response?: string | undefined;
  /** Markdown below the headline. */
  readonly details?: string;
}

export interface PublishContext {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly mode: string;
  readonly wantsSummary: boolean;
}

/** For one output. GitHub limits all outputs of a job to 1 MB. */
const maxLength = 200_000;
/** For an output with records. On Windows, an environment variable of a later step has at most 32,766 characters. */
const maxRecordsLength = 30_000;

/** Writes the result file and all outputs except `status`. Returns warnings. */
export function publishOutputs(report: StepReport, context: PublishContext): readonly string[] {
  const { toolkit, secrets, environment, mode } = context;
  const { status, succeeded, error, headline, outputs = {}, secretOutputs = {}, resultFields, response } = report;
  const warnings: string[] = [];

  /** Only its owner can read the file. `name`: of the output with its path. */
  function publishFile(name: string, json: string): void {
    const folder = environment['RUNNER_TEMP'] || tmpdir();
    const path = join(folder, `ctl-${mode}-${name}-${randomUUID()}.json`);
    try {
      writeFileSync(path, escapeCommandsInJson(json), { flag: 'wx', mode: 0o600 });
    } catch (failure) {
      const { code } = failure as NodeJS.ErrnoException;
      const problem = `Could not write ${name} to ${folder} (RUNNER_TEMP): ${code}. Check the runner's disk.`;
      // Later steps of a success could not read the result.
      if (succeeded) throw new UserError(problem);
      warnings.push(problem);
      return;
    }
    toolkit.output(name, path);
  }

  for (const [name, value] of Object.entries(secretOutputs)) toolkit.output(name, value);
  const tooLarge: string[] = [];
  // Redaction comes before escaping, because an escape could split a secret.
  const message = escapeCommands(secrets.redact((error ?? headline).replace(/\s+/g, ' ')));
  for (const [name, value] of Object.entries({ message, ...outputs })) {
    const isOfRecords = typeof value === 'object' && isObject(value[0] as Json);
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const output = escapeCommandsInJson(secrets.redact(text));
    const fits = output.length <= (isOfRecords ? maxRecordsLength : maxLength);
    if (!fits) tooLarge.push(name);
    toolkit.output(name, fits ? output : '');
  }
  // If a file cannot be written, the step fails, and later steps have the other outputs.
  if (resultFields !== undefined) {
    const fields = Object.entries(outputs).map(([name, value]) => [name.replaceAll('-', '_'), value]);
    const result = { mode, status, ...Object.fromEntries(fields), ...resultFields };
    publishFile('result-file', `${secrets.redact(JSON.stringify(result))}\n`);
  }
  // Later steps need the secrets in it, so it is not redacted.
  if (response !== undefined) publishFile('response-file', response);
  const what = `Outputs left empty because they are too large: ${tooLarge.join(', ')}`;
  if (tooLarge.length > 0) warnings.push(`${what}. Read them from the file that the output result-file names.`);
  return warnings;
}

export async function publishLogAndSummary(report: StepReport, context: PublishContext): Promise<void> {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = report;
  const { toolkit, mode, wantsSummary } = context;
  for (const warning of warnings) toolkit.warning(warning);
  if (notice !== undefined) toolkit.notice(notice);
  if (error === undefined) toolkit.info(`${headline}.`);
  else toolkit.error(error);
  if (!wantsSummary) return;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const texts = [error, ...warnings, notice].filter((text) => text !== undefined);
  try {
    await toolkit.summary(`### ${sign} ${mode}: ${headline}\n\n${texts.map(paragraph).join('')}${details}\n`);
  } catch (failure) {
    // A step without a summary can still succeed.
    toolkit.warning(`Could not write the summary: ${errorMessage(failure)}`);
  }
}
