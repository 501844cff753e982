import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../http/errors.js';
import { isObject, type Json } from '../text/json.js';
import { errorMessage } from '../text/sentences.js';
import { paragraph } from './markdown.js';
import type { Secrets } from './secrets.js';
import type { PublishContext, StepReport } from './step-report.js';
import { escapeCommands, escapeCommandsInJson } from './toolkit.js';

/** GitHub limits all outputs of a job to 1 MB. */
const maxLength = 200_000;
/** For an array of records. On Windows, a later step cannot read more than 32,766 characters from an environment variable. */
const maxRecordsLength = 30_000;

/** Writes the result file and all outputs except `status`. Returns warnings. */
export function publishOutputs(report: StepReport, context: PublishContext): readonly string[] {
  const { toolkit, secrets, mode } = context;
  const { status, succeeded, error, headline, outputs = {}, secretOutputs = {}, resultFields, response } = report;
  const warnings: string[] = [];

  function publishFile(name: string, json: string): void {
    let path = '';
    try {
      path = writeResultFile(name, escapeCommandsInJson(json), context);
    } catch (failure) {
      // Later steps of a success could not read the result.
      if (succeeded || !(failure instanceof UserError)) throw failure;
      warnings.push(failure.message);
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
  // Later steps need its secrets.
  if (response !== undefined) publishFile('response-file', response);
  if (tooLarge.length === 0) return warnings;
  const where = 'Read them from the file that the output result-file names.';
  return [...warnings, `Outputs left empty because they are too large: ${tooLarge.join(', ')}. ${where}`];
}

/** Writes a file that only its owner can read. `name`: of the output with its path. Returns the path. */
function writeResultFile(name: string, json: string, { environment, mode }: PublishContext): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${name}-${randomUUID()}.json`);
  try {
    writeFileSync(path, json, { flag: 'wx', mode: 0o600 });
    return path;
  } catch (error) {
    // On a full disk, a part of it may be there.
    rmSync(path, { force: true });
    const reason = (error as NodeJS.ErrnoException).code;
    throw new UserError(`Could not write ${name} to ${folder} (RUNNER_TEMP): ${reason}. Check the runner's disk.`);
  }
}

export async function publishLogAndSummary(report: StepReport, context: PublishContext): Promise<void> {
  const { toolkit, secrets, mode, wantsSummary } = context;
  for (const warning of report.warnings ?? []) toolkit.warning(warning);
  if (report.notice !== undefined) toolkit.notice(report.notice);
  if (report.error === undefined) toolkit.info(`${report.headline}.`);
  else toolkit.error(report.error);
  if (!wantsSummary) return;
  try {
    await toolkit.summary(renderSummary(report, mode, secrets));
  } catch (error) {
    // A step without a summary can still succeed.
    toolkit.warning(`Could not write the summary: ${errorMessage(error)}`);
  }
}

export function renderSummary(report: StepReport, mode: string, secrets: Secrets): string {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const texts = [error, ...warnings, notice].filter((text) => text !== undefined);
  // A secret must be found before an escape can split it.
  const paragraphs = texts.map((text) => paragraph(secrets.redact(text)));
  return `### ${sign} ${mode}: ${headline}\n\n${paragraphs.join('')}${details}\n`;
}
