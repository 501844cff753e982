import { type Key, keyFields } from '../api/keys.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './listing.js';
import { patiently } from './patience.js';

export const fieldsToListKeysBy: readonly string[] = keyFields;

export async function listKeys(wanted: Wanted, collaborators: Collaborators): Promise<Found<Key>> {
  return collect([await collaborators.api.keys(patiently(collaborators))], wanted, collaborators);
}
