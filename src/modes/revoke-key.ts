import type { ControlApi } from '../api/control-api.js';
import type { Key } from '../api/keys.js';
import type { Manner } from '../http/retry.js';
import { firstOf } from '../text/first-of.js';
import { plain } from '../text/plain.js';
import type { Collaborators } from './collaborators.js';
import { type Fate, revokeEach } from './keys/fates.js';
import { keysNamed, Revoker } from './keys/revocation.js';
import { NoResult } from './no-result.js';
import { patiently } from './patience.js';

export type RevokeKeySettings = { readonly ids: readonly string[] } | { readonly name: string };

export async function revokeKeys(settings: RevokeKeySettings, collaborators: Collaborators): Promise<Fate[]> {
  const { api, log } = collaborators;
  const manner = patiently(collaborators);
  const keys = 'ids' in settings ? settings.ids.map((id) => ({ id })) : await onlyKeyNamed(settings.name, api, manner);
  return revokeEach(keys, new Revoker(api, manner), log);
}

/** Returns one key or none. Several keys of that name are an error. */
async function onlyKeyNamed(name: string, api: ControlApi, manner: Manner): Promise<readonly Key[]> {
  const { keys, isComplete } = await keysNamed(name, api, manner);
  const shown = plain(name, 80);
  if (keys.length > 1) {
    const ids = firstOf(keys.map(({ id }) => id));
    throw new NoResult(
      `${keys.length} keys bear the name ${shown}: ${ids}. Which of them is meant cannot be known: name it by its id in key-id.`,
    );
  }
  if (!isComplete) {
    throw new NoResult(
      `The list of keys is incomplete: the response announces more keys than it shows, and one named ${shown} may be among them. Use key-id to name the key by its id.`,
    );
  }
  return keys;
}
