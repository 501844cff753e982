import type { MintedKey } from '../api/keys.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { type Manner, withRetries } from '../http/retry.js';
import type { Collaborators } from './collaborators.js';
import { revokeEach } from './keys/fates.js';
import { keyName, type Run } from './keys/key-name.js';
import type { OnFailure, PostState } from './keys/post-state.js';
import { incompleteKeyList, keysNamed, Revoker } from './keys/revocation.js';
import { patiently } from './patience.js';

export interface CreateKeySettings {
  readonly label: string;
  readonly run: Run;
  readonly revokeInPost: boolean;
  readonly onRevokeFailure: OnFailure;
  /** Name of an environment variable that also receives the key. */
  readonly exportTo: string | undefined;
}

/** Post needs this even if the process of main is killed. */
export type KeyState = Pick<PostState, 'name' | 'unclear' | 'minted' | 'revoke'>;

/** Main masks the key and saves the state for post before any other use of the key. */
export interface PostStateStore {
  /** Hides the secret in everything that is printed later. */
  mask(secret: string): void;
  /** Undefined: there is nothing to revoke. */
  save(state: KeyState | undefined): void;
}

export type Created = Pick<KeyState, 'name' | 'unclear'> &
  ({ readonly minted: MintedKey } | { readonly minted: undefined; readonly failure: unknown });

export function createKey(
  settings: CreateKeySettings,
  collaborators: Collaborators,
  store: PostStateStore,
): Promise<Created> {
  return new Minting(settings, collaborators, store).run();
}

/**
 * Until the outputs are written, post revokes the key even with `revoke-in-post: false`: no later step has received it.
 */
export function handedOn(
  { name, minted, unclear }: Created,
  { revokeInPost }: CreateKeySettings,
  store: PostStateStore,
): void {
  if (minted === undefined || revokeInPost) return;
  store.save(unclear ? { name, unclear, minted, revoke: false } : undefined);
}

/**
 * The create may have made a key, and the search for that key failed. A retry could make a second key, so it is not
 * retried. Post searches for the first one.
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

/**
 * A promise of the contract: each of these creates may make a key after the last search. A 429 with an HTML page counts
 * too, because its sender is unknown.
 */
const maxAmbiguousCreates = 5;

class Minting {
  readonly #collaborators: Collaborators;
  readonly #store: PostStateStore;
  readonly #manner: Manner;
  readonly #name: string;
  #unclear = false;
  #ambiguousCreates = 0;

  constructor(settings: CreateKeySettings, collaborators: Collaborators, store: PostStateStore) {
    this.#collaborators = collaborators;
    this.#store = store;
    this.#manner = patiently(collaborators);
    this.#name = keyName(settings.label, { run: settings.run, isKept: !settings.revokeInPost }, collaborators.random);
  }

  async run(): Promise<Created> {
    const name = this.#name;
    // Saved before the request, so that post knows the name if this process is killed during the request.
    this.#store.save({ name, unclear: true, minted: undefined, revoke: true });
    const minted = await withRetries(() => this.#try(), this.#manner).catch((failure: unknown) => ({ failure }));
    if ('failure' in minted) {
      if (!this.#unclear) this.#store.save(undefined);
      return { name, unclear: this.#unclear, minted: undefined, failure: minted.failure };
    }
    this.#store.mask(minted.secret);
    this.#store.save({ name, unclear: this.#unclear, minted, revoke: true });
    return { name, unclear: this.#unclear, minted };
  }

  /** After one ambiguous create the state stays ambiguous: a request that timed out can still take effect. */
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
      if (!error.unclear) {
        this.#unclear = wasUnclear;
        throw error;
      }
      await this.#revokeWhatWasMade(error);
      const transient = error.transient && ++this.#ambiguousCreates < maxAmbiguousCreates;
      // The search has already waited for `Retry-After`.
      throw new ApiError(error.message, { ...error, transient, retryAfter: undefined }, { cause: error });
    }
  }

  /** No step has the secret of such a key, so the key is useless and only a risk. */
  async #revokeWhatWasMade(create: ApiError): Promise<void> {
    const { api, limit, log } = this.#collaborators;
    log.info(`${create.message}. A key may have been made all the same: looking for it by its name, ${this.#name}.`);
    try {
      const asked = create.retryAfter ?? 0;
      if (asked > limit.left) throw new AskedToWaitTooLong(create, limit.left);
      if (asked > 0) await limit.sleep(asked);
      const { keys, isComplete } = await keysNamed(this.#name, api, this.#manner);
      for (const fate of await revokeEach(keys, new Revoker(api, this.#manner), log))
        if ('failure' in fate) throw fate.failure;
      if (!isComplete) throw incompleteKeyList();
    } catch (error) {
      throw error instanceof ApiError ? new LeftUnclear(create, error) : error;
    }
  }
}
