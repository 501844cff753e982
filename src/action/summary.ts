import { textHtml } from './markdown.js';
import type { StepReport } from './step-report.js';

/** `clean` redacts secrets. It must see a text before its words stand in tags, which could split a secret. */
export function renderSummary(report: StepReport, mode: string, clean: (text: string) => string): string {
  const { succeeded, status, headline, error, errorAboveTable = error, notice, warnings = [], details = '' } = report;
  const sign = !succeeded ? (status === 'cancelled' ? '🚫' : '❌') : warnings.length > 0 ? '⚠️' : '✅';
  const paragraphs = [errorAboveTable, ...warnings, notice].flatMap((text) =>
    text === undefined ? [] : [`<p>${textHtml(clean(text))}</p>\n`],
  );
  return clean(`### ${sign} ${mode}: ${headline}\n\n${paragraphs.join('')}${details}\n`);
}
