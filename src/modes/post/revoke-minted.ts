import type { ControlApi } from '../../api/control-api.js';
import { RequestError } from '../../http/errors.js';
import type { KeyToRevoke, ListCheck, Revocation, RevocationOutcome } from '../../keys/revocation.js';
import type { Deadline } from '../../time/deadline.js';

/** Milliseconds. A shorter timeout would cut off a service that is only slow. */
const minRequestTimeout = 1_000;

interface MintedKeyContext {
  readonly minted: KeyToRevoke & { readonly api: ControlApi };
  /** Undefined unless post has the parent key that main used. */
  readonly parent: ControlApi | undefined;
  readonly deadline: Deadline;
  readonly listCheckFor: (api: ControlApi) => ListCheck;
}

/** The minted key revokes itself. The parent key revokes it only if the service rejects the minted key. */
export class MintedKeyRevocation {
  readonly #context: MintedKeyContext;
  /** Why the minted key could not revoke itself. */
  #rejection: RequestError | undefined;
  #isForbidden = false;
  /** True once the parent key has found no other key with this id in the list. */
  #mayBeOurs = false;

  constructor(context: MintedKeyContext) {
    this.#context = context;
  }

  /** True if the service rejects every key that post has. */
  get isForbidden(): boolean {
    return this.#isForbidden;
  }

  /** Resolves only if the key is confirmed as gone. */
  async attempt(revocation: Revocation): Promise<RevocationOutcome> {
    const { minted, parent, deadline, listCheckFor } = this.#context;
    this.#isForbidden = false;
    if (this.#rejection === undefined || parent === undefined) {
      try {
        // Half of the remaining time, so that one exchange that hangs leaves time for another.
        const shortened = minted.api.withRequestTimeout(Math.max(minRequestTimeout, deadline.remaining / 2));
        return await revocation.attempt(shortened, deadline, listCheckFor(minted.api));
      } catch (error) {
        if (!(error instanceof RequestError) || !(error.isPermanent || error.isServiceStatus(404))) throw error;
        if (parent === undefined) {
          // A key that gets 401 is gone. The list would be better proof, but only the parent key could read it.
          if (error.isServiceStatus(401)) return revocation.outcome;
          this.#isForbidden = error.isPermanent;
          throw error;
        }
        this.#rejection = error;
      }
    }
    return await this.#attemptWithParent(parent, this.#rejection, revocation);
  }

  async #attemptWithParent(
    parent: ControlApi,
    rejection: RequestError,
    revocation: Revocation,
  ): Promise<RevocationOutcome> {
    const { minted, deadline, listCheckFor } = this.#context;
    const isListed = listCheckFor(parent);
    try {
      if (!this.#mayBeOurs) {
        // The id may belong to another key by now, which must not be touched. After a 401 the minted key is most likely
        // gone, so this check must succeed. In other cases an unreadable list does not matter.
        const listed = await isListed(minted).catch((error: unknown) => {
          if (rejection.isServiceStatus(401) || !(error instanceof RequestError)) throw error;
          return 'unknown' as const;
        });
        if (listed === false) return revocation.outcome;
        this.#mayBeOurs = true;
      }
      return await revocation.attempt(parent, deadline, isListed);
    } catch (error) {
      // A 401 for both keys may be a fault of the service, so it is retried.
      this.#isForbidden = error instanceof RequestError && error.isPermanent && !error.isServiceStatus(401);
      throw error;
    }
  }
}
