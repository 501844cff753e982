import { codeHtml, truncatedTable } from '../../action/markdown.js';
import type { RevocationResult } from '../../keys/revocation.js';
import { printJson } from '../../text/json.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { groupByOutcome, revocationFailure, revocationOutputs } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { RevokeKeySettings } from './revoke-key.js';

export const revokeKeyReport: Report<readonly RevocationResult[], RevokeKeySettings> = (results, settings, facts) => {
  const { revoked, gone, failed } = groupByOutcome(results);
  const failure = revocationFailure(results, facts.timeout);
  const status = failure?.status ?? (revoked.length > 0 ? 'revoked' : 'gone');
  const counts = [`${revoked.length} revoked`, `${gone.length} ${notFound}`, `${failed.length} not revoked`];
  const shares = counts.filter((count) => !count.startsWith('0 ')).join(', ');
  const notice =
    'name' in settings
      ? `No key has exactly the name ${sanitizeLine(settings.name, 80)}. The key was revoked before, or never existed.`
      : 'key-id is an empty list: nothing was revoked.';
  return {
    status,
    succeeded: failure === undefined,
    headline: shares === '' ? 'No key to revoke' : `${status === 'cancelled' ? 'Cancelled: ' : ''}${shares}`,
    error: failure?.error,
    notice: results.length === 0 ? notice : undefined,
    outputs: revocationOutputs(revoked, failed),
    result: [
      printJson({
        mode: 'revoke-key',
        status,
        count: revoked.length,
        revoked_key_ids: revoked,
        gone_key_ids: gone,
        kept_key_ids: failed,
      }),
    ],
    details: truncatedTable(['Result', 'Key'], results, ({ id, outcome }) => [outcomeLabels[outcome], codeHtml(id)]),
  };
};

/** A 404 for an id, or a list without the id, does not tell which of these two is true. */
const notFound = 'revoked before, or never existed';
const outcomeLabels = { revoked: '✅ revoked', 'already-gone': `✅ ${notFound}`, failed: '❌ not revoked' };
