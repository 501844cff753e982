import type { ControlApi } from '../../api/control-api.js';
import type { KeyList } from '../../api/keys.js';
import { ApiError } from '../../http/errors.js';
import { Quiet } from '../../http/quiet.js';
import { type Manner, once, withRetries } from '../../http/retry.js';
import type { Limit } from '../../time/limit.js';

/** Revoked by this action, or already gone before. */
export type Gone = 'revoked' | 'gone';

export interface KeyToRevoke {
  readonly id: string;
  /** Name of a minted key, if known. The same id under another name is another key. */
  readonly name?: string | undefined;
}

/** Tells whether the service lists the key. `true` and `unknown` come from a response that is newer than the call. */
export type IsListed = (key: KeyToRevoke) => Promise<Listed>;
/** `unknown`: the list does not show the key, but is incomplete. */
export type Listed = boolean | 'unknown';

/** Revokes one key, one try at a time. Earlier tries decide what a 404 proves. */
export class Revocation {
  readonly #key: KeyToRevoke;
  /** True if a DELETE of this step may have taken effect. */
  #mayBeOurs = false;
  #wasLost = false;
  #isSaid = false;
  #wasNotFound = false;

  constructor(key: KeyToRevoke) {
    this.#key = key;
  }

  /** Resolves only if the key is confirmed as gone. */
  async try(api: ControlApi, limit: Limit, isListed: IsListed): Promise<Gone> {
    try {
      this.#isSaid = await api.revokeKey(this.#key.id, limit);
      this.#mayBeOurs = true;
      if (this.#isSaid) return 'revoked';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#mayBeOurs ||= error.unclear;
      if (!error.says(404)) {
        // A 404 after a lost response or a 5xx proves that the earlier DELETE took effect, unless a 404 came before it.
        this.#wasLost ||= !this.#wasNotFound && isLost(error);
        throw error;
      }
      if (this.#wasLost) return 'revoked';
      this.#wasNotFound = true;
      return this.#unlessListed(await isListed(this.#key), error.message, error);
    }
    const said = `DELETE of key ${this.#key.id} was answered without “revoked”`;
    return this.#unlessListed(await isListed(this.#key), said);
  }

  #unlessListed(listed: Listed, said: string, answer?: ApiError): Gone {
    if (listed === false) return this.how;
    const isLate = listed === true;
    const why = isLate ? 'shows it' : 'announces more keys than it shows, so it cannot confirm that the key is gone';
    // An out-of-date list catches up, so it is read again. An incomplete list stays incomplete.
    const particulars = { status: answer?.status ?? 200, transient: isLate, unclear: true };
    throw new ApiError(`${said}; but the list of keys ${why}`, particulars, { cause: answer });
  }

  /** Valid only once the key is gone. */
  get how(): Gone {
    return this.#mayBeOurs ? 'revoked' : 'gone';
  }

  /** True if the response says that the key is revoked. A list that still shows the key is then out of date. */
  get isSaid(): boolean {
    return this.#isSaid;
  }
}

/** An HTML page may come from a proxy, so it proves nothing. Neither does a 2xx response about another key. */
function isLost({ unclear, isPage, status }: ApiError): boolean {
  return unclear && !isPage && (status === undefined || status >= 500);
}

export class Revoker {
  readonly #api: ControlApi;
  readonly #manner: Manner;
  /** Revoked keys do not come back. If this list does not show a key, that stays true, so one list serves many keys. */
  #list: Promise<KeyList> | undefined;
  /** All keys depend on the list, so a 423 for the list delays all of them. */
  readonly #quietOfList = new Quiet();

  constructor(api: ControlApi, manner: Manner) {
    this.#api = api;
    this.#manner = manner;
  }

  revoke(key: KeyToRevoke): Promise<Gone> {
    const revocation = new Revocation(key);
    return withRetries(() => revocation.try(this.#api, this.#manner.limit, (it) => this.#isListed(it)), this.#manner);
  }

  /** An earlier list that shows the key may be out of date, so it is read again. */
  async #isListed(key: KeyToRevoke): Promise<Listed> {
    const before = await this.#list?.catch(() => undefined);
    if (before !== undefined && includesKey(before, key) === false) return false;
    this.#list = this.#readList();
    return includesKey(await this.#list, key);
  }

  async #readList(): Promise<KeyList> {
    const { limit } = this.#manner;
    await this.#quietOfList.keep(limit);
    try {
      return await this.#api.keys({ ...this.#manner, retry: once });
    } catch (error) {
      if (error instanceof ApiError) this.#quietOfList.hear(error, limit);
      throw error;
    }
  }
}

export function includesKey({ keys, isComplete }: KeyList, { id, name }: KeyToRevoke): Listed {
  const listed = keys.find((key) => key.id === id);
  if (listed === undefined) return isComplete ? false : 'unknown';
  return name === undefined || listed.name === undefined || listed.name === name;
}

/** The key that is not found may be on a page that was not read. */
export function incompleteKeyList(): ApiError {
  const message =
    'GET /api_keys: the response announces more keys than it shows, so one that is missing from it may exist';
  return new ApiError(message, { status: 200, transient: false });
}

export async function keysNamed(name: string, api: ControlApi, manner: Manner): Promise<KeyList> {
  const { keys, isComplete } = await api.keys(manner);
  return { keys: keys.filter((key) => key.name === name), isComplete };
}
