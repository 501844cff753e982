import type { Key } from '../../api/keys.js';
import { UserError } from '../../keys/revocation.js';
import { type Collaborators, defaultPolicy } from '../mode.js';
import { collect, type ListResult, type ListSettings } from './collect.js';

export type ListKeysResult = ListResult<Key>;

export async function listKeys(settings: ListSettings, collaborators: Collaborators): Promise<ListKeysResult> {
  const { keys, isComplete } = await collaborators.api.keys(defaultPolicy(collaborators));
  const result = await collect([keys], settings, collaborators);
  if (isComplete) return result;
  const what = 'The list of keys is incomplete: the response announces more keys than it contains.';
  if (settings.failOn !== undefined && result.records.length === 0) {
    throw new UserError(`${what} A matching key may be missing. Check the console.`);
  }
  collaborators.log.warning(what);
  return result;
}
