import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../text/sentences.js';
import type { Environment } from './inputs/input-reader.js';
import { codeHtml } from './markdown.js';
import type { Secrets } from './secrets.js';
import { escapeCommandsInJson, type Toolkit } from './toolkit.js';

export interface StepReport {
  readonly status: string;
  /** True only if the result was confirmed. If false, the step fails. */
  readonly succeeded: boolean;
  /** A few words for the summary and the log, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: readonly Output[];
  /** How to get smaller outputs: the end of a sentence about outputs that are too large. */
  readonly alternativeToResultFile?: string;
  /** An environment variable for the later steps of the job. Its value may be a secret. */
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  /** The whole result as JSON. It comes in pieces, because one string can take too much memory. */
  readonly result?: Pieces;
  /** Markdown below the headline. */
  readonly details?: string;
}

/** A string is not allowed, because iteration yields single characters, in which redaction finds no secret. */
type Pieces = readonly string[] | Generator<string>;

export interface Output {
  readonly name: string;
  /** JSON, or text without `##[`. Undefined if the value is too large for any output. */
  readonly value: string | undefined;
  /** If the outputs are too large in total, those with a rank are emptied, lowest rank first, until the rest fits. */
  readonly rank?: number;
  /** True for an array of records, which must fit into one environment variable. */
  readonly holdsRecords?: boolean;
  /** True if the output passes a secret to later steps on purpose. All other outputs are redacted. */
  readonly isSecret?: boolean;
}

interface PublishContext {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly mode: string;
  readonly wantsSummary: boolean;
}

export class ResultFileError extends Error {}

/** Writes the result file and all outputs except `status`. Redacts those that are not secret on purpose. Returns warnings. */
export function publishOutputs(report: StepReport, elapsedMs: number, context: PublishContext): readonly string[] {
  const { toolkit, secrets, environment } = context;
  const all: Output[] = [
    { name: 'status', value: report.status },
    { name: 'duration-ms', value: String(Math.round(elapsedMs)) },
  ];
  const warnings: string[] = [];
  if (report.result !== undefined)
    all.push({ name: 'result-file', value: writeResultFile(report.result, report.succeeded, warnings, context) });
  for (const output of report.outputs ?? []) {
    const { value, isSecret } = output;
    // Redaction comes before escaping, because an escape could split a secret.
    all.push(isSecret ? output : { ...output, value: value && escapeCommandsInJson(secrets.redact(value)) });
  }
  const limit = environment['RUNNER_OS'] === 'Windows' ? recordsLimits.windows : recordsLimits.others;
  const dropped = outputsToDrop(all, limit.isReached);
  for (const output of all)
    if (output.name !== 'status') toolkit.output(output.name, dropped.has(output) ? '' : (output.value ?? ''));
  if (report.variable !== undefined) toolkit.variable(report.variable.name, report.variable.value);
  if (dropped.size > 0)
    warnings.push(
      `Outputs left empty because they are too large: ${[...dropped].map(({ name }) => name).join(', ')}. The limit is ${limit.text} for an array of records, and 400 Ki UTF-16 units for all outputs together. Read the full result from the result file (the output result-file has its path)${report.alternativeToResultFile ?? ''}.`,
    );
  return warnings;
}

export async function publishLogAndSummary(
  report: StepReport,
  { toolkit, secrets, mode, wantsSummary }: PublishContext,
): Promise<void> {
  const clean = (text: string) => secrets.redact(text);
  for (const warning of report.warnings ?? []) toolkit.warning(clean(warning));
  if (report.notice !== undefined) toolkit.notice(clean(report.notice));
  if (report.error === undefined) toolkit.info(clean(`${report.headline}.`));
  else toolkit.error(clean(report.error));
  if (!wantsSummary) return;
  const markdown = clean(renderSummary(report, mode));
  try {
    await toolkit.summary(markdown);
  } catch (error) {
    // A step without a summary can still succeed.
    toolkit.warning(`Could not write the summary: ${errorMessage(error)}`);
  }
}

/** Returns the path. If writing fails, a successful step fails too, because later steps could not read the result. */
function writeResultFile(
  pieces: Pieces,
  succeeded: boolean,
  warnings: string[],
  { environment, mode, secrets }: PublishContext,
): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${randomUUID()}.json`);
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    // On a full disk, writeSync() could write a part and not fail.
    for (const piece of pieces) writeFileSync(path, escapeCommandsInJson(secrets.redact(piece)), { flag: 'a' });
    writeFileSync(path, '\n', { flag: 'a' });
    return path;
  } catch (error) {
    if (existsSync(path)) rmSync(path);
    const message = `Could not write the result file to ${folder} (RUNNER_TEMP): ${(error as NodeJS.ErrnoException).code ?? errorMessage(error)}`;
    if (succeeded) throw new ResultFileError(message);
    warnings.push(`${message}.`);
    return '';
  }
}

function renderSummary(report: StepReport, mode: string): string {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const paragraphs = [error, ...warnings, notice].flatMap((text) =>
    text === undefined ? [] : [`<p>${text.split('\n').map(codeHtml).join('<br>')}</p>\n`],
  );
  return `### ${sign} ${mode}: ${headline}\n\n${paragraphs.join('')}${details}\n`;
}

/** On Linux an environment variable holds 128 KiB. A script may add 28 KiB of text to the records. */
export const maxRecordsBytes = 100 * 1024;
/** On Windows an environment variable holds 32,766 UTF-16 units. */
const recordsLimits = {
  windows: { text: '32,000 UTF-16 units', isReached: (value: string) => value.length >= 32_000 },
  others: { text: '100 KiB', isReached: (value: string) => Buffer.byteLength(value) >= maxRecordsBytes },
};
/** GitHub limits all outputs of a job to 1 MB, counted in UTF-16 units. One step writes less than half of that. */
const maxStepUnits = 400 * 1024;

function outputsToDrop(outputs: readonly Output[], isTooLarge: (value: string) => boolean): Set<Output> {
  const dropped = new Set(
    outputs.filter(({ value, holdsRecords }) => value === undefined || (holdsRecords && isTooLarge(value))),
  );
  const units = () => outputs.reduce((sum, output) => sum + (dropped.has(output) ? 0 : (output.value?.length ?? 0)), 0);
  const ranked = outputs.filter(({ rank }) => rank !== undefined);
  for (const output of ranked.sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0)))
    if (units() >= maxStepUnits) dropped.add(output);
  return dropped;
}
