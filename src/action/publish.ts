import { errorMessage } from '../text/sentences.js';
import { textHtml } from './markdown.js';
import { writeResultFile } from './result-file.js';
import type { Output, Pieces, PublishContext, StepReport } from './step-report.js';
import { escapeCommandsInJson } from './toolkit.js';

/** Writes the result file and all outputs except `status`. Redacts each output unless it is marked secret. Returns warnings. */
export function publishOutputs(report: StepReport, elapsedMs: number, context: PublishContext): readonly string[] {
  const { toolkit, secrets, environment } = context;
  const all: Output[] = [
    { name: 'status', value: report.status },
    { name: 'duration-ms', value: String(Math.round(elapsedMs)) },
  ];
  const warnings: string[] = [];
  const addFile = (name: string, pieces: Pieces, clean: (piece: string) => string) =>
    all.push({ name, value: writeResultFile({ name, pieces, clean }, report.succeeded, warnings, context) });
  if (report.result !== undefined) addFile('result-file', report.result, (piece) => secrets.redact(piece));
  // Later steps need its secrets.
  if (report.response !== undefined) addFile('response-file', [report.response], (piece) => piece);
  for (const output of report.outputs ?? []) {
    const { value, isSecret } = output;
    // Redaction comes before escaping, because an escape could split a secret.
    all.push(isSecret ? output : { ...output, value: value && escapeCommandsInJson(secrets.redact(value)) });
  }
  const limit = environment['RUNNER_OS'] === 'Windows' ? recordsLimits.windows : recordsLimits.others;
  const dropped = outputsToDrop(all, limit.isReached);
  for (const output of all)
    if (output.name !== 'status') toolkit.output(output.name, dropped.has(output) ? '' : (output.value ?? ''));
  const tooLarge = `Outputs left empty because they are too large: ${[...dropped].map(({ name }) => name).join(', ')}. The limit is ${limit.text} for an array of records, and 400 Ki UTF-16 units for all outputs together. Read the full result from the result file (the output result-file has its path). list-projects can split the list with shard.`;
  if (dropped.size > 0) warnings.push(tooLarge);
  return warnings;
}

export async function publishLogAndSummary(report: StepReport, context: PublishContext): Promise<void> {
  const { toolkit, secrets, mode, wantsSummary } = context;
  const clean = (text: string) => secrets.redact(text);
  for (const warning of report.warnings ?? []) toolkit.warning(clean(warning));
  if (report.notice !== undefined) toolkit.notice(clean(report.notice));
  if (report.error === undefined) toolkit.info(clean(`${report.headline}.`));
  else toolkit.error(clean(report.error));
  if (!wantsSummary) return;
  const markdown = renderSummary(report, mode, clean);
  try {
    await toolkit.summary(markdown);
  } catch (error) {
    // A step without a summary can still succeed.
    toolkit.warning(`Could not write the summary: ${errorMessage(error)}`);
  }
}

/** On Linux an environment variable holds 128 KiB. So a script can add 28 KiB of its own text to the records. */
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

/** `clean` redacts secrets. It must see a text before tags are put around the words, because a tag could split a secret. */
export function renderSummary(report: StepReport, mode: string, clean: (text: string) => string): string {
  const { succeeded, status, headline, error, errorAboveTable = error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const paragraphs = [errorAboveTable, ...warnings, notice].flatMap((text) =>
    text === undefined ? [] : [`<p>${textHtml(clean(text))}</p>\n`],
  );
  return clean(`### ${sign} ${mode}: ${headline}\n\n${paragraphs.join('')}${details}\n`);
}
