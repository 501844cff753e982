import type { Created, CreateKeySettings } from '../../modes/create-key.js';
import type { Ending, Output } from '../ending.js';
import { failureReport } from './failure-report.js';
import { code, table } from './markdown.js';

export function createdReport(created: Created, settings: CreateKeySettings, timeout: number): Ending {
  return created.minted === undefined ? notMade(created, timeout) : made(created, settings);
}

function made(
  { name, minted: { id, secret } }: Extract<Created, { minted: object }>,
  settings: CreateKeySettings,
): Ending {
  const { revokeInPost, exportTo } = settings;
  return {
    status: 'ok',
    succeeded: true,
    headline: `Key ${id} (${name}) was made, and lives ${revokeInPost ? 'until the end of this job' : 'until it is revoked'}`,
    outputs: keyOutputs(name, id, secret),
    variable: exportTo === undefined ? undefined : { name: exportTo, value: secret },
    details: table(['Key', 'Name'], [[code(id), code(name)]]),
  };
}

function notMade({ name, failure, unclear }: Extract<Created, { minted: undefined }>, timeout: number): Ending {
  const ending = failureReport(failure, timeout);
  const left = unclear
    ? `A key of the name ${name} may have been made all the same: the post step of this job looks for it and revokes it.`
    : 'No key was made.';
  return {
    ...ending,
    error: ending.error === undefined ? undefined : `${ending.error} ${left}`,
    outputs: keyOutputs(name, '', ''),
    details: `<p>${code(left)}</p>\n`,
  };
}

function keyOutputs(name: string, id: string, secret: string): Output[] {
  return [
    { name: 'key', value: secret, isSecret: true },
    { name: 'key-id', value: id },
    { name: 'key-name', value: name },
  ];
}
