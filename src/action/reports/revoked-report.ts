import type { Fate } from '../../modes/keys/fates.js';
import type { RevokeKeySettings } from '../../modes/revoke-key.js';
import { printJson } from '../../text/json.js';
import { plain } from '../../text/plain.js';
import { failureOf, idsBy } from '../../words/fates.js';
import type { Ending, Output } from '../ending.js';
import { code, tableOfFirst } from './markdown.js';

export function revokedReport(fates: readonly Fate[], settings: RevokeKeySettings, timeout: number): Ending {
  const { revoked, gone, failed } = idsBy(fates);
  const failure = failureOf(fates, timeout);
  const status = failure?.status ?? (revoked.length > 0 ? 'revoked' : 'gone');
  const cancelled = failure?.status === 'cancelled' ? [failure.headline] : [];
  const shares = [
    ...cancelled,
    `${revoked.length} revoked`,
    `${gone.length} gone already`,
    `${failed.length} not revoked`,
  ];
  return {
    status,
    succeeded: failure === undefined,
    headline: shares.filter((share) => !share.startsWith('0 ')).join(', ') || 'No key to revoke',
    error: failure?.error,
    notice: fates.length === 0 ? nothingToRevoke(settings) : undefined,
    outputs: revokedOutputs(revoked, failed),
    result: [
      printJson({
        mode: 'revoke-key',
        status,
        revoked_key_ids: revoked,
        gone_key_ids: gone,
        kept_key_ids: failed,
      }),
    ],
    details: tableOfFirst(['', 'Key'], fates, cellsOf),
  };
}

/** Keys that were already gone are in neither list. */
export function revokedOutputs(revoked: readonly string[], kept: readonly string[]): Output[] {
  return [
    { name: 'count', value: String(revoked.length) },
    { name: 'revoked-key-ids', value: JSON.stringify(revoked), rank: 1 },
    { name: 'kept-key-ids', value: JSON.stringify(kept), rank: 1 },
  ];
}

function nothingToRevoke(settings: RevokeKeySettings): string {
  return 'name' in settings
    ? `No key bears the name ${plain(settings.name, 80)}: it is gone already, or never was.`
    : 'The list of keys is empty: nothing was revoked.';
}

const words = { revoked: '✅ revoked', gone: '✅ gone already', failed: '❌ not revoked' };

function cellsOf(fate: Fate): string[] {
  return [words['gone' in fate ? fate.gone : 'failed'], code(fate.id)];
}
