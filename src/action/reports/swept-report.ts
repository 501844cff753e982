import type { Judged, Swept } from '../../modes/sweep-keys.js';
import { printJson } from '../../text/json.js';
import { failureOf, idsBy } from '../../words/fates.js';
import { keyRowOf } from '../../words/key.js';
import type { Ending } from '../ending.js';
import { code, tableOfFirst } from './markdown.js';
import { revokedOutputs } from './revoked-report.js';

export function sweptReport(swept: Swept, { dryRun }: { readonly dryRun: boolean }, timeout: number): Ending {
  const { judged, fates, troubles } = swept;
  const failure = failureOf(fates, timeout);
  const over = judged.filter(({ isOver }) => isOver).map(({ key }) => key.id);
  const ends = idsBy(fates);
  const revoked = dryRun ? over : ends.revoked;
  const failed = new Set(ends.failed);
  const kept = judged.filter(({ isOver, key }) => !isOver || failed.has(key.id)).map(({ key }) => key.id);
  const status = failure?.status ?? 'ok';
  return {
    status,
    succeeded: failure === undefined,
    headline: `${status === 'cancelled' ? 'Cancelled, ' : ''}${revoked.length} ${dryRun ? 'would be revoked' : 'revoked'}, ${kept.length} kept`,
    error: failure?.error,
    warnings: [
      ...(swept.listIsComplete ? [] : [incomplete]),
      ...(troubles.length === 0 ? [] : [unseen(troubles.map(({ message }) => message))]),
    ],
    outputs: revokedOutputs(revoked, kept),
    result: [
      printJson({
        mode: 'sweep-keys',
        status,
        dry_run: dryRun,
        revoked_key_ids: revoked,
        kept_key_ids: kept,
        keys: judged.map(({ key, run, isKept, isOver, why }) => ({
          id: key.id,
          name: key.name,
          run_id: run.id,
          run_attempt: run.attempt,
          kept_on_purpose: isKept,
          run_is_over: isKept ? null : isOver,
          why,
          record: key.record,
        })),
      }),
    ],
    details: tableOf(judged, ends, dryRun) + aside(swept),
  };
}

const incomplete =
  'The list of keys is incomplete: the response announces more keys than it shows. Keys that it does not show are not swept. Run sweep-keys again: with fewer keys the list may be complete.';

function unseen(reasons: readonly string[]): string {
  return `The state of runs could not be seen: ${[...new Set(reasons)].slice(0, 3).join('; ')}. Keys of these runs are revoked only when they are older than older-than. The job needs the permission actions: read, and github-token must be of this repository.`;
}

function tableOf(judged: readonly Judged[], { gone, failed }: ReturnType<typeof idsBy>, dryRun: boolean): string {
  if (judged.length === 0) return '<p>No key was made by this action for this repository.</p>\n';
  const word = ({ isOver, isKept, key }: Judged) => {
    if (isKept) return '📌 kept on purpose';
    if (!isOver) return '⏳ kept';
    if (dryRun) return '🧹 would be revoked';
    return failed.includes(key.id) ? '❌ not revoked' : gone.includes(key.id) ? '✅ gone already' : '✅ revoked';
  };
  const cells = (one: Judged) => {
    const { id, name, created, lastUsed } = keyRowOf(one.key);
    return [word(one), code(id), code(name), code(one.run.id), code(created), code(lastUsed), one.why];
  };
  const overFirst = [...judged].sort((one, other) => Number(other.isOver) - Number(one.isOver));
  return tableOfFirst(['', 'Key', 'Name', 'Run', 'Made', 'Last used', 'Why'], overFirst, cells);
}

function aside({ others: { ofOtherRepositories, notOurs } }: Swept): string {
  return `<p>Not touched: ${ofOtherRepositories} of other repositories, ${notOurs} that this action did not make.</p>\n`;
}
