import type { ControlApi } from '../../api/control-api.js';
import type { Key } from '../../api/keys.js';
import { UserError } from '../../http/errors.js';
import { type Send, withRetries } from '../../http/retry.js';
import { revokeEach } from '../../keys/revocation.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import type { Collaborators } from '../mode.js';

export type RevokeKeySettings = { readonly ids: readonly string[] } | { readonly name: string };

export async function revokeKeys(settings: RevokeKeySettings, collaborators: Collaborators) {
  const { api, log } = collaborators;
  const send = withRetries(collaborators);
  const keys = 'ids' in settings ? settings.ids.map((id) => ({ id })) : await onlyKeyNamed(settings.name, api, send);
  return revokeEach(keys, api, send, log);
}

async function onlyKeyNamed(name: string, api: ControlApi, send: Send): Promise<readonly Key[]> {
  const keys = [...(await api.keys(send)).values()].filter((key) => key.name === name);
  const shown = sanitizeLine(name, 80);
  const advice = 'Nothing was revoked. Set key-id to the id of the key to revoke.';
  const several = `${keys.length} keys are named ${shown}: ${joinFirst(keys.map(({ id }) => id))}. ${advice}`;
  if (keys.length > 1) throw new UserError(several);
  return keys;
}
