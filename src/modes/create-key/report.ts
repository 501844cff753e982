import { failureReport } from '../../action/failure-report.js';
import { textHtml } from '../../action/markdown.js';
import { isAmbiguous } from '../../keys/post-state.js';
import type { Report } from '../mode.js';
import type { CreateKeyResult } from './create-key.js';
import type { CreateKeySettings } from './settings.js';

export const createKeyReport: Report<CreateKeyResult, CreateKeySettings> = (result, settings, { timeout }) => {
  const { revokeInPost, exportTo } = settings;
  const { name, minted } = result;
  const outputs = [
    { name: 'key', value: minted?.secret ?? '', isSecret: true },
    { name: 'key-id', value: minted?.id ?? '' },
    { name: 'key-name', value: name },
  ];
  if (result.minted === undefined) {
    const report = failureReport(result.failure, timeout);
    const whatRemains = isAmbiguous(result)
      ? `A key named ${name} may have been created anyway. The post step of this job will search for it and revoke it.`
      : 'No key was created.';
    const error = report.error === undefined ? undefined : `${report.error} ${whatRemains}`;
    // A cancelled step has no error text, so the summary says what remains.
    const details = error === undefined ? `<p>${textHtml(whatRemains)}</p>\n` : '';
    return { ...report, error, outputs, details };
  }
  const { id, secret } = result.minted;
  return {
    status: 'ok',
    succeeded: true,
    headline: `Created key ${id} (${name}), valid until ${revokeInPost ? 'the end of this job' : 'it is revoked'}`,
    outputs,
    variable: exportTo === undefined ? undefined : { name: exportTo, value: secret },
  };
};
