import { RequestError } from '../../http/errors.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import { makeKeyName } from '../../keys/key-name.js';
import type { KeyState } from '../../keys/post-state.js';
import { nothingToRevoke } from '../../keys/post-state-name.js';
import type { Collaborators, Services } from '../mode.js';
import type { CreateKeySettings } from './settings.js';

export type CreateKeyResult = Awaited<ReturnType<typeof createKey>>;

const maxLostCreates = 3;

/** A create is lost if it may have made a key, but no usable response came. Only post looks for such a key. */
export async function createKey(settings: CreateKeySettings, collaborators: Collaborators, services: Services) {
  const { repository, run, revokeInPost, onRevokeFailure: onFailure } = settings;
  const { api, deadline, random } = collaborators;
  const { clock } = deadline;
  const name = makeKeyName(repository, { run, isKept: !revokeInPost }, random);
  let lostCreates = 0;
  const state = { name, minted: undefined, onFailure };

  async function attempt(how: Attempt) {
    let isSent = false;
    // The state counts this create as lost until its response is here, because the process may be killed meanwhile.
    const onSend = () => {
      services.savePostState({ ...state, lostCreates: lostCreates + 1 });
      isSent = true;
    };
    try {
      const key = await api.createKey(name, { ...how, onSend });
      const minted = { ...key, madeAt: { runner: clock.epochMs(), service: api.knownServiceEpochMs(clock) } };
      services.savePostState({ ...state, lostCreates, minted });
      return minted;
    } catch (error) {
      const isLost = isSent && !(error instanceof RequestError && !error.mayHaveTakenEffect);
      if (isLost) lostCreates++;
      services.savePostState(lostCreates > 0 ? { ...state, lostCreates } : nothingToRevoke);
      if (!isLost || !(error instanceof RequestError)) throw error;
      throw new RequestError(error.message, { ...error, transient: lostCreates < maxLostCreates }, { cause: error });
    }
  }

  return withRetries(collaborators)(attempt).then(
    (minted) => ({ name, lostCreates, minted }),
    (failure: unknown) => ({ name, lostCreates, minted: undefined, failure }),
  );
}

/** Until this state is saved, post revokes the key even with `revoke-in-post: false`, because no later step has the key. */
export function stateAfterOutputs(
  { minted, name, lostCreates }: CreateKeyResult,
  { revokeInPost, onRevokeFailure: onFailure }: CreateKeySettings,
): KeyState | undefined {
  if (minted === undefined || revokeInPost) return undefined;
  return lostCreates === 0 ? nothingToRevoke : { name, lostCreates, minted: { ...minted, secret: '' }, onFailure };
}
