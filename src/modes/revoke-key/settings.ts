import { parseIdList } from '../../action/inputs/id-list.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import { type Parse, parseKeyId, rejectLeftover } from '../../action/inputs/input-values.js';
import type { RevokeKeySettings } from './revoke-key.js';

export function readRevokeKeySettings(reader: InputReader): RevokeKeySettings {
  reader.rejectBoth('key-id', 'key-name');
  return reader.text('key-name') === ''
    ? reader.complete({ ids: reader.parse('key-id', parseKeyIds) })
    : reader.complete({ name: reader.parse('key-name', rejectLeftover) });
}

const parseKeyIds: Parse<string[]> = (text) =>
  parseIdList(text, {
    id: parseKeyId,
    whyEmpty:
      'is empty; expected one or more key ids (or set the input key-name instead). Check the expression: it is empty if a step id or output name is misspelled, or the step was skipped',
    insteadOfObject: 'Do not pass an API response here, because the runner prints inputs. Expected only ids',
    example: '[165423, 165424]',
    jq: '.[].id',
    areNumbers: true,
  });
