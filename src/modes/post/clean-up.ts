import type { ControlApi } from '../../api/control-api.js';
import type { Key, KeyList } from '../../api/keys.js';
import { fieldTime } from '../../api/records.js';
import { RequestError, RetryAfterExceedsDeadline } from '../../http/errors.js';
import { noRetry } from '../../http/retry.js';
import type { PostState } from '../../keys/post-state.js';
import {
  includesKey,
  incompleteKeyList,
  type ListCheck,
  mapConcurrently,
  Revocation,
  type RevocationOutcome,
} from '../../keys/revocation.js';
import { DeadlineExceeded } from '../../time/deadline.js';
import type { Collaborators } from '../mode.js';
import { MintedKeyRevocation } from './revoke-minted.js';

/** Milliseconds between two rounds: the pause doubles from `firstPause` to `maxPause`. */
const firstPause = 250;
const maxPause = 2_000;
/** Milliseconds. No pause is shorter, even close to the deadline. */
const minPause = 250;
/** Milliseconds kept at the end for revoking the minted key. If its first try hangs, a second one still fits. */
const reservedForMinted = 4_000;
/** Milliseconds. The last search with the minted key is due this long before its revocation. */
const reservedForLastSearch = 500;
/** Milliseconds. The last search is due this long before the deadline, so that a failed one can be repeated. */
const lastSearchBeforeEnd = 1_500;

type CleanUpState = Pick<PostState, 'name' | 'mayHaveStrayKey' | 'revoke' | 'since'>;

export interface Credentials {
  /** Uses the minted key. Undefined if the state holds none. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Uses the parent key. Undefined unless that key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export interface RevokedKey {
  readonly id: string;
  readonly outcome: RevocationOutcome;
  /** Milliseconds since 1970. Undefined if the time of creation is unknown. */
  readonly since: number | undefined;
}

export interface CleanUpResult {
  readonly revoked: readonly RevokedKey[];
  /** Ids of keys that are not confirmed as gone. */
  readonly unconfirmed: readonly string[];
  /** True if there may be a key whose id is unknown. */
  readonly mayHaveStrayKey: boolean;
  /** Why a key may still be alive. Undefined if every key is confirmed as gone. */
  readonly failure: unknown;
}

/** Post has no key that it could search with. */
export class NoCredential extends Error {}

/** Revokes the keys of main. A failed request does not throw: the result names the keys that may still be alive. */
export function cleanUp(
  state: CleanUpState,
  credentials: Credentials,
  collaborators: Omit<Collaborators, 'api'>,
): Promise<CleanUpResult> {
  return new CleanUp(state, credentials, collaborators).run();
}

/** A key that was created and is not yet confirmed as gone. */
interface PendingKey {
  readonly since: number | undefined;
  readonly revocation: Revocation;
  /** End of the lock that a 423 announced, on the step's clock. */
  readonly notBefore?: number;
  /** The 423 response. */
  readonly failure?: unknown;
}

/** The service asked for a pause, so this round sends nothing more. */
class RetryLater extends Error {}

class CleanUp {
  readonly #state: CleanUpState;
  readonly #credentials: Credentials;
  readonly #collaborators: Omit<Collaborators, 'api'>;
  readonly #mintedRevocation: MintedKeyRevocation | undefined;
  readonly #pending = new Map<string, PendingKey>();
  readonly #revoked = new Map<string, RevokedKey & PendingKey>();
  /** Clients that the service does not allow to read the list of keys. */
  readonly #rejected = new Set<ControlApi>();
  /** True if the latest search read the complete list. A search that ran out of time does not change it. */
  #searchSucceeded = false;
  /** Why the latest search failed. */
  #searchFailure: unknown;
  /** The last failure of this round. */
  #failure: unknown;
  /** True if another round cannot help. */
  #isHopeless = false;

