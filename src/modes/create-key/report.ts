import { failureReport } from '../../action/failure-report.js';
import { codeHtml, tableHtml } from '../../action/markdown.js';
import type { Output, StepReport } from '../../action/publish.js';
import type { ReportFacts } from '../mode.js';
import type { CreateKeyResult, CreateKeySettings } from './create-key.js';

export function createKeyReport(
  result: CreateKeyResult,
  { revokeInPost, exportTo }: CreateKeySettings,
  { timeout }: ReportFacts,
): StepReport {
  if (result.minted === undefined) return keyNotCreated(result, timeout);
  const { name } = result;
  const { id, secret } = result.minted;
  return {
    status: 'ok',
    succeeded: true,
    headline: `Created key ${id} (${name}), valid until ${revokeInPost ? 'the end of this job' : 'it is revoked'}`,
    outputs: keyOutputs(name, id, secret),
    variable: exportTo === undefined ? undefined : { name: exportTo, value: secret },
    details: tableHtml(['Key', 'Name'], [[codeHtml(id), codeHtml(name)]]),
  };
}

function keyNotCreated(
  { name, failure, mayHaveStrayKey }: Extract<CreateKeyResult, { minted: undefined }>,
  timeout: number,
): StepReport {
  const report = failureReport(failure, timeout);
  const whatRemains = mayHaveStrayKey
    ? `A key named ${name} may have been created anyway: the post step of this job searches for this key and revokes it.`
    : 'No key was created.';
  return {
    ...report,
    error: report.error === undefined ? undefined : `${report.error} ${whatRemains}`,
    outputs: keyOutputs(name),
    details: `<p>${codeHtml(whatRemains)}</p>\n`,
  };
}

function keyOutputs(name: string, id = '', secret = ''): Output[] {
  return [
    { name: 'key', value: secret, isSecret: true },
    { name: 'key-id', value: id },
    { name: 'key-name', value: name },
  ];
}
