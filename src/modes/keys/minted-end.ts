import type { ControlApi } from '../../api/control-api.js';
import { ApiError } from '../../http/errors.js';
import type { Limit } from '../../time/limit.js';
import type { Gone, IsListed, KeyToRevoke, Revocation } from './revocation.js';

/** In less time a slow answer could not come. */
const shortestExchange = 1_000;

interface Parts {
  readonly minted: KeyToRevoke & { readonly api: ControlApi };
  /** Where the right one is at hand. */
  readonly parent: ControlApi | undefined;
  readonly limit: Limit;
  readonly isListedFor: (api: ControlApi) => IsListed;
}

/** The end of the minted key: by itself; by the parent key where it is refused. */
export class MintedEnd {
  readonly #parts: Parts;
  /** Why the service does not let it revoke itself. */
  #refusal: ApiError | undefined;
  #isRefused = false;
  /** Whether the parent key has looked for it in the list, and did not find another key in its place. */
  #mayBeOurs = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether the service lets nobody do it who is at hand. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Ends only when the key is known to be gone. */
  async try(revocation: Revocation): Promise<Gone> {
    const { minted, parent, limit, isListedFor } = this.#parts;
    this.#isRefused = false;
    if (this.#refusal === undefined || parent === undefined) {
      try {
        // Half of what is left, so that one exchange that hangs leaves time for another.
        const hurried = minted.api.hurried(Math.max(shortestExchange, limit.left / 2));
        return await revocation.try(hurried, limit, isListedFor(minted.api));
      } catch (error) {
        if (!(error instanceof ApiError) || !(error.refused || error.says(404))) throw error;
        if (parent === undefined) {
          // A key that is not accepted any more is a key that is gone; the list of the parent knows better, if there is one.
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
        // An id that is another key's by now is not touched. Only after a 401 a list is needed: the key is then most likely gone.
        const listed = await isListed(minted).catch((error: unknown) => {
          if (refusal.says(401) || !(error instanceof ApiError)) throw error;
          return 'unknown' as const;
        });
        if (listed === false) return revocation.how;
        this.#mayBeOurs = true;
      }
      return await revocation.try(parent, limit, isListed);
    } catch (error) {
      // A 401 for both keys may be that of a service that is unwell.
      this.#isRefused = error instanceof ApiError && error.refused && !error.says(401);
      throw error;
    }
  }
}
