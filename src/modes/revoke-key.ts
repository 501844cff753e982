import { firstOf } from '../text/first-of.js';
import { plain } from '../text/plain.js';
import type { Collaborators } from './collaborators.js';
import { type Fate, revokeEach } from './keys/fates.js';
import { keysNamed, Revoker } from './keys/revocation.js';
import { NoResult } from './no-result.js';
import { patiently } from './patience.js';

export type RevokeKeySettings = { readonly ids: readonly string[] } | { readonly name: string };

/** What became of each. */
export async function revokeKeys(settings: RevokeKeySettings, collaborators: Collaborators): Promise<Fate[]> {
  const { api, log } = collaborators;
  const manner = patiently(collaborators);
  const ids = 'ids' in settings ? settings.ids : (await keysNamed(settings.name, api, manner)).map(({ id }) => id);
  if ('name' in settings && ids.length > 1) {
    const keys = `${ids.length} keys bear the name ${plain(settings.name, 80)}: ${firstOf(ids)}`;
    throw new NoResult(`${keys}. Which of them is meant cannot be known: name it by its id in key-id.`);
  }
  return revokeEach(ids, new Revoker(api, manner), log);
}
