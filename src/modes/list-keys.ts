import { type Key, keyFields } from '../api/keys.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './lists/listing.js';
import { patiently } from './patience.js';

export const fieldsToListKeysBy: readonly string[] = keyFields;

export type FoundKeys = Found<Key>;

export async function listKeys(wanted: Wanted, collaborators: Collaborators): Promise<FoundKeys> {
  return collect([await collaborators.api.keys(patiently(collaborators))], wanted, collaborators);
}
