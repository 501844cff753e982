import { parseIdList } from '../../action/inputs/id-list.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import {
  BadValue,
  checked,
  leftoverProblem,
  type Parse,
  parseBoolean,
  rejectLeftover,
} from '../../action/inputs/input-values.js';

export type RevokeKeySettings = ReturnType<typeof readRevokeKeySettings>;

export function readRevokeKeySettings(reader: InputReader) {
  reader.rejectBoth('key-id', 'key-name');
  return reader.complete({
    target: readTarget(reader),
    ignoreNotFound: reader.parse('ignore-not-found', parseBoolean),
  });
}

function readTarget(reader: InputReader): { readonly ids: readonly string[] } | { readonly name: string } | null {
  if (reader.text('key-name') === '') {
    const ids = reader.parse('key-id', parseKeyIds);
    return ids && { ids };
  }
  const name = reader.parse('key-name', parseName);
  return name === null ? null : { name };
}

/** An invalid name matches no key, so the step would wrongly succeed. */
const parseName = checked((text) => {
  const problem = 'is not a name; expected the exact name of one key, on one line';
  return leftoverProblem(text) ?? (/\p{Cc}/u.test(text) ? problem : undefined);
});

export const parseKeyIds: Parse<string[]> = (text) =>
  parseIdList(text, {
    id: parseKeyId,
    whyEmpty:
      'is empty; expected one or more key ids (or set the input key-name instead). Check the expression: it is empty if a step id or output name is misspelled, or the step was skipped',
    insteadOfObject: 'Do not pass an API response here, because the runner prints inputs. Expected only ids',
    jq: '.[].id',
  });

const parseKeyId: Parse<string> = (text) => {
  // A value of more than 15 characters may be the key itself instead of its id, so the message does not quote the value.
  if (!/^\d+$/.test(rejectLeftover(text)))
    throw new BadValue('is not a key id; expected an integer, such as 165423', text.length > 15);
  return text.replace(/^0+(?=\d)/, '');
};
