import { adviceAfter, failureReport } from '../action/failure-report.js';
import { codeHtml } from '../action/markdown.js';
import type { Outputs, StepReport } from '../action/step-report.js';
import type { Key } from '../api/keys.js';
import { displayTime } from '../api/records.js';
import type { Fate, Revocation } from '../keys/revocation.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { errorMessage, joinFirst, messageBounds, plural, withLastError } from '../text/sentences.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';

export const withFate = (keys: readonly Revocation[], wanted: Fate) => keys.filter(({ fate }) => fate === wanted);

/** Returns undefined if the fate of every key is known. `end`: what ended the revocations early. */
export function revocationFailure(
  { keys, end }: { readonly keys: readonly Revocation[]; readonly end: Error | undefined },
  timeout: number,
): StepReport | undefined {
  const open = withFate(keys, 'unknown');
  const first = end ?? open[0]?.failure;
  if (first === undefined) return undefined;
  const isExpected = end !== undefined;
  const report = isExpected ? failureReport(end, timeout) : { status: 'error', succeeded: false, headline: 'Failed' };
  if (end instanceof CancelledError || open.length === 0) return report;
  const late = `timed out after ${formatDuration(timeout)}`;
  const reasons = open.map(({ label, failure }) => {
    const why = failure instanceof DeadlineExceeded ? withLastError(late, failure.cause) : errorMessage(failure);
    return `${sanitizeLine(label, 80)} (${why})`;
  });
  const what = `Could not confirm the revocation of ${open.length} of ${plural(keys.length, 'key')}: ${joinFirst(reasons, messageBounds)}`;
  const advice = `${adviceAfter(first)} A key has full access to the account until it is revoked.`;
  return { ...report, error: `${what}. ${advice}` };
}

/** `kept`: ours, or given, and left or not confirmed as gone. */
export function revocationOutputs(revoked: readonly string[], kept: readonly string[]): Outputs {
  return { count: revoked.length, 'revoked-key-ids': revoked, 'kept-key-ids': kept };
}

export const headlineOf = (status: string, counts: string): string =>
  status === 'cancelled' ? `Cancelled: ${counts}` : counts;

export const idsOf = (keys: readonly Revocation[]): string[] => keys.flatMap(({ id }) => id ?? []);

export const keyHeadings = ['Key', 'Name', 'Created', 'Age', 'Last used'];

/** Cells of a summary table. Summaries can be public, so no cell contains a network address. */
export function keyCells(key: Key, nowMs: number): string[] {
  const [created, lastUsed] = ['created_at', 'last_used_at'].map((field) => codeHtml(displayTime(key, field)));
  const age = key.createdAt === undefined ? '' : formatDuration(Math.max(0, nowMs - key.createdAt));
  return [codeHtml(key.id), codeHtml(sanitizeLine(key.name ?? '', 80)), created ?? '', age, lastUsed ?? ''];
}
