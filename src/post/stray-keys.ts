import type { Key, KeyList } from '../api/keys.js';
import { RequestError } from '../http/errors.js';
import type { Send } from '../http/retry.js';
import type { PostState } from '../keys/post-state.js';
import { type Means, revokeKeys } from '../keys/revocation.js';
import { longestRetryAfter, patience } from './minted-key.js';

/** Revokes all keys of that name but the minted one. Looks for them until as many were found as creates were lost. */
export async function endStrayKeys({ name, minted, lostCreates }: PostState, means: Omit<Means, 'send' | 'patience'>) {
  const { deadline, random } = means;
  const isStray = (key: Key) => key.name === name && key.id !== minted?.id && !key.isRevoked;
  const meant = (list: KeyList) => new Map([...list.values()].filter(isStray).map(({ id }) => [id, id]));
  /** Repeats a list after any failure. */
  const send: Send = async (attempt) => {
    for (;;) {
      try {
        return await attempt({ deadline, patience });
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        const retryAfter = Math.min(longestRetryAfter, error.retryAfterMs ?? 0);
        await deadline.sleep(Math.max(retryAfter, 500 + 1_000 * random()));
      }
    }
  };
  const { keys } = await revokeKeys({ given: [], meant, count: lostCreates }, { ...means, send, patience });
  return keys;
}
