import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { printJson } from '../../text/json.js';
import { groupByOutcome, keyCells, keyHeadings, revocationFailure, revocationOutputs } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { SweepKeysSettings } from './settings.js';
import type { SweepDecision, SweepResult } from './sweep-keys.js';

export const sweepKeysReport: Report<SweepResult, SweepKeysSettings> = (result, { dryRun }, { timeout }) => {
  const { decisions, revocations, failures, others } = result;
  const failure = revocationFailure(revocations, timeout);
  const over = decisions.filter(({ isOver }) => isOver).map(({ key }) => key.id);
  const byOutcome = groupByOutcome(revocations);
  const revoked = dryRun ? over : byOutcome.revoked;
  const failed = new Set(byOutcome.failed);
  const kept = decisions.filter(({ isOver, key }) => !isOver || failed.has(key.id)).map(({ key }) => key.id);
  const status = failure?.status ?? 'ok';
  const reasons = new Set(failures.map(({ message }) => message));
  const unread = `Could not read the state of workflow runs: ${[...reasons].slice(0, 3).join('; ')}. Keys of these runs are revoked only if their age exceeds older-than. Check that the job has the permission actions: read, and that github-token belongs to this repository.`;
  return {
    status,
    succeeded: failure === undefined,
    headline: `${status === 'cancelled' ? 'Cancelled: ' : ''}${revoked.length} ${dryRun ? 'would be revoked' : 'revoked'}, ${kept.length} kept${others.ofOtherRepositories > 0 ? `, ${others.ofOtherRepositories} of other repositories` : ''}`,
    error: failure?.error,
    warnings: failures.length === 0 ? [] : [unread],
    outputs: revocationOutputs(revoked, kept),
    result: [
      printJson({
        mode: 'sweep-keys',
        status,
        dry_run: dryRun,
        count: revoked.length,
        revoked_key_ids: revoked,
        kept_key_ids: kept,
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
      }),
    ],
    details: `${decisionTable(result, dryRun)}<p>Not touched: keys of other repositories (${others.ofOtherRepositories}), keys that this action did not create (${others.notOurs}).</p>\n`,
  };
};

/** The most important rows come first, because a long table is cut. */
const labels = {
  failed: '❌ not revoked',
  onPurpose: '📌 kept on purpose',
  toRevoke: '🧹 would be revoked',
  revoked: '✅ revoked',
  'already-gone': '✅ already gone',
  kept: '⏳ kept',
};

function decisionTable({ decisions, revocations }: SweepResult, dryRun: boolean): string {
  if (decisions.length === 0) return '<p>Found no key that this action created for this repository.</p>\n';
  const outcomes = new Map(revocations.map(({ id, outcome }) => [id, outcome]));
  const labelOf = ({ isOver, isKept, key }: SweepDecision) => {
    if (isKept) return labels.onPurpose;
    if (!isOver) return labels.kept;
    return labels[dryRun ? 'toRevoke' : (outcomes.get(key.id) ?? 'failed')];
  };
  const cells = (one: SweepDecision) => [labelOf(one), ...keyCells(one.key), codeHtml(one.run.id), one.reason];
  const order = Object.values(labels);
  const rows = decisions.toSorted((one, other) => order.indexOf(labelOf(one)) - order.indexOf(labelOf(other)));
  return truncatedTable(['Result', ...keyHeadings, 'Run', 'Reason'], rows, cells);
}
