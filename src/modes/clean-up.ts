import type { ControlApi } from '../api/control-api.js';
import type { Key, KeyList } from '../api/keys.js';
import { timeOf } from '../api/records.js';
import { ApiError, AskedToWaitTooLong } from '../http/errors.js';
import { once } from '../http/retry.js';
import { TimeUp } from '../time/limit.js';
import type { Collaborators } from './collaborators.js';
import { fewAtATime } from './few-at-a-time.js';
import { MintedEnd } from './keys/minted-end.js';
import type { PostState } from './keys/post-state.js';
import { type Gone, type IsListed, includesKey, incompleteKeyList, Revocation } from './keys/revocation.js';

/** Milliseconds between two rounds: the pause doubles from `shortestPause` to `longestPause`. */
const shortestPause = 250;
const longestPause = 2_000;
/** Milliseconds. No pause is shorter, even close to the deadline. */
const leastPause = 250;
/** Milliseconds kept at the end for revoking the minted key. If its first try hangs, a second one still fits. */
const forTheMinted = 4_000;
/** Milliseconds. The last search with the minted key is due this long before its revocation. */
const forItsLastLook = 500;
/** Milliseconds. The last search is due this long before the deadline, so that a failed one can be repeated. */
const nearlyOver = 1_500;

type Remains = Pick<PostState, 'name' | 'unclear' | 'revoke' | 'since'>;

export interface Credentials {
  /** Uses the minted key. Undefined if the state holds none. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  /** Uses the parent key. Undefined unless that key sealed the state. */
  readonly parent: ControlApi | undefined;
}

export interface RevokedKey {
  readonly id: string;
  readonly gone: Gone;
  /** Milliseconds since 1970. Undefined if the time of creation is unknown. */
  readonly since: number | undefined;
}

export interface CleanedUp {
  readonly revoked: readonly RevokedKey[];
  /** Ids of keys that are not confirmed as gone. */
  readonly left: readonly string[];
  /** True if there may be a key whose id is unknown. */
  readonly isUnseen: boolean;
  /** Why a key may still be alive. Undefined if every key is confirmed as gone. */
  readonly failure: unknown;
}

/** Post has no key that it could search with. */
export class NoCredential extends Error {}

/** Revokes the keys of main. A failed request does not throw: the result names the keys that may still be alive. */
export function cleanUp(
  trace: Remains,
  credentials: Credentials,
  collaborators: Omit<Collaborators, 'api'>,
): Promise<CleanedUp> {
  return new CleanUp(trace, credentials, collaborators).run();
}

/** A key that was created and is not yet confirmed as gone. */
interface Open {
  readonly since: number | undefined;
  readonly revocation: Revocation;
  /** End of the lock that a 423 announced, on the step's clock. */
  readonly notBefore?: number;
  /** The 423 response. */
  readonly failure?: unknown;
}

/** The service asked for a pause, so this round sends nothing more. */
class LeaveAlone extends Error {}

class CleanUp {
  readonly #trace: Remains;
  readonly #credentials: Credentials;
  readonly #collaborators: Omit<Collaborators, 'api'>;
  readonly #mintedEnd: MintedEnd | undefined;
  readonly #open = new Map<string, Open>();
  readonly #revoked = new Map<string, RevokedKey & Open>();
  /** Clients that the service does not allow to read the list of keys. */
  readonly #refused = new Set<ControlApi>();
  /** True if the latest search read the complete list. A search that ran out of time does not change it. */
  #isSeen = false;
  /** Why the latest search failed. */
  #whyUnseen: unknown;
  /** The last failure of this round. */
  #failure: unknown;
  /** True if another round cannot help. */
  #isHopeless = false;

