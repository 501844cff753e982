import { type Key, keyFields } from '../api/keys.js';
import { fiveTries } from '../api/retry.js';
import type { Collaborators } from './collaborators.js';
import type { Filter } from './filter.js';

export const fieldsToListBy: readonly string[] = keyFields;

export interface ListKeysSettings {
  readonly filter: Filter;
  /** How many at most; 0: all. */
  readonly limit: number;
  readonly failOn: 'empty' | 'match' | undefined;
}

export interface ListedKeys {
  readonly verdict: 'ok' | 'empty' | 'match';
  readonly keys: readonly Key[];
}

export async function listKeys(settings: ListKeysSettings, collaborators: Collaborators): Promise<ListedKeys> {
  const { api, limit, random } = collaborators;
  const { filter, failOn } = settings;
  const all = await api.keys({ limit, retry: fiveTries(random) });
  const admitted = all.filter(({ record }) => filter.admits(record));
  const keys = settings.limit === 0 ? admitted : admitted.slice(0, settings.limit);
  const found = keys.length === 0 ? 'empty' : 'match';
  return { verdict: found === failOn ? found : 'ok', keys };
}
