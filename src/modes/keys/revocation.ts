import type { ControlApi } from '../../api/control-api.js';
import type { KeyList } from '../../api/keys.js';
import { ApiError } from '../../http/errors.js';
import { Quiet } from '../../http/quiet.js';
import { type Manner, once, withRetries } from '../../http/retry.js';
import type { Limit } from '../../time/limit.js';

/** How a key came to be gone: by us, or before. */
export type Gone = 'revoked' | 'gone';

export interface KeyToRevoke {
  readonly id: string;
  /** That of a minted key, where it is known: the same id under another name is another key. */
  readonly name?: string | undefined;
}

/** Whether the service lists the key, in a response that is newer than the question. */
export type IsListed = (key: KeyToRevoke) => Promise<Listed>;
/** `unknown`: an incomplete list does not show it. */
export type Listed = boolean | 'unknown';

/** The end of one key, try by try: what a 404 proves hangs on what the tries before it met. */
export class Revocation {
  readonly #key: KeyToRevoke;
  /** A DELETE of ours may have been carried out, though nothing said so. */
  #mayBeOurs = false;
  #wasLost = false;
  #isSaid = false;
  #wasNotFound = false;

  constructor(key: KeyToRevoke) {
    this.#key = key;
  }

  /** Ends only when the key is known to be gone. */
  async try(api: ControlApi, limit: Limit, isListed: IsListed): Promise<Gone> {
    try {
      this.#isSaid = await api.revokeKey(this.#key.id, limit);
      this.#mayBeOurs = true;
      if (this.#isSaid) return 'revoked';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#mayBeOurs ||= error.unclear;
      if (!error.says(404)) {
        // Only of a key that was not found missing before, and not by a page or an answer about something else.
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
    // A list that is late catches up. One that comes in pages stays incomplete.
    const particulars = { status: answer?.status ?? 200, transient: isLate, unclear: true };
    throw new ApiError(`${said}; but the list of keys ${why}`, particulars, { cause: answer });
  }

  /** How it came to be gone, now that it is. */
  get how(): Gone {
    return this.#mayBeOurs ? 'revoked' : 'gone';
  }

  /** Whether the service has said in so many words that the key is revoked: a list that still shows it is late. */
  get isSaid(): boolean {
    return this.#isSaid;
  }
}

function isLost({ unclear, isPage, status }: ApiError): boolean {
  return unclear && !isPage && (status === undefined || status >= 500);
}

/** Revokes keys, each with its tries. */
export class Revoker {
  readonly #api: ControlApi;
  readonly #manner: Manner;
  /** Keys do not come back: what it does not show stays gone, so that one reading serves many keys. */
  #list: Promise<KeyList> | undefined;
  /** A lock on it is one on what all read. */
  readonly #quietOfList = new Quiet();

  constructor(api: ControlApi, manner: Manner) {
    this.#api = api;
    this.#manner = manner;
  }

  revoke(key: KeyToRevoke): Promise<Gone> {
    const revocation = new Revocation(key);
    return withRetries(() => revocation.try(this.#api, this.#manner.limit, (it) => this.#isListed(it)), this.#manner);
  }

  /** A list that was read before, and shows the key, may be older than its end. */
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

/** A key that such a list does not show may be on a page that nobody read. */
export function incompleteKeyList(): ApiError {
  const message =
    'GET /api_keys: the response announces more keys than it shows, so one that is missing from it may exist';
  return new ApiError(message, { status: 200, transient: false });
}

export async function keysNamed(name: string, api: ControlApi, manner: Manner): Promise<KeyList> {
  const { keys, isComplete } = await api.keys(manner);
  return { keys: keys.filter((key) => key.name === name), isComplete };
}
