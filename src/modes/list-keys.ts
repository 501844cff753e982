import { type Key, keyFields } from '../api/keys.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './lists/listing.js';
import { NoResult } from './no-result.js';
import { patiently } from './patience.js';

export const fieldsToListKeysBy: readonly string[] = keyFields;

export type FoundKeys = Found<Key>;

export async function listKeys(wanted: Wanted, collaborators: Collaborators): Promise<FoundKeys> {
  const { keys, isComplete } = await collaborators.api.keys(patiently(collaborators));
  const found = await collect([keys], wanted, collaborators);
  if (isComplete) return found;
  const what = 'The list of keys is incomplete: the response announces more keys than it shows.';
  if (wanted.failOn !== undefined && found.records.length === 0) {
    throw new NoResult(`${what} A key that matches may be among them. Look for it in the console.`);
  }
  collaborators.log.warning(what);
  return found;
}
