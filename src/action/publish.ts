import { errorMessage } from '../text/sentences.js';
import { paragraph } from './markdown.js';
import { writeResultFile } from './result-file.js';
import type { Output, PublishContext, StepReport } from './step-report.js';
import { escapeCommands, escapeCommandsInJson } from './toolkit.js';

/** On Windows, a later step cannot read more than 32,766 characters from an environment variable. */
export const maxRecordsLength = 30_000;
/** GitHub limits all outputs of a job to 1 MB. */
const maxLength = 200_000;

/** Writes the result file and all outputs except `status`. Redacts each output unless it is marked secret. Returns warnings. */
export function publishOutputs(report: StepReport, context: PublishContext): readonly string[] {
  const { toolkit, secrets } = context;
  const message = escapeCommands((report.error ?? report.headline).replace(/\s+/g, ' '));
  const all: Output[] = [{ name: 'message', value: message }];
  const warnings: string[] = [];
  if (report.result !== undefined)
    all.push({ name: 'result-file', value: writeResultFile(report.result, report.succeeded, warnings, context) });
  const tooLarge: string[] = [];
  for (const { name, value, isSecret, holdsRecords } of [...all, ...(report.outputs ?? [])]) {
    // Redaction comes before escaping, because an escape could split a secret.
    const text = isSecret ? value : value && escapeCommandsInJson(secrets.redact(value));
    const isTooLarge = text === undefined || text.length > (holdsRecords ? maxRecordsLength : maxLength);
    if (isTooLarge) tooLarge.push(name);
    toolkit.output(name, isTooLarge ? '' : text);
  }
  if (tooLarge.length > 0)
    warnings.push(
      `Outputs left empty because they are too large: ${tooLarge.join(', ')}. Read them from the file that the output result-file names.`,
    );
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

/** `clean` redacts secrets. It must also see a text before it is escaped, because an escape could split a secret. */
export function renderSummary(report: StepReport, mode: string, clean: (text: string) => string): string {
  const { succeeded, status, headline, error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const texts = [error, ...warnings, notice].flatMap((text) => (text === undefined ? [] : paragraph(clean(text))));
  return clean(`### ${sign} ${mode}: ${headline}\n\n${texts.join('')}${details}\n`);
}
