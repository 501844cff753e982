import type { ControlApi } from '../../api/control-api.js';
import type { Key } from '../../api/keys.js';
import { ApiError } from '../../http/errors.js';
import { Quiet } from '../../http/quiet.js';
import { type Manner, once, withRetries } from '../../http/retry.js';
import type { Limit } from '../../time/limit.js';

/** How a key came to be gone: by us, or before. */
export type Gone = 'revoked' | 'gone';

/** The end of one key, try by try: what a 404 proves hangs on what the tries before it met. */
export class Revocation {
  readonly #id: string;
  /** A DELETE of ours may have been carried out, though nothing said so. */
  #mayBeOurs = false;
  #wasLost = false;
  #isSaid = false;
  #wasNotFound = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** Ends only when the key is known to be gone. `isListed`: whether a list of all keys, read after this, shows it. */
  async try(api: ControlApi, limit: Limit, isListed: (id: string) => Promise<boolean>): Promise<Gone> {
    try {
      this.#isSaid = await api.revokeKey(this.#id, limit);
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
      if (await isListed(this.#id)) throw contradiction(error.message, error);
      return this.how;
    }
    if (await isListed(this.#id)) throw contradiction(`DELETE of key ${this.#id} was answered without “revoked”`);
    return this.how;
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

function contradiction(said: string, answer?: ApiError): ApiError {
  const particulars = { status: answer?.status ?? 200, transient: true, unclear: true };
  return new ApiError(`${said}; but the list of keys shows it`, particulars, { cause: answer });
}

function isLost({ unclear, isPage, status }: ApiError): boolean {
  return unclear && !isPage && (status === undefined || status >= 500);
}

/** Revokes keys, each with its tries. */
export class Revoker {
  readonly #api: ControlApi;
  readonly #manner: Manner;
  /** Keys do not come back: what it does not show stays gone, so that one reading serves many keys. */
  #list: Promise<Key[]> | undefined;
  /** A lock on it is one on what all read. */
  readonly #quietOfList = new Quiet();

  constructor(api: ControlApi, manner: Manner) {
    this.#api = api;
    this.#manner = manner;
  }

  revoke(id: string): Promise<Gone> {
    const revocation = new Revocation(id);
    return withRetries(() => revocation.try(this.#api, this.#manner.limit, (it) => this.#isListed(it)), this.#manner);
  }

  /** A list that was read before, and shows the key, may be older than its end. */
  async #isListed(id: string): Promise<boolean> {
    if (this.#list !== undefined && !(await shows(this.#list, id).catch(() => true))) return false;
    this.#list = this.#readList();
    return shows(this.#list, id);
  }

  async #readList(): Promise<Key[]> {
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

export async function shows(list: Promise<readonly Key[]>, id: string): Promise<boolean> {
  return (await list).some((key) => key.id === id);
}

export async function keysNamed(name: string, api: ControlApi, manner: Manner): Promise<Key[]> {
  return (await api.keys(manner)).filter((key) => key.name === name);
}
