import { parseIdList } from '../../action/inputs/id-list.js';
import type { InputReader } from '../../action/inputs/input-reader.js';
import { BadValue, type Parse, parseBoolean, rejectLeftover } from '../../action/inputs/input-values.js';

export type RevokeKeySettings = ReturnType<typeof readRevokeKeySettings>;

export function readRevokeKeySettings(reader: InputReader) {
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

/** With `ignore-not-found`, a step with an invalid name would wrongly succeed, because no key has it. */
const parseName: Parse<string> = (text) => {
  if (/\p{Cc}/u.test(rejectLeftover(text)))
    throw new BadValue('is not a name; expected the exact name of one key, on one line');
  return text;
};

export const parseKeyIds: Parse<string[]> = (text) => parseIdList(text, parseKeyId, 'key ids, or the input key-name');

const parseKeyId: Parse<string> = (text) => {
  // A value of more than 15 characters may be the key itself instead of its id, so the message does not quote the value.
  if (!/^\d+$/.test(text)) throw new BadValue('is not a key id; expected an integer, such as 165423', text.length > 15);
  return text.replace(/^0+(?=\d)/, '');
};
