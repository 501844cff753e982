import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst, messageBounds, plural } from '../../text/sentences.js';
import { formatDuration } from '../../time/duration.js';
import { idsOf, keyCells, keyHeadings, revocationFailure, revocationOutputs, withFate } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { SweepKeysSettings } from './settings.js';
import type { SweepDecision, SweepResult } from './sweep-keys.js';

export const sweepKeysReport: Report<SweepResult, SweepKeysSettings> = (result, settings, { timeout, nowMs }) => {
  const { decisions, revocation, failures, others } = result;
  const { dryRun, failOnMatch } = settings;
  const over = decisions.filter(({ isOver }) => isOver);
  const left = decisions.filter(({ isUnread }) => isUnread === true);
  const revoked = dryRun ? over.map(({ key }) => key.id) : idsOf(withFate(revocation.keys, 'revoked'));
  const gone = new Set(dryRun ? [] : [...revoked, ...idsOf(withFate(revocation.keys, 'not-found'))]);
  const kept = decisions.map(({ key }) => key.id).filter((id) => !gone.has(id) && !(dryRun && revoked.includes(id)));
  const failure = revocationFailure(revocation, timeout);
  const reasons = [...new Set(failures.map(({ message }) => message))].slice(0, 3).join('; ');
  const why = `Could not read the state of workflow runs: ${reasons || 'GitHub shows only an earlier attempt'}`;
  const advice = reasons
    ? 'Give the job the permission actions: read, and check that github-token belongs to this repository'
    : 'Run the sweep again later';
  const names = joinFirst(left.map(nameOf), messageBounds);
  const unread = `${why}. So ${plural(left.length, 'key')} may still be valid: ${names}. ${advice}.`;
  const found = joinFirst(over.map(nameOf), messageBounds);
  const match = `${plural(over.length, 'key')} had to be revoked: ${found}. With fail-on: match, this fails the step. Check why the post steps of these jobs did not revoke them.`;
  const verdicts = [
    { status: failure?.status, error: failure?.error },
    { status: left.length > 0 ? 'error' : undefined, error: unread },
    { status: failOnMatch && over.length > 0 ? 'match' : undefined, error: match },
  ];
  const { status = 'ok', error = undefined } = verdicts.find((one) => one.status !== undefined) ?? {};
  const foreign = others.ofOtherRepositories > 0 ? `, ${others.ofOtherRepositories} of other repositories` : '';
  return {
    status,
    succeeded: status === 'ok',
    headline: `${status === 'cancelled' ? 'Cancelled: ' : ''}${revoked.length} ${dryRun ? 'would be revoked' : 'revoked'}, ${kept.length} kept${foreign}`,
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
    details: `<p>${dryRun ? 'Dry run. ' : ''}If a run cannot be read, its keys are revoked only if they are older than ${formatDuration(settings.olderThan)}.</p>\n${decisionTable(result, dryRun, nowMs)}<p>Not touched: keys of other repositories (${others.ofOtherRepositories}), keys that this action did not create (${others.notOurs}).</p>\n`,
  };
};

const nameOf = ({ key }: SweepDecision) => `${key.id} (${sanitizeLine(key.name ?? '', 80)})`;

/** The most important rows come first, because a long table is cut. */
const labels = {
  unknown: '❌ not confirmed',
  onPurpose: '📌 kept on purpose',
  toRevoke: '🧹 would be revoked',
  revoked: '✅ revoked',
  'not-found': '✅ not found any more',
  kept: '⏳ kept',
};

function decisionTable({ decisions, revocation }: SweepResult, dryRun: boolean, nowMs: number): string {
  if (decisions.length === 0) return '<p>Found no key that this action created for this repository.</p>\n';
  const fates = new Map(revocation.keys.map(({ label, fate }) => [label, fate]));
  const labelOf = ({ isOver, isKept, key }: SweepDecision) => {
    if (isKept) return labels.onPurpose;
    if (!isOver) return labels.kept;
    return labels[dryRun ? 'toRevoke' : (fates.get(key.id) ?? 'unknown')];
  };
  const cells = (one: SweepDecision) => [labelOf(one), ...keyCells(one.key, nowMs), codeHtml(one.run.id), one.reason];
  const order = Object.values(labels);
  const rows = decisions.toSorted((one, other) => order.indexOf(labelOf(one)) - order.indexOf(labelOf(other)));
  return truncatedTable(['Result', ...keyHeadings, 'Run', 'Reason'], rows, cells);
}
