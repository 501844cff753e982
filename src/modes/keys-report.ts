import { adviceAfter, failureReport } from '../action/failure-report.js';
import { codeHtml } from '../action/markdown.js';
import type { Output, StepReport } from '../action/step-report.js';
import type { Key } from '../api/keys.js';
import { displayTime } from '../api/records.js';
import type { RevocationResult } from '../keys/revocation.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { errorMessage, joinFirst, messageBounds, plural, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';

export function groupByOutcome(results: readonly RevocationResult[]) {
  const idsWith = (outcome: RevocationResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).map(({ id }) => id);
  return { revoked: idsWith('revoked'), gone: idsWith('already-gone'), failed: idsWith('failed') };
}

export function revocationFailure(results: readonly RevocationResult[], timeout: number): StepReport | undefined {
  const failed = results.filter((result) => result.outcome === 'failed');
  const [first] = failed;
  if (first === undefined) return undefined;
  const decisive = failed.find(({ failure }) => failure instanceof CancelledError) ?? first;
  const report = failureReport(decisive.failure, timeout);
  if (report.error === undefined) return report;
  const late = `timed out after ${formatDuration(timeout)}`;
  const reasons = failed.map(({ id, failure }) => {
    return `${id} (${failure instanceof DeadlineExceeded ? withLastError(late, failure.cause) : errorMessage(failure)})`;
  });
  return {
    ...report,
    error: `Could not revoke ${failed.length} of ${plural(results.length, 'key')}: ${joinFirst(reasons, messageBounds)}. ${adviceAfter(first.failure)} A key has full access to the account until it is revoked.`,
  };
}

/** The contract promises that neither list contains keys that were already gone. */
export function revocationOutputs(revoked: readonly string[], kept: readonly string[]): Output[] {
  return [
    { name: 'count', value: String(revoked.length) },
    { name: 'revoked-key-ids', value: JSON.stringify(revoked), rank: 1 },
    { name: 'kept-key-ids', value: JSON.stringify(kept), rank: 1 },
  ];
}

export const keyHeadings = ['Key', 'Name', 'Created', 'Last used'];

/** Cells of a summary table. Summaries can be public, so no cell contains a network address. */
export function keyCells(key: Key): string[] {
  const times = ['created_at', 'last_used_at'].map((field) => displayTime(key, field));
  return [key.id, sanitizeLine(key.name ?? '', 80), ...times].map(codeHtml);
}
