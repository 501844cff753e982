import pMap from 'p-map';
import type { ControlApi } from '../api/control-api.js';
import type { KeyList } from '../api/keys.js';
import type { Log } from '../api/log.js';
import { RequestError } from '../http/errors.js';
import { Cooldown, noRetry, type RequestPolicy, withRetries } from '../http/retry.js';
import type { Deadline } from '../time/deadline.js';

/** Revoked by this action, or already gone before. */
export type RevocationOutcome = 'revoked' | 'already-gone';

interface KeyToRevoke {
  readonly id: string;
  /** Name of a minted key, if known. The same id under another name is another key. */
  readonly name?: string | undefined;
}

/** Tells whether the service lists the key. `true` and `unknown` come from a response that is newer than the call. */
export type ListCheck = (key: KeyToRevoke) => Promise<ListCheckResult>;
/** `unknown`: the list does not show the key, but is incomplete. */
type ListCheckResult = boolean | 'unknown';

/** Revokes one key, one attempt at a time. What a 404 proves depends on the earlier attempts. */
export class Revocation {
  readonly #key: KeyToRevoke;
  /** True if a DELETE of this step may have taken effect. */
  #mayBeOurs = false;
  #responseWasLost = false;
  #isConfirmed = false;
  #wasNotFound = false;

  constructor(key: KeyToRevoke) {
    this.#key = key;
  }

  /** Resolves only if the key is confirmed as gone. */
  async attempt(api: ControlApi, deadline: Deadline, isListed: ListCheck): Promise<RevocationOutcome> {
    try {
      this.#isConfirmed = await api.revokeKey(this.#key.id, deadline);
      this.#mayBeOurs = true;
      if (this.#isConfirmed) return 'revoked';
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#mayBeOurs ||= error.mayHaveTakenEffect;
      if (!error.isServiceStatus(404)) {
        // A 404 after a lost response or a 5xx proves that the earlier DELETE took effect, unless a 404 came before it.
        this.#responseWasLost ||= !this.#wasNotFound && isResponseLost(error);
        throw error;
      }
      if (this.#responseWasLost) return 'revoked';
      this.#wasNotFound = true;
      return this.#outcomeUnlessListed(await isListed(this.#key), error.message, error);
    }
    const said = `DELETE of key ${this.#key.id}: the response does not say “revoked”`;
    return this.#outcomeUnlessListed(await isListed(this.#key), said);
  }

  #outcomeUnlessListed(listed: ListCheckResult, said: string, error?: RequestError): RevocationOutcome {
    if (listed === false) return this.outcome;
    const isLate = listed === true;
    const why = isLate ? 'still contains it' : 'is incomplete, so it cannot confirm that the key is gone';
    // An out-of-date list catches up, so it is read again. An incomplete list stays incomplete.
    const details = { status: error?.status ?? 200, transient: isLate, mayHaveTakenEffect: true };
    throw new RequestError(`${said}, ${error === undefined ? 'and' : 'but'} the list of keys ${why}`, details, {
      cause: error,
    });
  }

  /** Valid only once the key is gone. */
  get outcome(): RevocationOutcome {
    return this.#mayBeOurs ? 'revoked' : 'already-gone';
  }

  /** True if the response says that the key is revoked. A list that still shows the key is then out of date. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }
}

/** An HTML page may come from a proxy, so it proves nothing. Neither does a 2xx response about another key. */
function isResponseLost({ mayHaveTakenEffect, isPage, status }: RequestError): boolean {
  return mayHaveTakenEffect && !isPage && (status === undefined || status >= 500);
}

export class Revoker {
  readonly #api: ControlApi;
  readonly #policy: RequestPolicy;
  /** Revoked keys do not come back. If this list does not show a key, that stays true, so one list serves many keys. */
  #list: Promise<KeyList> | undefined;
  /** All keys depend on the list, so a 423 for the list delays all of them. */
  readonly #listCooldown = new Cooldown();

  constructor(api: ControlApi, policy: RequestPolicy) {
    this.#api = api;
    this.#policy = policy;
  }

  revoke(key: KeyToRevoke): Promise<RevocationOutcome> {
    const revocation = new Revocation(key);
    return withRetries(
      () => revocation.attempt(this.#api, this.#policy.deadline, (it) => this.#isListed(it)),
      this.#policy,
    );
  }

  /** An earlier list that shows the key may be out of date, so it is read again. */
  async #isListed(key: KeyToRevoke): Promise<ListCheckResult> {
    const before = await this.#list?.catch(() => undefined);
    if (before !== undefined && includesKey(before, key) === false) return false;
    this.#list = this.#readList();
    return includesKey(await this.#list, key);
  }

  async #readList(): Promise<KeyList> {
    const { deadline } = this.#policy;
    await this.#listCooldown.wait(deadline);
    try {
      return await this.#api.keys({ ...this.#policy, retry: noRetry });
    } catch (error) {
      if (error instanceof RequestError) this.#listCooldown.note(error, deadline);
      throw error;
    }
  }
}

export function includesKey({ keys, isComplete }: KeyList, { id, name }: KeyToRevoke): ListCheckResult {
  const listed = keys.find((key) => key.id === id);
  if (listed === undefined) return isComplete ? false : 'unknown';
  return name === undefined || listed.name === undefined || listed.name === name;
}

/** The key that is not found may be on a page that was not read. */
export function incompleteKeyList(): RequestError {
  const message =
    'GET /api_keys: the response announces more keys than it contains, so a key that is missing from it may still exist';
  return new RequestError(message, { status: 200, transient: false });
}

export async function listKeysNamed(name: string, api: ControlApi, policy: RequestPolicy): Promise<KeyList> {
  const { keys, isComplete } = await api.keys(policy);
  return { keys: keys.filter((key) => key.name === name), isComplete };
}

export type RevocationResult = { readonly id: string } & (
  | { readonly outcome: RevocationOutcome }
  | { readonly failure: unknown }
);

/** One failed revocation does not stop the others. */
export function revokeEach(keys: readonly KeyToRevoke[], revoker: Revoker, log: Log): Promise<RevocationResult[]> {
  return mapConcurrently(keys, async ({ id, name }): Promise<RevocationResult> => {
    try {
      const outcome = await revoker.revoke({ id, name });
      log.info(`Key ${id} was ${outcome === 'revoked' ? 'revoked' : 'already gone'}.`);
      return { id, outcome };
    } catch (failure) {
      return { id, failure };
    }
  });
}

const maxConcurrency = 6;

/** Runs the work in parallel, but limits the load on the service. */
export function mapConcurrently<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pMap(items, work, { concurrency: maxConcurrency });
}