  constructor(state: CleanUpState, credentials: Credentials, collaborators: Omit<Collaborators, 'api'>) {
    this.#state = state;
    this.#credentials = credentials;
    this.#collaborators = collaborators;
    const { minted, parent } = credentials;
    if (minted === undefined || !state.revoke) return;
    const { deadline } = collaborators;
    const key = { id: minted.id, name: state.name };
    this.#mintedRevocation = new MintedKeyRevocation({
      minted: { ...key, api: minted.api },
      parent,
      deadline,
      listCheckFor: (api) => this.#listCheckFor(api),
    });
    this.#pending.set(minted.id, { since: state.since, revocation: new Revocation(key) });
  }

  /** Repeats rounds: a failed request is retried, and a create that timed out can still take effect. */
  async run(): Promise<CleanUpResult> {
    const { deadline, random } = this.#collaborators;
    let pause = firstPause;
    let failure: unknown;
    try {
      for (;;) {
        const retryAfterMs = await this.#round();
        failure = this.#failure;
        if (this.#isHopeless || this.#isForbidden || (failure === undefined && this.#isDone)) break;
        await deadline.sleep(Math.max(retryAfterMs, this.#untilNextRound(pause * (0.5 + random() / 2))));
        pause = Math.min(maxPause, pause * 2);
      }
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      failure ??= this.#failure;
      // The deadline may cut the last round short. The result of the round before it stands.
      if (failure !== undefined || this.#pending.size > 0 || !this.#isSearchComplete)
        failure = new DeadlineExceeded(failure);
    }
    if (failure === undefined && !this.#isSearchComplete) failure = this.#searchFailure ?? new DeadlineExceeded();
    const mayHaveStrayKey = failure !== undefined && !this.#isSearchComplete;
    const revoked = [...this.#revoked.values()].map(({ id, outcome, since }) => ({ id, outcome, since }));
    return { revoked, unconfirmed: [...this.#pending.keys()], mayHaveStrayKey, failure };
  }

  get #isSearchComplete(): boolean {
    return !this.#state.mayHaveStrayKey || this.#searchSucceeded;
  }

  get #isDone(): boolean {
    if (this.#pending.size > 0) return false;
    return (
      !this.#state.mayHaveStrayKey ||
      this.#collaborators.deadline.remaining <= lastSearchBeforeEnd ||
      this.#searchApi === undefined
    );
  }

  /** True if post has no key that may revoke the minted key, and nothing else to do. */
  get #isForbidden(): boolean {
    return this.#mintedRevocation?.isForbidden === true && !this.#state.mayHaveStrayKey;
  }

  /** The client that searches: with the minted key until it is revoked, then with the parent key. */
  get #searchApi(): ControlApi | undefined {
    const { minted, parent } = this.#credentials;
    const isMintedGone = this.#revoked.has(minted?.id ?? '');
    return [isMintedGone ? undefined : minted?.api, parent].find(
      (api) => api !== undefined && !this.#rejected.has(api),
    );
  }

  /** The minted key searches for other keys, so it is revoked last. */
  get #mintedIsNeeded(): boolean {
    const { minted } = this.#credentials;
    return this.#state.mayHaveStrayKey && minted !== undefined && this.#searchApi === minted.api;
  }

  /** From now on, revoking the minted key comes first. */
  get #isLate(): boolean {
    return this.#collaborators.deadline.remaining <= reservedForMinted;
  }

  #untilNextRound(pause: number): number {
    const { remaining } = this.#collaborators.deadline;
    const own = this.#mintedIsNeeded
      ? [remaining - reservedForMinted - reservedForLastSearch, remaining - reservedForMinted]
      : [];
    const moments = [remaining - lastSearchBeforeEnd, ...own];
    // Pauses get shorter towards the deadline, which leaves time for more tries. The lower bound keeps them above 0.
    return Math.max(minPause, Math.min(pause, remaining / 4, ...moments.filter((ms) => ms > 0)));
  }

  /** Returns how long the service asks to pause, in milliseconds. */
  async #round(): Promise<number> {
    this.#failure = undefined;
    try {
      const wasLate = this.#isLate;
      if (wasLate) await this.#attemptMinted();
      if (this.#state.mayHaveStrayKey) await this.#search();
      await this.#attemptOthers();
      // The minted key is not revoked while it searches for others, unless the search used up the time for that.
      if (!wasLate && (this.#isLate || !this.#mintedIsNeeded)) await this.#attemptMinted();
      return 0;
    } catch (error) {
      if (!(error instanceof RetryLater)) throw error;
      return (error.cause as RequestError).retryAfterMs ?? 0;
    }
  }

  async #attemptMinted(): Promise<void> {
    const id = this.#credentials.minted?.id ?? '';
    const [mintedRevocation, pending] = [this.#mintedRevocation, this.#pending.get(id)];
    if (mintedRevocation !== undefined && pending !== undefined)
      await this.#attempt(id, pending, () => mintedRevocation.attempt(pending.revocation));
  }

  async #attemptOthers(): Promise<void> {
    const api = this.#searchApi;
    if (api === undefined) return;
    const { deadline } = this.#collaborators;
    const others = [...this.#pending].filter(([id]) => id !== this.#credentials.minted?.id);
    await mapConcurrently(others, ([id, pending]) =>
      this.#attempt(id, pending, () => pending.revocation.attempt(api, deadline, this.#listCheckFor(api))),
    );
  }

  async #search(): Promise<void> {
    const { deadline } = this.#collaborators;
    const { name } = this.#state;
    const isMintedOpen = this.#pending.has(this.#credentials.minted?.id ?? '');
    const searchDeadline = isMintedOpen ? deadline.within(deadline.remaining - reservedForMinted) : deadline;
    // The remaining time is for revoking the minted key.
    if (searchDeadline.isExpired) return;
    for (let api = this.#searchApi; api !== undefined; api = this.#searchApi) {
      try {
        const list = await api.keys({ deadline: searchDeadline, retry: noRetry });
        this.#dropReusedIds(list, api);
        for (const key of list.keys) if (key.name === name) this.#track(key);
        if (!list.isComplete) throw incompleteKeyList();
        this.#searchSucceeded = true;
        return;
      } catch (error) {
        if (error instanceof DeadlineExceeded) return this.#handleSearchTimeout(error);
        this.#searchSucceeded = false;
        this.#searchFailure = error;
        this.#handleFailure(error);
        if (!(error as RequestError).isPermanent) return;
        this.#rejected.add(api);
      }
    }
    // The only key that could search is gone by now. An earlier search was complete, so nothing has failed.
    if (this.#searchSucceeded) return;
    this.#searchFailure ??= new NoCredential();
    this.#failure = this.#searchFailure;
    this.#isHopeless = this.#pending.size === 0;
  }

  /** The time for a search ended before its response. The result of an earlier search stands. */
  #handleSearchTimeout(error: DeadlineExceeded): void {
    if (!this.#searchSucceeded) {
      this.#failure = error;
      this.#searchFailure ??= error;
    }
    if (this.#collaborators.deadline.isExpired) throw error;
  }

  /**
   * If the list shows an id under another name, the service has reused the id. Our key is gone, and the other key is
   * not touched.
   */
  #dropReusedIds({ keys }: KeyList, reader: ControlApi): void {
    const { minted } = this.#credentials;
    for (const [id, { since, revocation }] of this.#pending) {
      const listed = keys.find((key) => key.id === id)?.name ?? this.#state.name;
      // A key that can read the list is alive, whatever name the list shows.
      if (listed === this.#state.name || (reader === minted?.api && id === minted.id)) continue;
      this.#pending.delete(id);
      this.#revoked.set(id, { id, outcome: revocation.outcome, since, revocation });
    }
  }

  #track(key: Key): void {
    const { revoke } = this.#state;
    const { minted } = this.#credentials;
    if (this.#pending.has(key.id) || (key.id === minted?.id && !revoke)) return;
    const revoked = this.#revoked.get(key.id);
    if (revoked?.revocation.isConfirmed) return;
    // Earlier responses only suggested that the key was gone. The list shows that it is not.
    this.#revoked.delete(key.id);
    const since = revoked?.since ?? fieldTime(key, 'created_at');
    this.#pending.set(key.id, { since, revocation: new Revocation(key) });
    if (key.id !== minted?.id)
      this.#collaborators.log.info(
        `Key ${key.id} was created by a request that got no usable response: nobody has its secret.`,
      );
  }

  async #attempt(id: string, pending: PendingKey, revoke: () => Promise<RevocationOutcome>): Promise<void> {
    const { clock } = this.#collaborators.deadline;
    const { since, revocation, notBefore = 0 } = pending;
    if (clock.now() < notBefore) {
      this.#failure = pending.failure;
      return;
    }
    try {
      const outcome = await revoke();
      this.#pending.delete(id);
      this.#revoked.set(id, { id, outcome, since, revocation });
    } catch (error) {
      const { status, retryAfterMs = 0 } = error instanceof RequestError ? error : {};
      // A 423 locks this key alone, so the round goes on with the others.
      if (status !== 423 || retryAfterMs > this.#collaborators.deadline.remaining) return this.#handleFailure(error);
      this.#pending.set(id, { ...pending, notBefore: clock.now() + retryAfterMs, failure: error });
      this.#failure = error;
    }
  }

  #listCheckFor(api: ControlApi): ListCheck {
    const { deadline } = this.#collaborators;
    return async (key) => {
      try {
        return includesKey(await api.keys({ deadline, retry: noRetry }), key);
      } catch (error) {
        // A 423 or 429 for the list concerns all keys. It is not a lock on this one.
        if (error instanceof RequestError && error.isThrottled) this.#handleFailure(error);
        throw error;
      }
    };
  }

  /** Records a failed request, and whether another round can help. */
  #handleFailure(error: unknown): void {
    if (!(error instanceof RequestError)) throw error;
    this.#failure = error;
    // This request can never be sent, for example because a proxy variable is invalid.
    if (!error.transient && !error.mayHaveTakenEffect && error.status === undefined) this.#isHopeless = true;
    const { deadline } = this.#collaborators;
    const retryAfterMs = error.retryAfterMs ?? 0;
    // A 429 ends the round even without `Retry-After`: more requests would only add to the load.
    if (retryAfterMs === 0 && error.status !== 429) return;
    if (retryAfterMs > deadline.remaining) {
      this.#failure = new RetryAfterExceedsDeadline(error, deadline.remaining);
      this.#isHopeless = true;
    }
    throw new RetryLater('', { cause: error });
  }
}
