import pMap from 'p-map';
import type { ControlApi } from '../../api/control-api.js';
import { ApiError } from '../../api/errors.js';
import type { Key } from '../../api/keys.js';
import { type Manner, once, withRetries } from '../../api/retry.js';

/** How a key came to be gone: by us, or before. */
export type Gone = 'revoked' | 'gone';

const atOnce = 6;

/** Revokes keys, and says so only when they are known to be gone. */
export class Revocation {
  readonly #api: ControlApi;
  readonly #manner: Manner;
  /** Keys do not come back: what it does not show stays gone, so that one reading serves many keys. */
  #list: Promise<Key[]> | undefined;

  constructor(api: ControlApi, manner: Manner) {
    this.#api = api;
    this.#manner = manner;
  }

  async revoke(id: string): Promise<Gone> {
    let wasLost = false;
    let wasNotFound = false;
    return withRetries(async () => {
      try {
        if (await this.#api.revokeKey(id, this.#manner.limit)) return 'revoked';
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!error.says(404)) {
          // Only of a key that was not found missing before.
          wasLost ||= !wasNotFound && mayBeDone(error);
          throw error;
        }
        if (wasLost) return 'revoked';
        wasNotFound = true;
      }
      // A list that was read before says nothing about what this DELETE did.
      if (!wasNotFound) this.#list = undefined;
      if (await this.#isListed(id)) throw contradiction(id, wasNotFound);
      return wasNotFound ? 'gone' : 'revoked';
    }, this.#manner);
  }

  async #isListed(id: string): Promise<boolean> {
    this.#list ??= this.#api.keys({ limit: this.#manner.limit, retry: once });
    try {
      const keys = await this.#list;
      if (!keys.some((key) => key.id === id)) return false;
    } catch (error) {
      this.#list = undefined;
      throw error;
    }
    this.#list = undefined;
    return true;
  }
}

/** Whether the answer may be that of a DELETE that was carried out: a page of a proxy is no answer of the service. */
function mayBeDone({ unclear, isPage, status }: ApiError): boolean {
  return unclear && !isPage && (status === undefined || status < 300 || status >= 500);
}

function contradiction(id: string, wasNotFound: boolean): ApiError {
  const said = wasNotFound ? 'is not found' : 'was answered without “revoked”';
  return new ApiError(`DELETE of key ${id} ${said}, but the list of keys shows it`, { transient: true, unclear: true });
}

/** Side by side, but no more of them than a service bears. */
export async function fewAtATime<T, R>(items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  return pMap(items, work, { concurrency: atOnce });
}

export async function keysNamed(name: string, api: ControlApi, manner: Manner): Promise<Key[]> {
  return (await api.keys(manner)).filter((key) => key.name === name);
}
