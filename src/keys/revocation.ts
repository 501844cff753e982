import type { ControlApi } from '../api/control-api.js';
import type { Key, KeyList } from '../api/keys.js';
import type { Log } from '../api/request.js';
import { RequestError } from '../http/errors.js';
import type { Attempt, Send } from '../http/retry.js';
import { CancelledError, DeadlineExceeded } from '../time/deadline.js';

/** `already-gone`: somebody else revoked the key. */
type RevocationOutcome = 'revoked' | 'already-gone';

interface KeyToRevoke {
  readonly id: string;
  /** Name of a minted key, if known. A key with the same id but a different name is a different key. */
  readonly name?: string | undefined;
  readonly createdAt?: Key['createdAt'];
}

/** Checks whether the service still lists the key. Even a list from before the DELETE proves `false`: a gone key stays gone. */
export type ListCheck = (key: KeyToRevoke) => Promise<boolean>;

/**
 * Revokes one key. All attempts use one object, because earlier responses to the DELETE decide what a later one proves:
 *
 * - `revoked: true`: the key is gone.
 * - Any other success: it is gone if a list does not contain it.
 * - A 404 after a lost response or a 5xx: it is gone, because the earlier DELETE took effect.
 * - Any other 404, for example from a wrong base-url: it is gone if a list does not contain it. After such a
 *   404, the same is true of each later 404, even if a response was lost in between.
 * - Anything else, such as a 401 or an HTML page: nothing.
 */
export class Revocation {
  /** True if the revocation is confirmed. A later list that still contains the key is out of date. */
  isConfirmed = false;
  /** True if a DELETE from this step may have taken effect. */
  #mayBeOurs = false;
  /** What happened first: it decides what a later 404 means. */
  #first: 'lost response' | 'not found' | undefined;

  constructor(readonly key: KeyToRevoke) {}

  /** Throws unless the key is confirmed to be gone. */
  async attempt(api: ControlApi, attempt: Attempt, isListed: ListCheck): Promise<RevocationOutcome> {
    const doubt = await this.send(api, attempt);
    const isRepeated = doubt?.status === 404 && this.#first === 'lost response';
    if (doubt === undefined || isRepeated) return 'revoked';
    if (!(await isListed(this.key))) return this.outcome;
    // A list that is out of date will be corrected, so a retry may help.
    const details = { ...doubt, transient: true, mayHaveTakenEffect: true };
    throw new RequestError(`${doubt.message}; the list of keys still contains the key`, details);
  }

  /**
   * Returns undefined if the revocation is confirmed. After any other success or a 404, returns a doubt: an error that says
   * that the key may still be valid. Throws any other error, such as a 401.
   */
  async send(api: ControlApi, attempt: Attempt): Promise<RequestError | undefined> {
    try {
      if (await api.revokeKey(this.key.id, attempt)) this.isConfirmed = true;
      this.#mayBeOurs = true;
      // During the request, a list that was read for another key may have confirmed this revocation.
      if (this.isConfirmed) return undefined;
      const message = `DELETE of key ${this.key.id}: the response does not confirm that the key was revoked`;
      return new RequestError(message, { status: 200, transient: true });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { mayHaveTakenEffect, isPage, status = 500 } = error;
      this.#mayBeOurs ||= mayHaveTakenEffect;
      // No response arrived, or a 5xx that is not the HTML page of a proxy.
      if (mayHaveTakenEffect && !isPage && status >= 500) this.#first ??= 'lost response';
      if (!error.isServiceStatus(404)) throw error;
      this.#first ??= 'not found';
      // A replica may not know the key yet.
      return new RequestError(error.message, { ...error, transient: true }, { cause: error });
    }
  }

  /** The outcome is valid only once the key is gone. */
  get outcome(): RevocationOutcome {
    return this.#mayBeOurs ? 'revoked' : 'already-gone';
  }
}

export function includesKey(list: KeyList, { id, name }: KeyToRevoke): boolean {
  const listed = list.get(id);
  if (listed === undefined) return false;
  return name === undefined || listed.name === undefined || listed.name === name;
}

/** True if the id belongs to another key by now. Then the key is gone, and its id must not be touched. */
export function belongsToOther(list: KeyList, key: KeyToRevoke): boolean {
  const owner = list.get(key.id);
  return owner !== undefined && !includesKey(list, key) && isLaterOwner(owner, key);
}

/** False if `one` had the id before `other`. The service may reuse an id, and a replica that lags shows the earlier owner. */
export function isLaterOwner(one: Partial<Key>, other: Partial<Key>): boolean {
  return (one.createdAt ?? Number.POSITIVE_INFINITY) >= (other.createdAt ?? 0);
}

/** `isConfirmed`: false if the key was merely not found. A replica that lags may not know the key. */
export type RevocationResult = { readonly id: string; readonly isConfirmed: boolean } & (
  | { readonly outcome: RevocationOutcome }
  | { readonly outcome: 'failed'; readonly failure: unknown }
);

/** Revokes the keys in parallel. One failed revocation does not stop the others. */
export function revokeEach(
  keys: readonly KeyToRevoke[],
  api: ControlApi,
  send: Send,
  log: Log,
  latest?: KeyList,
): Promise<RevocationResult[]> {
  const { isListed, reused } = sharedListCheck(keys, api, send, latest);
  /** Ends all revocations: thousands of keys would take too long if each had to notice a cancel or the deadline. */
  let end: CancelledError | DeadlineExceeded | undefined;
  const revoke = async (key: KeyToRevoke): Promise<RevocationResult> => {
    const { id, name } = key;
    const revocation = new Revocation(key);
    const attempt = async (how: Attempt) => {
      if (end !== undefined) throw end;
      return reused.has(id) ? revocation.outcome : revocation.attempt(api, how, isListed);
    };
    try {
      const outcome = await send(attempt);
      // Keys with a name come from a list, so they did exist.
      const gone = name === undefined ? 'was revoked before, or never existed' : 'was already gone';
      log.info(`Key ${id} ${outcome === 'revoked' ? 'was revoked' : gone}.`);
      return { id, outcome, isConfirmed: revocation.isConfirmed || reused.has(id) };
    } catch (failure) {
      // The cause of an error is the last error of this key, so other keys must not report it.
      if (failure instanceof CancelledError || (failure instanceof DeadlineExceeded && !failure.cause)) end = failure;
      return { id, outcome: 'failed', isConfirmed: false, failure };
    }
  };
  return Promise.all(keys.map(revoke));
}

/** Shares one list among many keys. A revoked key stays gone, so a list without the key stays valid. */
function sharedListCheck(keys: readonly KeyToRevoke[], api: ControlApi, send: Send, first?: KeyList) {
  let list = first && Promise.resolve(first);
  /** Ids that another key has by now, according to any of the lists. */
  const reused = new Set<string>();
  const note = (latest: KeyList) => {
    for (const key of keys) if (belongsToOther(latest, key)) reused.add(key.id);
    return latest;
  };
  if (first !== undefined) note(first);
  const isListed: ListCheck = async (key) => {
    // Parallel checks share the first list: without an earlier list, this line awaits nothing.
    const earlier = list === undefined ? undefined : await list.catch(() => undefined);
    if (earlier !== undefined && !includesKey(earlier, key)) return false;
    // An earlier list that contains the key may be out of date.
    list = api.keys(send).then(note);
    return includesKey(await list, key);
  };
  return { isListed, reused };
}
