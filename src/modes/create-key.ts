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
  /** The environment variable that also gets the key. */
  readonly exportTo: string | undefined;
}

/** What post must know of the key, whatever becomes of this process. */
export type KeyState = Pick<PostState, 'name' | 'unclear' | 'minted' | 'revoke'>;

/** Where a secret and the way back are kept, before anything else happens. */
export interface PostStateStore {
  /** From now on nothing prints it. */
  mask(secret: string): void;
  /** Nothing: there is nothing to be undone. */
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

/** The outputs are out. A key that was not handed on would be nobody's: until then post revokes it in any case. */
export function handedOn(
  { name, minted, unclear }: Created,
  { revokeInPost }: CreateKeySettings,
  store: PostStateStore,
): void {
  if (minted === undefined || revokeInPost) return;
  store.save(unclear ? { name, unclear, minted, revoke: false } : undefined);
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

/** Each may make a key later than anybody looks for it. A page with 429 counts too: who sent it is not known. */
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
    // Before the request: a process that is killed while it is under way has left its name.
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
      if (!error.unclear) {
        this.#unclear = wasUnclear;
        throw error;
      }
      await this.#revokeWhatWasMade(error);
      const transient = error.transient && ++this.#ambiguousCreates < maxAmbiguousCreates;
      // What was asked for in patience was given before the search.
      throw new ApiError(error.message, { ...error, transient, retryAfter: undefined }, { cause: error });
    }
  }

  /** A key whose secret nobody saw is of no use to anybody but a thief. */
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
