import { adviceAfter, failureReport } from '../action/failure-report.js';
import type { Output, StepReport } from '../action/step-report.js';
import type { Key } from '../api/keys.js';
import { displayTime } from '../api/records.js';
import { RequestError } from '../http/errors.js';
import type { RevocationResult } from '../keys/revocation.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { joinFirst, messageBounds, plural, withLastError } from '../text/sentences.js';
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
  const reasons = failed.map(({ id, failure }) => `${id} (${failureReason(failure, timeout)})`);
  return {
    ...report,
    error: `Could not revoke ${failed.length} of ${plural(results.length, 'key')}: ${joinFirst(reasons, messageBounds)}. ${adviceAfter(first.failure)} A key has full access to the account until it is revoked.`,
  };
}

function failureReason(failure: unknown, timeout: number): string {
  if (failure instanceof RequestError) return failure.message;
  if (!(failure instanceof DeadlineExceeded)) throw failure;
  return withLastError(`timed out after ${formatDuration(timeout)}`, failure.cause);
}

/** The contract promises that neither list contains keys that were already gone. */
export function revocationOutputs(revoked: readonly string[], kept: readonly string[]): Output[] {
  return [
    { name: 'count', value: String(revoked.length) },
    { name: 'revoked-key-ids', value: JSON.stringify(revoked), rank: 1 },
    { name: 'kept-key-ids', value: JSON.stringify(kept), rank: 1 },
  ];
}

/** A row of a summary table. Summaries can be public, so the row contains no network address. */
export function keyRow(key: Key) {
  return {
    id: key.id,
    name: sanitizeLine(key.name ?? '', 80),
    created: displayTime(key, 'created_at'),
    lastUsed: displayTime(key, 'last_used_at'),
  };
}
