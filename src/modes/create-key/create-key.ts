import type { MintedKey } from '../../api/keys.js';
import { RequestError } from '../../http/errors.js';
import { checkRetryAfter, type RequestPolicy, withRetries } from '../../http/retry.js';
import { makeKeyName, type WorkflowRun } from '../../keys/key-name.js';
import type { OnFailure, PostState } from '../../keys/post-state.js';
import { incompleteKeyList, listKeysNamed, revokeEach } from '../../keys/revocation.js';
import { type Collaborators, defaultPolicy } from '../mode.js';

export interface CreateKeySettings {
  readonly label: string;
  readonly run: WorkflowRun;
  readonly revokeInPost: boolean;
  readonly onRevokeFailure: OnFailure;
  /** Name of an environment variable that also receives the key. */
  readonly exportTo: string | undefined;
}

/** Post needs this even if the process of main is killed. */
type KeyState = Pick<PostState, 'name' | 'mayHaveStrayKey' | 'minted' | 'revoke'>;

/** Main masks the key and saves the state for post before any other use of the key. */
export interface PostStateStore {
  /** Hides the secret in everything that is printed later. */
  mask(secret: string): void;
  /** Undefined: there is nothing to revoke. */
  save(state: KeyState | undefined): void;
}

export type CreateKeyResult = Pick<KeyState, 'name' | 'mayHaveStrayKey'> &
  ({ readonly minted: MintedKey } | { readonly minted: undefined; readonly failure: unknown });

export function createKey(
  settings: CreateKeySettings,
  collaborators: Collaborators,
  store: PostStateStore,
): Promise<CreateKeyResult> {
  return new KeyCreation(settings, collaborators, store).run();
}

/** The arguments of `PostStateStore`, once the outputs are written. */
export interface StateAfterOutputs {
  readonly onFailure: OnFailure;
  readonly state: KeyState | undefined;
}

/**
 * Until the outputs are written, post revokes the key even with `revoke-in-post: false`: no later step has received it.
 * Undefined: the state stays as it is.
 */
export function stateAfterOutputs(
  { name, minted, mayHaveStrayKey }: CreateKeyResult,
  { revokeInPost, onRevokeFailure }: CreateKeySettings,
): StateAfterOutputs | undefined {
  if (minted === undefined || revokeInPost) return undefined;
  const state = mayHaveStrayKey ? { name, mayHaveStrayKey, minted, revoke: false } : undefined;
  return { onFailure: onRevokeFailure, state };
}

/**
 * The create may have made a key, and the search for that key failed. A retry could make a second key, so it is not
 * retried. Post searches for the first one.
 */
class KeyLookupFailed extends RequestError {
  constructor(createError: RequestError, searchError: RequestError) {
    super(
      `${createError.message}. Could not check whether a key was created: ${searchError.message}`,
      { status: searchError.status, transient: false },
      { cause: searchError },
    );
  }
}

/**
 * A promise of the contract: each of these creates may make a key after the last search. A 429 with an HTML page counts
 * too, because its sender is unknown.
 */
const maxAmbiguousCreates = 5;

class KeyCreation {
  readonly #collaborators: Collaborators;
  readonly #store: PostStateStore;
  readonly #policy: RequestPolicy;
  readonly #name: string;
  #mayHaveStrayKey = false;
  #ambiguousCreates = 0;

  constructor(settings: CreateKeySettings, collaborators: Collaborators, store: PostStateStore) {
    this.#collaborators = collaborators;
    this.#store = store;
    this.#policy = defaultPolicy(collaborators);
    this.#name = makeKeyName(
      settings.label,
      { run: settings.run, isKept: !settings.revokeInPost },
      collaborators.random,
    );
  }

  async run(): Promise<CreateKeyResult> {
    const name = this.#name;
    // Saved before the request, so that post knows the name if this process is killed during the request.
    this.#store.save({ name, mayHaveStrayKey: true, minted: undefined, revoke: true });
    const minted = await withRetries(() => this.#attempt(), this.#policy).catch((failure: unknown) => ({ failure }));
    if ('failure' in minted) {
      if (!this.#mayHaveStrayKey) this.#store.save(undefined);
      return { name, mayHaveStrayKey: this.#mayHaveStrayKey, minted: undefined, failure: minted.failure };
    }
    this.#store.mask(minted.secret);
    this.#store.save({ name, mayHaveStrayKey: this.#mayHaveStrayKey, minted, revoke: true });
    return { name, mayHaveStrayKey: this.#mayHaveStrayKey, minted };
  }

  /** After one ambiguous create the state stays ambiguous: a request that timed out can still take effect. */
  async #attempt(): Promise<MintedKey> {
    const { api, deadline } = this.#collaborators;
    const hadStrayKey = this.#mayHaveStrayKey;
    this.#mayHaveStrayKey = true;
    try {
      const minted = await api.createKey(this.#name, deadline);
      this.#mayHaveStrayKey = hadStrayKey;
      return minted;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (!error.mayHaveTakenEffect) {
        this.#mayHaveStrayKey = hadStrayKey;
        throw error;
      }
      await this.#revokeStrayKeys(error);
      const transient = error.transient && ++this.#ambiguousCreates < maxAmbiguousCreates;
      // The search has already waited for `Retry-After`.
      throw new RequestError(error.message, { ...error, transient, retryAfterMs: undefined }, { cause: error });
    }
  }

  /** No step has the secret of such a key, so the key is useless and only a risk. */
  async #revokeStrayKeys(createError: RequestError): Promise<void> {
    const { api, deadline, log } = this.#collaborators;
    log.info(`${createError.message}. A key may have been created anyway: searching for keys named ${this.#name}.`);
    try {
      checkRetryAfter(createError, deadline);
      await deadline.sleep(createError.retryAfterMs ?? 0);
      const { keys, isComplete } = await listKeysNamed(this.#name, api, this.#policy);
      for (const result of await revokeEach(keys, api, this.#policy, log))
        if ('failure' in result) throw result.failure;
      if (!isComplete) throw incompleteKeyList();
    } catch (error) {
      throw error instanceof RequestError ? new KeyLookupFailed(createError, error) : error;
    }
  }
}
