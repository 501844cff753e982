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

/** The pauses between rounds. */
const shortestPause = 250;
const longestPause = 2_000;
const leastPause = 250;
/** What is kept of the time for the minted key, which looks for the others until then, the last time shortly before. */
const forTheMinted = 4_000;
const forItsLastLook = 500;
/** When the last look is due: one that fails is repeated in the rest of the time. */
const nearlyOver = 1_500;

/** What main has left. */
type Remains = Pick<PostState, 'name' | 'unclear' | 'revoke' | 'since'>;

export interface Credentials {
  /** With the minted key, and with the parent key: each where it is at hand. */
  readonly minted: { readonly id: string; readonly api: ControlApi } | undefined;
  readonly parent: ControlApi | undefined;
}

export interface RevokedKey {
  readonly id: string;
  readonly gone: Gone;
  /** When it was made, in milliseconds since 1970, where that is known. */
  readonly since: number | undefined;
}

export interface CleanedUp {
  readonly revoked: readonly RevokedKey[];
  /** Ids of keys that are not known to be gone. */
  readonly left: readonly string[];
  /** Whether a key may be left that nobody has seen. */
  readonly isUnseen: boolean;
  /** Why not all is known to be gone; nothing where it is. */
  readonly failure: unknown;
}

/** No key is at hand that could do it. */
export class NoCredential extends Error {}

/** Revokes what main has left. Ends with a value: a failure here must be told, and is no crash. */
export function cleanUp(
  trace: Remains,
  credentials: Credentials,
  collaborators: Omit<Collaborators, 'api'>,
): Promise<CleanedUp> {
  return new CleanUp(trace, credentials, collaborators).run();
}

/** A key that is known to have been made, and its end so far. */
interface Open {
  readonly since: number | undefined;
  readonly revocation: Revocation;
  /** Until when it is locked, on the clock of the step, and what the service said of that. */
  readonly notBefore?: number;
  readonly failure?: unknown;
}

/** Whoever is told it has to be left alone: nothing more is sent in this round. */
class LeaveAlone extends Error {}

class CleanUp {
  readonly #trace: Remains;
  readonly #credentials: Credentials;
  readonly #collaborators: Omit<Collaborators, 'api'>;
  readonly #mintedEnd: MintedEnd | undefined;
  readonly #open = new Map<string, Open>();
  readonly #revoked = new Map<string, RevokedKey & Open>();
  /** Credentials that the service does not accept for a look. */
  readonly #refused = new Set<ControlApi>();
  /** Whether a look has seen all that there was, and why the last one has not. */
  #isSeen = false;
  #whyUnseen: unknown;
  /** What stood in the way in this round. */
  #failure: unknown;
  /** No further try can help. */
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

  /** Round by round: what failed is tried again, and an answer that was given up can still be carried out. */
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
      // A last round may be cut short: what the one before it has seen stands.
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

  /** Nobody may revoke the minted key, and there is nothing else to do. */
  get #isRefused(): boolean {
    return this.#mintedEnd?.isRefused === true && !this.#trace.unclear;
  }

  /** The minted key, while it lives; then the parent. */
  get #looker(): ControlApi | undefined {
    const { minted, parent } = this.#credentials;
    const isMintedGone = this.#revoked.has(minted?.id ?? '');
    return [isMintedGone ? undefined : minted?.api, parent].find((api) => api !== undefined && !this.#refused.has(api));
  }

  /** Whether the minted key is in use for the looks. */
  get #mintedIsNeeded(): boolean {
    const { minted } = this.#credentials;
    return this.#trace.unclear && minted !== undefined && this.#looker === minted.api;
  }

  /** What is left of the time is for the minted key first. */
  get #isLate(): boolean {
    return this.#collaborators.limit.left <= forTheMinted;
  }

  #untilNextRound(pause: number): number {
    const { left } = this.#collaborators.limit;
    const own = this.#mintedIsNeeded ? [left - forTheMinted - forItsLastLook, left - forTheMinted] : [];
    const moments = [left - nearlyOver, ...own];
    // Shorter towards the end, for some more tries, but never so short that it is none.
    return Math.max(leastPause, Math.min(pause, left / 4, ...moments.filter((ms) => ms > 0)));
  }

  /** Answers for how long the service asks to be left alone. */
  async #round(): Promise<number> {
    this.#failure = undefined;
    try {
      const wasLate = this.#isLate;
      if (wasLate) await this.#attemptMinted();
      if (this.#trace.unclear) await this.#look();
      await this.#attemptOthers();
      // It goes last, where it is in use for the others; but a look can have taken until its time has come.
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
    // The rest of the time is for the minted key.
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
    // Where the minted key was the only one to look, and has gone after a good look, nothing is amiss.
    if (this.#isSeen) return;
    this.#whyUnseen ??= new NoCredential();
    this.#failure = this.#whyUnseen;
    this.#isHopeless = this.#open.size === 0;
  }

  /** The time for a look has ended amid it: what the one before it has seen stands. */
  #bearCut(error: TimeUp): void {
    if (!this.#isSeen) {
      this.#failure = error;
      this.#whyUnseen ??= error;
    }
    if (this.#collaborators.limit.struck) throw error;
  }

  /** An id that the list shows under another name is that of another key. Ours is gone, and that one is not touched. */
  #dropReusedIds({ keys }: KeyList, reader: ControlApi): void {
    const { minted } = this.#credentials;
    for (const [id, { since, revocation }] of this.#open) {
      const listed = keys.find((key) => key.id === id)?.name ?? this.#trace.name;
      // A key that reads the list is alive, whatever the list calls it.
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
    // It was taken for gone by what an answer seemed to mean; the list knows better.
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
      // A lock is one on this key alone.
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
        // A list that asks for patience asks it of all who read it: that is no lock on the one key.
        if (error instanceof ApiError && error.asksForPatience) this.#bear(error);
        throw error;
      }
    };
  }

  /** What may go better in the next round. */
  #bear(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    this.#failure = error;
    // A request that can never be sent, as with a bad proxy variable.
    if (!error.transient && !error.unclear && error.status === undefined) this.#isHopeless = true;
    const { limit } = this.#collaborators;
    const asked = error.retryAfter ?? 0;
    // Too many requests are not answered with more of them, whatever these are about.
    if (asked === 0 && error.status !== 429) return;
    if (asked > limit.left) {
      this.#failure = new AskedToWaitTooLong(error, limit.left);
      this.#isHopeless = true;
    }
    throw new LeaveAlone('', { cause: error });
  }
}
