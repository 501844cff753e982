import pMap from 'p-map';
import type { ControlApi } from '../api/control-api.js';
import type { Key, KeyList } from '../api/keys.js';
import type { Log } from '../api/log.js';
import { RequestError } from '../http/errors.js';
import { Cooldown, noRetry, type RequestPolicy, withRetries } from '../http/retry.js';
import type { Deadline } from '../time/deadline.js';

/** `already-gone`: somebody else revoked the key. */
type RevocationOutcome = 'revoked' | 'already-gone';

interface KeyToRevoke {
  readonly id: string;
  /** Name of a minted key, if known. A key with the same id but a different name is a different key. */
  readonly name?: string | undefined;
}

/** Checks whether the service still lists the key. An older list can prove `false`: a revoked key never reappears. */
export type ListCheck = (key: KeyToRevoke) => Promise<ListCheckResult>;
/** `unknown`: the list does not contain the key, but is incomplete. */
type ListCheckResult = boolean | 'unknown';

/** Revokes one key. The caller retries failed attempts. The meaning of a 404 depends on the earlier attempts. */
export class Revocation {
  /** True if a response confirmed the revocation. A later list that still contains the key is out of date. */
  isConfirmed = false;
  /** True if a DELETE from this step may have taken effect. */
  #mayBeOurs = false;
  #responseWasLost = false;
  #wasNotFound = false;

  constructor(readonly key: KeyToRevoke) {}

  /** Throws unless the key is confirmed to be gone. */
  async attempt(api: ControlApi, deadline: Deadline, isListed: ListCheck): Promise<RevocationOutcome> {
    try {
      this.isConfirmed = await api.revokeKey(this.key.id, deadline);
      this.#mayBeOurs = true;
      if (this.isConfirmed) return 'revoked';
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#mayBeOurs ||= error.mayHaveTakenEffect;
      if (!error.isServiceStatus(404)) {
        // After a lost response or a 5xx, a later 404 proves that the DELETE took effect, unless a 404 came before, too.
        this.#responseWasLost ||= !this.#wasNotFound && isResponseLost(error);
        throw error;
      }
      if (this.#responseWasLost) return 'revoked';
      this.#wasNotFound = true;
      return this.#outcomeUnlessListed(await isListed(this.key), error.message, error);
    }
    const problem = `DELETE of key ${this.key.id}: the response does not confirm that the key was revoked`;
    return this.#outcomeUnlessListed(await isListed(this.key), problem);
  }

  #outcomeUnlessListed(listed: ListCheckResult, problem: string, error?: RequestError): RevocationOutcome {
    if (listed === false) return this.outcome;
    const isLate = listed === true;
    const why = isLate ? 'still contains the key' : 'is incomplete, so it cannot confirm that the key is gone';
    // A list that is out of date will be corrected, so a retry may help. An incomplete list stays incomplete.
    const details = { status: error?.status ?? 200, transient: isLate, mayHaveTakenEffect: true };
    throw new RequestError(`${problem}; the list of keys ${why}`, details);
  }

  /** The outcome is valid only once the key is gone. */
  get outcome(): RevocationOutcome {
    return this.#mayBeOurs ? 'revoked' : 'already-gone';
  }
}

/** True if the request may have revoked the key: the response was lost, or is a 5xx and not the HTML page of a proxy. */
function isResponseLost({ mayHaveTakenEffect, isPage, status }: RequestError): boolean {
  return mayHaveTakenEffect && !isPage && (status === undefined || status >= 500);
}

export function includesKey({ keys, missing }: KeyList, { id, name }: KeyToRevoke): ListCheckResult {
  const listed = byId(keys).get(id);
  if (listed === undefined) return missing === undefined ? false : 'unknown';
  return name === undefined || listed.name === undefined || listed.name === name;
}

const indexes = new WeakMap<readonly Key[], ReadonlyMap<string, Key>>();

/** A list can hold thousands of keys of the same name, and each of them is looked up. */
export function byId(keys: readonly Key[]): ReadonlyMap<string, Key> {
  const index = indexes.get(keys) ?? new Map(keys.map((key) => [key.id, key]));
  indexes.set(keys, index);
  return index;
}

/** The step cannot do what its inputs ask for. The report adds no advice, because the message already gives it. */
export class UserError extends Error {}

/** A key that is not in an incomplete list may still exist. */
export function incompleteKeyList(): RequestError {
  const message =
    'GET /api_keys: the response reports more keys than it contains, so a key that is not in the list may still exist';
  return new RequestError(message, { status: 200, transient: false });
}

export async function listKeysNamed(name: string, api: ControlApi, policy: RequestPolicy): Promise<KeyList> {
  const { keys, missing } = await api.keys(policy);
  return { keys: keys.filter((key) => key.name === name), missing };
}

export type RevocationResult = { readonly id: string } & (
  | { readonly outcome: RevocationOutcome }
  | { readonly outcome: 'failed'; readonly failure: unknown }
);

/** Revokes the keys in parallel. One failed revocation does not stop the others. */
export function revokeEach(
  keys: readonly KeyToRevoke[],
  api: ControlApi,
  policy: RequestPolicy,
  log: Log,
): Promise<RevocationResult[]> {
  const isListed = sharedListCheck(api, policy);
  return mapConcurrently(keys, async ({ id, name }): Promise<RevocationResult> => {
    const revocation = new Revocation({ id, name });
    try {
      const outcome = await withRetries(() => revocation.attempt(api, policy.deadline, isListed), policy);
      // A key with a name was in the list.
      const gone = name === undefined ? 'was revoked before, or never existed' : 'was already gone';
      log.info(`Key ${id} ${outcome === 'revoked' ? 'was revoked' : gone}.`);
      return { id, outcome };
    } catch (failure) {
      return { id, outcome: 'failed', failure };
    }
  });
}

/** Shares one list among many keys. A revoked key never returns, so a list without the key stays valid. */
function sharedListCheck(api: ControlApi, policy: RequestPolicy): ListCheck {
  const { deadline } = policy;
  let list: Promise<KeyList> | undefined;
  // Every check reads the list of keys, so a 423 for that list delays all checks.
  const cooldown = new Cooldown();

  async function readList(): Promise<KeyList> {
    await cooldown.wait(deadline);
    try {
      return await api.keys({ ...policy, retry: noRetry });
    } catch (error) {
      if (error instanceof RequestError) cooldown.note(error, deadline);
      throw error;
    }
  }

  return async (key) => {
    const earlier = await list?.catch(() => undefined);
    if (earlier !== undefined && includesKey(earlier, key) === false) return false;
    // An earlier list that contains the key may be out of date.
    list = readList();
    return includesKey(await list, key);
  };
}

const maxConcurrency = 6;

/** Runs the work in parallel, but limits the number of parallel requests to the service. */
export function mapConcurrently<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pMap(items, work, { concurrency: maxConcurrency });
}
