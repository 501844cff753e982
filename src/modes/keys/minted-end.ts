import type { ControlApi } from '../../api/control-api.js';
import { ApiError } from '../../http/errors.js';
import type { Limit } from '../../time/limit.js';
import type { Gone, IsListed, KeyToRevoke, Revocation } from './revocation.js';

/** Milliseconds. A shorter timeout would cut off a service that is only slow. */
const shortestExchange = 1_000;

interface Parts {
  readonly minted: KeyToRevoke & { readonly api: ControlApi };
  /** Undefined unless post has the parent key that main used. */
  readonly parent: ControlApi | undefined;
  readonly limit: Limit;
  readonly isListedFor: (api: ControlApi) => IsListed;
}

/** The minted key revokes itself. The parent key revokes it only if the service rejects the minted key. */
export class MintedEnd {
  readonly #parts: Parts;
  /** Why the minted key could not revoke itself. */
  #refusal: ApiError | undefined;
  #isRefused = false;
  /** True once the parent key has found no other key with this id in the list. */
  #mayBeOurs = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** True if the service rejects every key that post has. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Resolves only if the key is confirmed as gone. */
  async try(revocation: Revocation): Promise<Gone> {
    const { minted, parent, limit, isListedFor } = this.#parts;
    this.#isRefused = false;
    if (this.#refusal === undefined || parent === undefined) {
      try {
        // Half of the remaining time, so that one exchange that hangs leaves time for another.
        const hurried = minted.api.hurried(Math.max(shortestExchange, limit.left / 2));
        return await revocation.try(hurried, limit, isListedFor(minted.api));
      } catch (error) {
        if (!(error instanceof ApiError) || !(error.refused || error.says(404))) throw error;
        if (parent === undefined) {
          // A key that gets 401 is gone. The list would be better proof, but only the parent key could read it.
          if (error.says(401)) return revocation.how;
          this.#isRefused = error.refused;
          throw error;
        }
        this.#refusal = error;
      }
    }
    return await this.#byParent(parent, this.#refusal, revocation);
  }

  async #byParent(parent: ControlApi, refusal: ApiError, revocation: Revocation): Promise<Gone> {
    const { minted, limit, isListedFor } = this.#parts;
    const isListed = isListedFor(parent);
    try {
      if (!this.#mayBeOurs) {
        // The id may belong to another key by now, which must not be touched. After a 401 the minted key is most likely
        // gone, so this check must succeed. In other cases an unreadable list does not matter.
        const listed = await isListed(minted).catch((error: unknown) => {
          if (refusal.says(401) || !(error instanceof ApiError)) throw error;
          return 'unknown' as const;
        });
        if (listed === false) return revocation.how;
        this.#mayBeOurs = true;
      }
      return await revocation.try(parent, limit, isListed);
    } catch (error) {
      // A 401 for both keys may be a fault of the service, so it is retried.
      this.#isRefused = error instanceof ApiError && error.refused && !error.says(401);
      throw error;
    }
  }
}
