import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../text/sentences.js';
import type { Environment } from './inputs/input-reader.js';
import { codeHtml } from './markdown.js';
import type { Secrets } from './secrets.js';
import { escapeCommandsInJson, type Toolkit } from './toolkit.js';

/** The result of a step, ready to be published. */
export interface StepReport {
  readonly status: string;
  /** Only code that has confirmed the result sets this to true. The step succeeds only if it is true. */
  readonly succeeded: boolean;
  /** A few words, without a full stop. */
  readonly headline: string;
  readonly error?: string | undefined;
  readonly notice?: string | undefined;
  readonly warnings?: readonly string[];
  readonly outputs?: readonly Output[];
  /** An environment variable for the later steps of the job. Its value may be a secret. */
  readonly variable?: { readonly name: string; readonly value: string } | undefined;
  /**
   * The whole result as JSON, in pieces, because one string can take too much memory. The type is not
   * `Iterable<string>`, because a plain string has that type. It iterates by character, and redaction finds no secret in
   * a single character.
   */
  readonly result?: Pieces;
  /** Markdown below the headline. */
  readonly details?: string;
}

export type Pieces = readonly string[] | Generator<string>;

export interface Output {
  readonly name: string;
  /** JSON, or text without `##[`. `undefined` if it is too large for any output. */
  readonly value: string | undefined;
  /** If the outputs are too large together, those with a rank are left empty, the lowest rank first. */
  readonly rank?: number;
  /** An array of records must fit into one environment value. */
  readonly holdsRecords?: boolean;
  /** This output passes a secret to later steps on purpose. All other outputs are redacted. */
  readonly isSecret?: boolean;
}

interface PublishContext {
  readonly toolkit: Toolkit;
  readonly secrets: Secrets;
  readonly environment: Environment;
  readonly mode: string;
  readonly wantsSummary: boolean;
}

/** The result file could not be written. */
export class ResultFileError extends Error {}

/**
 * Writes the result file and the outputs, and returns warnings about them. Redacts everything except a secret for later
 * steps.
 */
export function publishOutputs(report: StepReport, elapsedMs: number, context: PublishContext): readonly string[] {
  const { toolkit, secrets } = context;
  const all: Output[] = [
    { name: 'status', value: report.status },
    { name: 'duration-ms', value: String(Math.round(elapsedMs)) },
  ];
  const warnings: string[] = [];
  if (report.result !== undefined)
    all.push({ name: 'result-file', value: resultFileOrWarning(report, report.result, warnings, context) });
  for (const output of report.outputs ?? []) {
    const { value, isSecret } = output;
    // Redaction comes first, because the escape could split a secret.
    all.push(isSecret ? output : { ...output, value: value && escapeCommandsInJson(secrets.redact(value)) });
  }
  const { outputs, dropped } = fitOutputs(all);
  for (const { name, value } of outputs) toolkit.output(name, value);
  if (report.variable !== undefined) toolkit.variable(report.variable.name, report.variable.value);
  if (dropped.length > 0)
    warnings.push(
      `Outputs left empty because they are too large: ${dropped.join(', ')}. Read the whole result from the file whose path is in the output result-file${context.mode === 'list-projects' ? ', or use shard, so that each job of a matrix lists only its share' : ''}.`,
    );
  return warnings;
}

/** Writes the log and the summary, redacted. */
export async function publishLogAndSummary(
  report: StepReport,
  { toolkit, secrets, mode, wantsSummary }: PublishContext,
): Promise<void> {
  const clean = (text: string) => secrets.redact(text);
  for (const warning of report.warnings ?? []) toolkit.warning(clean(warning));
  if (report.notice !== undefined) toolkit.notice(clean(report.notice));
  if (report.error === undefined) toolkit.info(clean(`${report.headline}.`));
  else toolkit.error(clean(report.error));
  if (wantsSummary) await writeSummary(clean(renderSummary(report, mode)), toolkit);
}

/** A success without its result file is an error: later steps could not read it. A failure keeps its own error. */
function resultFileOrWarning(
  { succeeded }: StepReport,
  pieces: Pieces,
  warnings: string[],
  context: PublishContext,
): string {
  try {
    return writeResultFile(pieces, context);
  } catch (error) {
    if (succeeded || !(error instanceof ResultFileError)) throw error;
    warnings.push(`${error.message}.`);
    return '';
  }
}

function writeResultFile(pieces: Pieces, { environment, mode, secrets }: PublishContext): string {
  const folder = environment['RUNNER_TEMP'] || tmpdir();
  const path = join(folder, `ctl-${mode}-${randomUUID()}.json`);
  try {
    const file = openSync(path, 'wx', 0o600);
    for (const piece of pieces) writeSync(file, escapeCommandsInJson(secrets.redact(piece)));
    writeSync(file, '\n');
    closeSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ResultFileError(`Could not write the result file to ${folder} (RUNNER_TEMP): ${code}`);
  }
  return path;
}

function renderSummary(report: StepReport, mode: string): string {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const said = [error, ...warnings, notice].flatMap((text) =>
    text === undefined ? [] : [`<p>${text.split('\n').map(codeHtml).join('<br>')}</p>\n`],
  );
  return `### ${sign} ${mode}: ${headline}\n\n${said.join('')}${details}\n`;
}

/** A failed summary is only a warning. It does not change the result of the step. */
async function writeSummary(markdown: string, toolkit: Toolkit): Promise<void> {
  try {
    await toolkit.summary(markdown);
  } catch (error) {
    toolkit.warning(`Could not write the summary: ${errorMessage(error)}`);
  }
}

/** One environment value holds 128 KiB on Linux. The rest is room for text that a script adds to the records. */
export const maxRecordsBytes = 100 * 1024;
/** All outputs of a job share 1 MB, counted in UTF-16 units. One step takes less than half of it. */
const maxStepUnits = 400 * 1024;

/** Empties the outputs that exceed a limit, and returns their names. */
export function fitOutputs(outputs: readonly Output[]): {
  readonly outputs: readonly { readonly name: string; readonly value: string }[];
  readonly dropped: readonly string[];
} {
  const dropped = new Set(
    outputs.filter(
      ({ value, holdsRecords }) => value === undefined || (holdsRecords && Buffer.byteLength(value) >= maxRecordsBytes),
    ),
  );
  const units = () => outputs.reduce((sum, output) => sum + (dropped.has(output) ? 0 : (output.value?.length ?? 0)), 0);
  const byRank = outputs
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
  for (const output of byRank) {
    if (units() < maxStepUnits) break;
    dropped.add(output);
  }
  return {
    outputs: outputs.map((output) => ({ name: output.name, value: dropped.has(output) ? '' : (output.value ?? '') })),
    dropped: [...dropped].map(({ name }) => name),
  };
}