  constructor(trace: Remains, credentials: Credentials, collaborators: Omit<Collaborators, 'api'>) {
    this.#trace = trace;
    this.#credentials = credentials;
    this.#collaborators = collaborators;
    const { minted, parent } = credentials;
    if (minted === undefined || !trace.revoke) return;
    const { limit } = collaborators;
    const key = { id: minted.id, name: trace.name };
    this.#mintedEnd = new MintedEnd({
      minted: { ...key, api: minted.api },
      parent,
      limit,
      isListedFor: (api) => this.#isListedFor(api),
    });
    this.#open.set(minted.id, { since: trace.since, revocation: new Revocation(key) });
  }

  /** Repeats rounds: a failed request is retried, and a create that timed out can still take effect. */
  async run(): Promise<CleanedUp> {
    const { limit, random } = this.#collaborators;
    let pause = shortestPause;
    let failure: unknown;
    try {
      for (;;) {
        const leaveAlone = await this.#round();
        failure = this.#failure;
        if (this.#isHopeless || this.#isRefused || (failure === undefined && this.#isDone)) break;
        await limit.sleep(Math.max(leaveAlone, this.#untilNextRound(pause * (0.5 + random() / 2))));
        pause = Math.min(longestPause, pause * 2);
      }
    } catch (error) {
      if (!(error instanceof TimeUp)) throw error;
      failure ??= this.#failure;
      // The deadline may cut the last round short. The result of the round before it stands.
      if (failure !== undefined || this.#open.size > 0 || !this.#hasSeenAll) failure = new TimeUp(failure);
    }
    if (failure === undefined && !this.#hasSeenAll) failure = this.#whyUnseen ?? new TimeUp();
    const isUnseen = failure !== undefined && !this.#hasSeenAll;
    const revoked = [...this.#revoked.values()].map(({ id, gone, since }) => ({ id, gone, since }));
    return { revoked, left: [...this.#open.keys()], isUnseen, failure };
  }

  get #hasSeenAll(): boolean {
    return !this.#trace.unclear || this.#isSeen;
  }

  get #isDone(): boolean {
    if (this.#open.size > 0) return false;
    return !this.#trace.unclear || this.#collaborators.limit.left <= nearlyOver || this.#looker === undefined;
  }

  /** True if post has no key that may revoke the minted key, and nothing else to do. */
  get #isRefused(): boolean {
    return this.#mintedEnd?.isRefused === true && !this.#trace.unclear;
  }

  /** The client that searches: with the minted key until it is revoked, then with the parent key. */
  get #looker(): ControlApi | undefined {
    const { minted, parent } = this.#credentials;
    const isMintedGone = this.#revoked.has(minted?.id ?? '');
    return [isMintedGone ? undefined : minted?.api, parent].find((api) => api !== undefined && !this.#refused.has(api));
  }

  /** The minted key searches for other keys, so it is revoked last. */
  get #mintedIsNeeded(): boolean {
    const { minted } = this.#credentials;
    return this.#trace.unclear && minted !== undefined && this.#looker === minted.api;
  }

  /** From now on, revoking the minted key comes first. */
  get #isLate(): boolean {
    return this.#collaborators.limit.left <= forTheMinted;
  }

  #untilNextRound(pause: number): number {
    const { left } = this.#collaborators.limit;
    const own = this.#mintedIsNeeded ? [left - forTheMinted - forItsLastLook, left - forTheMinted] : [];
    const moments = [left - nearlyOver, ...own];
    // Pauses get shorter towards the deadline, which leaves time for more tries. The lower bound keeps them above 0.
    return Math.max(leastPause, Math.min(pause, left / 4, ...moments.filter((ms) => ms > 0)));
  }

  /** Returns how long the service asks to pause, in milliseconds. */
  async #round(): Promise<number> {
    this.#failure = undefined;
    try {
      const wasLate = this.#isLate;
      if (wasLate) await this.#attemptMinted();
      if (this.#trace.unclear) await this.#look();
      await this.#attemptOthers();
      // The minted key is not revoked while it searches for others, unless the search used up the time for that.
      if (!wasLate && (this.#isLate || !this.#mintedIsNeeded)) await this.#attemptMinted();
      return 0;
    } catch (error) {
      if (!(error instanceof LeaveAlone)) throw error;
      return (error.cause as ApiError).retryAfter ?? 0;
    }
  }

  async #attemptMinted(): Promise<void> {
    const id = this.#credentials.minted?.id ?? '';
    const [end, open] = [this.#mintedEnd, this.#open.get(id)];
    if (end !== undefined && open !== undefined) await this.#attempt(id, open, () => end.try(open.revocation));
  }

  async #attemptOthers(): Promise<void> {
    const looker = this.#looker;
    if (looker === undefined) return;
    const { limit } = this.#collaborators;
    const others = [...this.#open].filter(([id]) => id !== this.#credentials.minted?.id);
    await fewAtATime(others, ([id, open]) =>
      this.#attempt(id, open, () => open.revocation.try(looker, limit, this.#isListedFor(looker))),
    );
  }

  async #look(): Promise<void> {
    const { limit } = this.#collaborators;
    const { name } = this.#trace;
    const isMintedOpen = this.#open.has(this.#credentials.minted?.id ?? '');
    const looking = isMintedOpen ? limit.within(limit.left - forTheMinted) : limit;
    // The remaining time is for revoking the minted key.
    if (looking.struck) return;
    for (let api = this.#looker; api !== undefined; api = this.#looker) {
      try {
        const list = await api.keys({ limit: looking, retry: once });
        this.#dropReusedIds(list, api);
        for (const key of list.keys) if (key.name === name) this.#see(key);
        if (!list.isComplete) throw incompleteKeyList();
        this.#isSeen = true;
        return;
      } catch (error) {
        if (error instanceof TimeUp) return this.#bearCut(error);
        this.#isSeen = false;
        this.#whyUnseen = error;
        this.#bear(error);
        if (!(error as ApiError).refused) return;
        this.#refused.add(api);
      }
    }
    // The only key that could search is gone by now. An earlier search was complete, so nothing has failed.
    if (this.#isSeen) return;
    this.#whyUnseen ??= new NoCredential();
    this.#failure = this.#whyUnseen;
    this.#isHopeless = this.#open.size === 0;
  }

  /** The time for a search ended before its response. The result of an earlier search stands. */
  #bearCut(error: TimeUp): void {
    if (!this.#isSeen) {
      this.#failure = error;
      this.#whyUnseen ??= error;
    }
    if (this.#collaborators.limit.struck) throw error;
  }

  /**
   * If the list shows an id under another name, the service has reused the id. Our key is gone, and the other key is
   * not touched.
   */
  #dropReusedIds({ keys }: KeyList, reader: ControlApi): void {
    const { minted } = this.#credentials;
    for (const [id, { since, revocation }] of this.#open) {
      const listed = keys.find((key) => key.id === id)?.name ?? this.#trace.name;
      // A key that can read the list is alive, whatever name the list shows.
      if (listed === this.#trace.name || (reader === minted?.api && id === minted.id)) continue;
      this.#open.delete(id);
      this.#revoked.set(id, { id, gone: revocation.how, since, revocation });
    }
  }

  #see(key: Key): void {
    const { revoke } = this.#trace;
    const { minted } = this.#credentials;
    if (this.#open.has(key.id) || (key.id === minted?.id && !revoke)) return;
    const revoked = this.#revoked.get(key.id);
    if (revoked?.revocation.isSaid) return;
    // Earlier responses only suggested that the key was gone. The list shows that it is not.
    this.#revoked.delete(key.id);
    const since = revoked?.since ?? timeOf(key, 'created_at');
    this.#open.set(key.id, { since, revocation: new Revocation(key) });
    if (key.id !== minted?.id)
      this.#collaborators.log.info(`Key ${key.id} was made by a create that ended unclear: nobody has its secret.`);
  }

  async #attempt(id: string, open: Open, revoke: () => Promise<Gone>): Promise<void> {
    const { clock } = this.#collaborators.limit;
    const { since, revocation, notBefore = 0 } = open;
    if (clock.now() < notBefore) {
      this.#failure = open.failure;
      return;
    }
    try {
      const gone = await revoke();
      this.#open.delete(id);
      this.#revoked.set(id, { id, gone, since, revocation });
    } catch (error) {
      const { status, retryAfter = 0 } = error instanceof ApiError ? error : {};
      // A 423 locks this key alone, so the round goes on with the others.
      if (status !== 423 || retryAfter > this.#collaborators.limit.left) return this.#bear(error);
      this.#open.set(id, { ...open, notBefore: clock.now() + retryAfter, failure: error });
      this.#failure = error;
    }
  }

  #isListedFor(api: ControlApi): IsListed {
    const { limit } = this.#collaborators;
    return async (key) => {
      try {
        return includesKey(await api.keys({ limit, retry: once }), key);
      } catch (error) {
        // A 423 or 429 for the list concerns all keys. It is not a lock on this one.
        if (error instanceof ApiError && error.asksForPatience) this.#bear(error);
        throw error;
      }
    };
  }

  /** Records a failed request, and whether another round can help. */
  #bear(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    this.#failure = error;
    // This request can never be sent, for example because a proxy variable is invalid.
    if (!error.transient && !error.unclear && error.status === undefined) this.#isHopeless = true;
    const { limit } = this.#collaborators;
    const asked = error.retryAfter ?? 0;
    // A 429 ends the round even without `Retry-After`: more requests would only add to the load.
    if (asked === 0 && error.status !== 429) return;
    if (asked > limit.left) {
      this.#failure = new AskedToWaitTooLong(error, limit.left);
      this.#isHopeless = true;
    }
    throw new LeaveAlone('', { cause: error });
  }
}
