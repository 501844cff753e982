import { type Key, keyFields } from '../api/keys.js';
import { fiveTries } from '../api/retry.js';
import type { Collaborators } from './collaborators.js';
import { collect, type Found, type Wanted } from './listing.js';

export const fieldsToListKeysBy: readonly string[] = keyFields;

export async function listKeys(wanted: Wanted, { api, limit, log, random }: Collaborators): Promise<Found<Key>> {
  return collect([await api.keys({ limit, retry: fiveTries(random) })], wanted, { limit, log });
}
