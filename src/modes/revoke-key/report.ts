import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { idsOf, revocationFailure, revocationOutputs, withFate } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { RevokeKeyResult } from './revoke-key.js';
import type { RevokeKeySettings } from './settings.js';

const labels = { revoked: '✅ revoked', 'not-found': '❓ not found', unknown: '❌ not confirmed' };

export const revokeKeyReport: Report<RevokeKeyResult, RevokeKeySettings> = (result, settings, { timeout }) => {
  const { keys } = result;
  const failure = revocationFailure(result, timeout);
  const revoked = idsOf(withFate(keys, 'revoked'));
  const missing = withFate(keys, 'not-found');
  const unknown = withFate(keys, 'unknown');
  const isMissing = missing.length > 0;
  const isError = isMissing && !settings.ignoreNotFound;
  const usual = isError || revoked.length === 0 ? 'not-found' : 'revoked';
  const status = failure?.status ?? usual;
  const names = joinFirst(missing.map(({ label }) => sanitizeLine(label, 80)));
  const input = 'name' in settings.target ? 'key-name' : 'key-id';
  const notFound = `Found no key with ${input} ${names}. Check it for a typo. The key may also belong to another account, or was revoked before.`;
  const advice = 'If that is expected, set ignore-not-found: true.';
  const counts = [`${revoked.length} revoked`, `${missing.length} not found`, `${unknown.length} not confirmed`];
  const error = failure === undefined ? (isError ? `${notFound} ${advice}` : undefined) : failure.error;
  return {
    status,
    succeeded: failure === undefined && !isError,
    headline: `${status === 'cancelled' ? 'Cancelled: ' : ''}${counts.filter((text) => !text.startsWith('0 ')).join(', ')}`,
    error,
    notice: error === undefined && isMissing && failure === undefined ? notFound : undefined,
    outputs: revocationOutputs(revoked, idsOf(unknown)),
    resultFields: { not_found: missing.map(({ label }) => label) },
    details: truncatedTable(['Result', 'Key'], keys, ({ label, fate }) => [
      labels[fate],
      codeHtml(sanitizeLine(label, 80)),
    ]),
  };
};
