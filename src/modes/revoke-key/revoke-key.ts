import type { KeyList } from '../../api/keys.js';
import { UserError } from '../../http/errors.js';
import { usualPatience, withRetries } from '../../http/retry.js';
import { revokeByIds, revokeKeys } from '../../keys/revocation.js';
import { sanitizeLine } from '../../text/sanitize-line.js';
import { joinFirst } from '../../text/sentences.js';
import type { Collaborators } from '../mode.js';
import type { RevokeKeySettings } from './settings.js';

export type RevokeKeyResult = Awaited<ReturnType<typeof revokeGivenKeys>>;

export function revokeGivenKeys({ target }: RevokeKeySettings, collaborators: Collaborators) {
  const means = { ...collaborators, send: withRetries(collaborators), patience: usualPatience };
  if ('ids' in target) return revokeByIds(target.ids, means);
  return revokeKeys({ given: [target.name], meant: onlyKeyNamed(target.name), count: 1 }, means);
}

/** Once its id is known, another key that gets the same name is not meant. */
function onlyKeyNamed(name: string) {
  let meant: string | undefined;
  return (list: KeyList) => {
    const ids = [...list.values()].filter((key) => key.name === name && !key.isRevoked).map(({ id }) => id);
    const several = `${ids.length} keys are named ${sanitizeLine(name, 80)}: ${joinFirst(ids)}. Set key-id to the id of the key to revoke.`;
    if (meant === undefined && ids.length > 1) throw new UserError(several);
    meant ??= ids[0];
    return new Map(ids.filter((id) => id === meant).map((id) => [name, id]));
  };
}
