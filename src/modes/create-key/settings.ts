import { type InputReader, notARunner } from '../../action/inputs/input-reader.js';
import { oneOfParser, parseBoolean, patternParser } from '../../action/inputs/input-values.js';
import { onFailureValues } from '../../keys/post-state.js';
import { readRun, rejectNodeDebug } from '../current-run.js';

export type CreateKeySettings = ReturnType<typeof readCreateKeySettings>;

export function readCreateKeySettings(reader: InputReader) {
  const run = readRun(reader);
  // Without these files, the toolkit prints state and outputs as log commands, which would reveal the key.
  for (const name of ['GITHUB_STATE', 'GITHUB_OUTPUT'])
    reader.variable(name, patternParser(/./s, `is empty; ${notARunner}`));
  rejectNodeDebug(reader);
  return reader.complete({
    run,
    /** Without its owner. */
    repository: reader.environment['GITHUB_REPOSITORY']?.split('/')[1] ?? '',
    revokeInPost: reader.parse('revoke-in-post', parseBoolean),
    onRevokeFailure: reader.parse('on-revoke-failure', oneOfParser(onFailureValues)),
  });
}
