import type { Key } from '../api/records.js';
import { RequestError } from '../http/errors.js';
import type { Send } from '../http/retry.js';
import type { PostState } from '../keys/post-state.js';
import { type RevocationTask, revokeKeys } from '../keys/revocation.js';
import { longestRetryAfter, patience } from './minted-key.js';

type Means = Pick<RevocationTask, 'api' | 'rate' | 'deadline' | 'random'>;

/** Revokes all keys of that name but the minted one. Looks for them until as many were found as creates were lost. */
export async function endStrayKeys({ name, minted, lostCreates: count }: PostState, means: Means) {
  const { deadline, random } = means;
  const find = (listed: readonly Key[]) =>
    listed.filter((key) => key.name === name && key.id !== minted?.id).map(({ id }) => id);
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
  return (await revokeKeys({ ...means, send, patience, find, count })).keys;
}
