import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural } from '../../text/sentences.js';
import { headlineOf, keyCells, keyHeadings, revocationFailure, revocationOutputs } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { SweepKeysSettings } from './settings.js';
import type { SweepDecision, SweepResult } from './sweep-keys.js';

/** The most important rows come first, because a long table is cut. */
const labels = {
  unknown: '❌ not confirmed',
  onPurpose: '📌 kept on purpose',
  toRevoke: '🧹 would be revoked',
  revoked: '✅ revoked',
  'not-found': '✅ not found any more',
  kept: '⏳ kept',
};
const order = Object.keys(labels);

export const sweepKeysReport: Report<SweepResult, SweepKeysSettings> = (result, settings, { timeout, nowMs }) => {
  const { decisions, revocation, failures } = result;
  const { dryRun, failOnMatch } = settings;
  const fates = new Map(revocation.keys.map(({ label, fate }) => [label, fate]));
  const endOf = ({ isKept, isOver, key }: SweepDecision): keyof typeof labels => {
    if (isKept) return 'onPurpose';
    if (!isOver) return 'kept';
    return dryRun ? 'toRevoke' : (fates.get(key.id) ?? 'unknown');
  };
  const rows = decisions.map((one) => ({ ...one, end: endOf(one) }));
  const idsThat = (...ends: string[]) => rows.flatMap(({ end, key }) => (ends.includes(end) ? key.id : []));
  const revoked = idsThat('revoked', 'toRevoke');
  const kept = idsThat('unknown', 'onPurpose', 'kept');
  const over = decisions.filter(({ isOver }) => isOver);
  const left = decisions.filter(({ isUnread }) => isUnread === true);
  const failure = revocationFailure(revocation, timeout);
  const reasons = [...new Set(failures.map(({ message }) => message))].slice(0, 3).join('; ');
  const why = `Could not read the state of workflow runs: ${reasons || 'GitHub shows only an earlier attempt'}`;
  const advice = reasons
    ? 'Give the job the permission actions: read, and check that github-token belongs to this repository'
    : 'Run the sweep again later';
  const unread = `${why}. So ${plural(left.length, 'key')} may still be valid: ${namesOf(left)}. ${advice}.`;
  const match = `${plural(over.length, 'key')} had to be revoked: ${namesOf(over)}. With fail-on: match, this fails the step. Check why the post steps of these jobs did not revoke them.`;
  const verdicts = [
    {
      status: failure?.status,
      error: failure?.error && (left.length > 0 ? `${failure.error} ${unread}` : failure.error),
    },
    { status: left.length > 0 ? 'error' : undefined, error: unread },
    { status: failOnMatch && over.length > 0 ? 'match' : undefined, error: match },
  ];
  const { status = 'ok', error = undefined } = verdicts.find((one) => one.status !== undefined) ?? {};
  rows.sort((one, other) => order.indexOf(one.end) - order.indexOf(other.end));
  return {
    status,
    succeeded: status === 'ok',
    headline: headlineOf(status, `${revoked.length} ${dryRun ? 'would be revoked' : 'revoked'}, ${kept.length} kept`),
    error,
    warnings: failures.length > 0 && left.length === 0 ? [`${why}.`] : [],
    outputs: revocationOutputs(revoked, kept),
    resultFields: {
      dry_run: dryRun,
      decisions: decisions.map(({ key, run, isKept, isOver, reason }) => ({
        id: key.id,
        name: key.name,
        run_id: run.id,
        run_attempt: run.attempt,
        kept_on_purpose: isKept,
        to_revoke: isOver,
        why: reason,
        record: key.record,
      })),
    },
    details: truncatedTable(['Result', ...keyHeadings, 'Run', 'Reason'], rows, ({ end, key, run, reason }) => [
      labels[end],
      ...keyCells(key, nowMs),
      codeHtml(run.id),
      reason,
    ]),
  };
};

function namesOf(decisions: readonly SweepDecision[]): string {
  const names = decisions.map(({ key }) => `${key.id} (${sanitizeLine(key.name ?? '', 80)})`);
  return joinFirst(names, messageBounds);
}
