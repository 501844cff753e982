import { explain, failureReport } from '../action/failure-report.js';
import { codeHtml } from '../action/markdown.js';
import { displayText, type Key } from '../api/records.js';
import type { Revocations } from '../keys/revocation.js';
import { sanitizeLine } from '../text/sanitize-line.js';
import { joinFirst, messageBounds, plural } from '../text/sentences.js';
import { CancelledError } from '../time/deadline.js';
import { formatDuration } from '../time/duration.js';

/** Returns undefined if the fate of every key is known. */
export function revocationFailure({ keys, end }: Revocations, timeout: number) {
  const open = keys.filter(({ fate }) => fate === 'unknown');
  const report = end && failureReport(end, timeout);
  if (open.length === 0 || end instanceof CancelledError) return report;
  const reasons = open.map(({ id, failure }) => `${id} (${explain(failure, timeout).what})`);
  const what = `Could not confirm the revocation of ${open.length} of ${plural(keys.length, 'key')}: ${joinFirst(reasons, messageBounds)}`;
  const advice = `${explain(end ?? open[0]?.failure, timeout).advice} A key has full access to the account until it is revoked.`;
  return { status: 'error', error: `${what}. ${advice}` };
}

/** `kept`: keys of this repository, or given ones, that the step left or could not confirm as gone. */
export function revocationReport(status: string, counts: string, revoked: readonly string[], kept: readonly string[]) {
  return {
    status,
    headline: status === 'cancelled' ? `Cancelled: ${counts}` : counts,
    outputs: { count: revoked.length, 'revoked-key-ids': revoked, 'kept-key-ids': kept },
  };
}

export const keyHeadings = ['Key', 'Name', 'Created', 'Age', 'Last used'];

/** Cells of a summary table. Summaries can be public, so no cell contains a network address. */
export function keyCells(key: Key, nowMs: number): string[] {
  const [created = '', lastUsed = ''] = ['created_at', 'last_used_at'].map((field) => displayText(key, field, 40));
  const age = key.createdAt === undefined ? '' : formatDuration(Math.max(0, nowMs - key.createdAt));
  return [key.id, sanitizeLine(key.name ?? '', 80), created, age, lastUsed].map(codeHtml);
}
