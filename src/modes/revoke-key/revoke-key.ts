import type { ControlApi } from '../../api/control-api.js';
import type { Key } from '../../api/keys.js';
import type { RequestPolicy } from '../../http/retry.js';
import { listKeysNamed, type RevocationResult, Revoker, revokeEach } from '../../keys/revocation.js';
import { UserError } from '../../keys/user-error.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { type Collaborators, defaultPolicy } from '../mode.js';

export type RevokeKeySettings = { readonly ids: readonly string[] } | { readonly name: string };

export async function revokeKeys(
  settings: RevokeKeySettings,
  collaborators: Collaborators,
): Promise<RevocationResult[]> {
  const { api, log } = collaborators;
  const policy = defaultPolicy(collaborators);
  const keys = 'ids' in settings ? settings.ids.map((id) => ({ id })) : await onlyKeyNamed(settings.name, api, policy);
  return revokeEach(keys, new Revoker(api, policy), log);
}

/** Returns one key or none. Several keys of that name are an error. */
async function onlyKeyNamed(name: string, api: ControlApi, policy: RequestPolicy): Promise<readonly Key[]> {
  const { keys, isComplete } = await listKeysNamed(name, api, policy);
  const shown = sanitizeLine(name, 80);
  if (keys.length > 1) {
    const ids = joinFirst(keys.map(({ id }) => id));
    throw new UserError(
      `${keys.length} keys bear the name ${shown}: ${ids}. Which of them is meant cannot be known: name it by its id in key-id.`,
    );
  }
  if (!isComplete) {
    throw new UserError(
      `The list of keys is incomplete: the response announces more keys than it shows, and one named ${shown} may be among them. Use key-id to name the key by its id.`,
    );
  }
  return keys;
}
