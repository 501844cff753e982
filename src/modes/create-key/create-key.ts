import type { Key } from '../../api/keys.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { type Attempt, withRetries } from '../../http/retry.js';
import { makeKeyName } from '../../keys/key-name.js';
import { isAmbiguous, type KeyState } from '../../keys/post-state.js';
import { nothingToRevoke } from '../../keys/post-state-name.js';
import { belongsToOther, revokeEach } from '../../keys/revocation.js';
import type { Collaborators, Services } from '../mode.js';
import type { CreateKeySettings } from './settings.js';

export type CreateKeyResult = Awaited<ReturnType<typeof createKey>>;

/** A create is ambiguous if it failed, but may have made a key. The contract promises this number. */
const maxAmbiguousCreates = 5;
/** The post state has the ids of all found keys, and must fit into an environment variable. */
const maxFound = 100;

export async function createKey(settings: CreateKeySettings, collaborators: Collaborators, services: Services) {
  const { label, run, revokeInPost, onRevokeFailure: onFailure } = settings;
  const { savePostState } = services;
  const { api, deadline, log, random } = collaborators;
  const send = withRetries(collaborators);
  const name = makeKeyName(label, { run, isKept: !revokeInPost }, random);
  let ambiguousCreates = 0;
  /** Ambiguous creates for which no key was found. */
  let openCreates = 0;
  /** The keys that this step found after ambiguous creates, by id. `isConfirmed`: the key is gone, even if a list shows it. */
  const found = new Map<string, { readonly createdAt: Key['createdAt']; readonly isConfirmed: boolean }>();

  const known = () => ({
    name,
    openCreates,
    foundKeyIds: [...found.keys()],
    unconfirmedKeyIds: [...found].flatMap(([id, { isConfirmed }]) => (isConfirmed ? [] : [id])),
  });
  const intent = { minted: undefined, revoke: true, onFailure };
  // The name is saved before each request, so that post can find the key if this process is killed during the request.
  const saveIntent = () => savePostState({ ...known(), ...intent, openCreates: openCreates + 1 });

  async function attempt(how: Attempt) {
    let isSent = false;
    const onSend = () => {
      isSent = true;
    };
    try {
      return await api.createKey(name, { ...how, onSend });
    } catch (error) {
      if (!isSent || (error instanceof RequestError && !error.mayHaveTakenEffect)) throw error;
      // A request without a response can still take effect, even after a later create succeeded.
      ambiguousCreates++;
      openCreates++;
      if (!(error instanceof RequestError)) throw error;
      await revokeStrayKeys(error);
      saveIntent();
      const transient = error.transient && ambiguousCreates < maxAmbiguousCreates;
      // `revokeStrayKeys` has already waited for the `Retry-After`.
      throw new RequestError(error.message, { ...error, transient, retryAfterMs: undefined }, { cause: error });
    }
  }

  /** Revokes keys of ambiguous creates. No step has their secrets, but they are valid. */
  async function revokeStrayKeys(createError: RequestError): Promise<void> {
    log.info(`${createError.message}. A key may have been created anyway: searching for keys named ${name}.`);
    try {
      const pause = createError.retryAfterMs ?? 0;
      if (pause > deadline.remaining) throw new RetryAfterExceedsDeadline(createError, deadline.remaining);
      await deadline.sleep(pause);
      const list = await api.keys(send);
      for (const [id, known] of found)
        if (belongsToOther(list, { ...known, id, name })) found.set(id, { ...known, isConfirmed: true });
      // A replica that lags may still list a revoked key. With another creation time, it is another key with the same id.
      const isRevoked = ({ id, createdAt }: Key) => {
        const known = found.get(id);
        return known?.isConfirmed && known.createdAt === createdAt;
      };
      const keys = [...list.values()].filter((key) => key.name === name && !isRevoked(key));
      if (found.size + keys.length > maxFound)
        throw new RequestError(`${keys.length} keys are named ${name}`, { transient: false });
      const isNew = ({ id }: Key) => !found.has(id);
      openCreates = Math.max(0, openCreates - keys.filter(isNew).length);
      for (const { id, createdAt } of keys) found.set(id, { createdAt, isConfirmed: false });
      // The found keys are saved first, because this process may be killed before it has revoked them.
      if (keys.length > 0) savePostState({ ...known(), ...intent });
      const results = await revokeEach(keys, api, send, log);
      for (const { id, isConfirmed } of results) found.set(id, { createdAt: found.get(id)?.createdAt, isConfirmed });
      for (const result of results) if ('failure' in result) throw result.failure;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { status, isPage } = error;
      const left = known().unconfirmedKeyIds.join(', ');
      const what = left === '' ? 'Could not check whether a key was created' : `Could not revoke key ${left}`;
      const message = `${createError.message}. ${what}: ${error.message}`;
      // A retry could create a second key. Post searches for the first key.
      throw new RequestError(message, { status, isPage, transient: false }, { cause: error });
    }
  }

  saveIntent();
  const outcome = await send(attempt).then(
    (minted) => ({ minted }),
    (failure: unknown) => ({ minted: undefined, failure }),
  );
  const isRejected = outcome.minted === undefined && ambiguousCreates === 0;
  savePostState(isRejected ? nothingToRevoke : { ...known(), ...intent, minted: outcome.minted });
  return { ...known(), ...outcome };
}

/** Until this state is saved, post revokes the key even with `revoke-in-post: false`, because no later step has the key. */
export function stateAfterOutputs(
  { minted, ...known }: CreateKeyResult,
  { revokeInPost, onRevokeFailure: onFailure }: CreateKeySettings,
): KeyState | undefined {
  if (minted === undefined || revokeInPost) return undefined;
  if (!isAmbiguous(known)) return nothingToRevoke;
  return { ...known, minted, revoke: false, onFailure };
}
