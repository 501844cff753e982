import { failureReport } from '../../action/failure-report.js';
import { paragraph } from '../../action/markdown.js';
import type { Report } from '../mode.js';
import type { CreateKeyResult } from './create-key.js';
import type { CreateKeySettings } from './settings.js';

export const createKeyReport: Report<CreateKeyResult, CreateKeySettings> = (result, { revokeInPost }, { timeout }) => {
  const { name, minted, lostCreates } = result;
  const outputs = { 'key-id': minted?.id ?? '', 'key-name': name };
  const secretOutputs = { key: minted?.secret ?? '' };
  if (result.minted !== undefined) {
    const until = revokeInPost ? 'the end of this job' : 'it is revoked';
    return {
      status: 'ok',
      succeeded: true,
      headline: `Created key ${result.minted.id} (${name}), valid until ${until}`,
      outputs,
      secretOutputs,
    };
  }
  const report = failureReport(result.failure, timeout);
  const whatRemains =
    lostCreates > 0
      ? `A key named ${name} may exist. The post step looks for it and revokes it.`
      : 'No key was created.';
  const error = report.error === undefined ? undefined : `${report.error} ${whatRemains}`;
  // A cancelled step has no error text, so the summary says what remains.
  const details = error === undefined ? paragraph(whatRemains) : '';
  return { ...report, error, outputs, secretOutputs, details };
};
