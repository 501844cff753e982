import { ApiError } from '../api/errors.js';
import type { MintedKey } from '../api/keys.js';
import { fiveTries, type Manner, withRetries } from '../api/retry.js';
import type { Collaborators } from './collaborators.js';
import { keyName, type Run } from './keys/key-name.js';
import { keysNamed, Revocation } from './keys/revocation.js';
import type { OnFailure } from './keys/trace.js';

export interface CreateKeySettings {
  readonly label: string;
  readonly run: Run;
  readonly revokeInPost: boolean;
  readonly onRevokeFailure: OnFailure;
  /** The environment variable that also gets the key. */
  readonly exportTo: string | undefined;
}

/** What is to be known after this process, whatever becomes of it. */
export interface Left {
  readonly name: string;
  /** Whether a key may have been made that nobody heard of. */
  readonly unclear: boolean;
  readonly minted: MintedKey | undefined;
  /** Whether that key is to be revoked, too. */
  readonly revoke: boolean;
}

/** Where a secret and the way back are kept, before anything else happens. */
export interface Keeper {
  /** From now on nothing prints it. */
  mask(secret: string): void;
  /** Nothing: there is nothing to be undone. */
  leave(left: Left | undefined): void;
}

export type Created = { readonly name: string } & (
  | { readonly minted: MintedKey; readonly unclear: boolean }
  | { readonly minted: undefined; readonly failure: unknown; readonly unclear: boolean }
);

export function createKey(settings: CreateKeySettings, collaborators: Collaborators, keeper: Keeper): Promise<Created> {
  return new Minting(settings, collaborators, keeper).run();
}

/** The outputs are out. A key that was not handed on would be nobody's: until then post revokes it in any case. */
export function handedOn(
  { name, minted, unclear }: Created,
  { revokeInPost }: CreateKeySettings,
  keeper: Keeper,
): void {
  if (minted === undefined || revokeInPost) return;
  keeper.leave(unclear ? { name, unclear, minted, revoke: false } : undefined);
}

/**
 * An unclear create whose key could not be looked for. Never tried again: that could make a second one, and post looks for
 * the first.
 */
class LeftUnclear extends ApiError {
  constructor(create: ApiError, search: ApiError) {
    super(
      `${create.message}. Whether that made a key could not be seen: ${search.message}`,
      { status: search.status, transient: false },
      { cause: search },
    );
  }
}

class Minting {
  readonly #collaborators: Collaborators;
  readonly #keeper: Keeper;
  readonly #manner: Manner;
  readonly #name: string;
  #unclear = false;

  constructor(settings: CreateKeySettings, collaborators: Collaborators, keeper: Keeper) {
    const { limit, random } = collaborators;
    this.#collaborators = collaborators;
    this.#keeper = keeper;
    this.#manner = { limit, retry: fiveTries(random) };
    this.#name = keyName(settings.label, settings.run, random);
  }

  async run(): Promise<Created> {
    const name = this.#name;
    // Before the request: a process that is killed while it is under way has left its name.
    this.#keeper.leave({ name, unclear: true, minted: undefined, revoke: true });
    try {
      const minted = await withRetries(() => this.#try(), this.#manner);
      this.#keeper.mask(minted.secret);
      const made = { name, unclear: this.#unclear, minted };
      this.#keeper.leave({ ...made, revoke: true });
      return made;
    } catch (failure) {
      if (!this.#unclear) this.#keeper.leave(undefined);
      return { name, minted: undefined, failure, unclear: this.#unclear };
    }
  }

  /** Once it was unclear it stays so: an answer that was given up can still be carried out. */
  async #try(): Promise<MintedKey> {
    const { api, limit } = this.#collaborators;
    const wasUnclear = this.#unclear;
    this.#unclear = true;
    try {
      const minted = await api.createKey(this.#name, limit);
      this.#unclear = wasUnclear;
      return minted;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.unclear) await this.#revokeWhatWasMade(error);
      else this.#unclear = wasUnclear;
      throw error;
    }
  }

  /** A key whose secret nobody saw is of no use to anybody but a thief. */
  async #revokeWhatWasMade(create: ApiError): Promise<void> {
    const { api, log } = this.#collaborators;
    log.info(`${create.message}. A key may have been made all the same: looking for it by its name, ${this.#name}.`);
    try {
      const revocation = new Revocation(api, this.#manner);
      for (const { id } of await keysNamed(this.#name, api, this.#manner)) {
        await revocation.revoke(id);
        log.info(`Key ${id} was made, and is revoked: its secret was never seen.`);
      }
    } catch (error) {
      throw error instanceof ApiError ? new LeftUnclear(create, error) : error;
    }
  }
}
