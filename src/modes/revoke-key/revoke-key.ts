import type { ControlApi } from '../../api/control-api.js';
import type { Key } from '../../api/keys.js';
import { UserError } from '../../http/errors.js';
import type { RequestPolicy } from '../../http/retry.js';
import { revokeEach } from '../../keys/revocation.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import { type Collaborators, defaultPolicy } from '../mode.js';

export type RevokeKeySettings = { readonly ids: readonly string[] } | { readonly name: string };

export async function revokeKeys(settings: RevokeKeySettings, collaborators: Collaborators) {
  const { api, log } = collaborators;
  const policy = defaultPolicy(collaborators);
  const keys = 'ids' in settings ? settings.ids.map((id) => ({ id })) : await onlyKeyNamed(settings.name, api, policy);
  return revokeEach(keys, api, policy, log);
}

async function onlyKeyNamed(name: string, api: ControlApi, policy: RequestPolicy): Promise<readonly Key[]> {
  const { keys: all, missing } = await api.keys(policy);
  const keys = [...all.values()].filter((key) => key.name === name);
  const shown = sanitizeLine(name, 80);
  const advice = 'Nothing was revoked. Set key-id to the id of the key to revoke.';
  const several = `${keys.length} keys are named ${shown}: ${joinFirst(keys.map(({ id }) => id))}. ${advice}`;
  if (keys.length > 1) throw new UserError(several);
  const incomplete = `The list of keys is incomplete: ${missing}. So a key named ${shown} may be missing. ${advice}`;
  if (missing !== undefined) throw new UserError(incomplete);
  return keys;
}
