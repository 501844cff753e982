import { failureReport } from '../../action/failure-report.js';
import { codeHtml, tableHtml } from '../../action/markdown.js';
import type { StepReport } from '../../action/publish.js';
import type { ReportFacts } from '../mode.js';
import type { CreateKeyResult, CreateKeySettings } from './create-key.js';

export function createKeyReport(
  result: CreateKeyResult,
  { revokeInPost, exportTo }: CreateKeySettings,
  { timeout }: ReportFacts,
): StepReport {
  const { name, minted, mayHaveStrayKey } = result;
  const outputs = [
    { name: 'key', value: minted?.secret ?? '', isSecret: true },
    { name: 'key-id', value: minted?.id ?? '' },
    { name: 'key-name', value: name },
  ];
  if (result.minted === undefined) {
    const report = failureReport(result.failure, timeout);
    const whatRemains = mayHaveStrayKey
      ? `A key named ${name} may have been created anyway. The post step of this job will search for it and revoke it.`
      : 'No key was created.';
    const error = report.error === undefined ? undefined : `${report.error} ${whatRemains}`;
    return { ...report, error, outputs, details: `<p>${codeHtml(whatRemains)}</p>\n` };
  }
  const { id, secret } = result.minted;
  return {
    status: 'ok',
    succeeded: true,
    headline: `Created key ${id} (${name}), valid until ${revokeInPost ? 'the end of this job' : 'it is revoked'}`,
    outputs,
    variable: exportTo === undefined ? undefined : { name: exportTo, value: secret },
    details: tableHtml(['Key', 'Name'], [[codeHtml(id), codeHtml(name)]]),
  };
}
