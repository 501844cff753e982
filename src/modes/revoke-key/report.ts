import { codeHtml, truncatedTable } from '../../action/markdown.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { headlineOf, idsOf, revocationFailure, revocationOutputs, withFate } from '../keys-report.js';
import type { Report } from '../mode.js';
import type { RevokeKeyResult } from './revoke-key.js';
import type { RevokeKeySettings } from './settings.js';

const labels = { revoked: '✅ revoked', 'not-found': '❓ not found', unknown: '❌ not confirmed' };

export const revokeKeyReport: Report<RevokeKeyResult, RevokeKeySettings> = (result, settings, { timeout }) => {
  const { keys } = result;
  const { target, ignoreNotFound } = settings;
  const revoked = idsOf(withFate(keys, 'revoked'));
  const missing = withFate(keys, 'not-found').map(({ label }) => label);
  const unknown = withFate(keys, 'unknown');
  const names = joinFirst(missing.map((label) => sanitizeLine(label, 80)));
  const notFound = `Found no key with ${'name' in target ? 'key-name' : 'key-id'} ${names}. Check it for a typo. The key may also belong to another account, or was revoked before.`;
  const isError = missing.length > 0 && !ignoreNotFound;
  const usual = {
    status: isError || revoked.length === 0 ? 'not-found' : 'revoked',
    succeeded: !isError,
    error: isError ? `${notFound} If that is expected, set ignore-not-found: true.` : undefined,
    notice: missing.length > 0 && ignoreNotFound ? notFound : undefined,
  };
  const counts = [`${revoked.length} revoked`, `${missing.length} not found`, `${unknown.length} not confirmed`];
  const end = revocationFailure(result, timeout) ?? usual;
  return {
    ...end,
    headline: headlineOf(end.status, counts.filter((text) => !text.startsWith('0 ')).join(', ')),
    outputs: revocationOutputs(revoked, idsOf(unknown)),
    resultFields: { not_found: missing },
    details: truncatedTable(['Result', 'Key'], keys, ({ label, fate }) => [
      labels[fate],
      codeHtml(sanitizeLine(label, 80)),
    ]),
  };
};
