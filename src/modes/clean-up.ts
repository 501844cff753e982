import type { ControlApi } from '../api/control-api.js';
import { ApiError, AskedToWaitTooLong } from '../api/errors.js';
import { timeOf } from '../api/records.js';
import { type Manner, once, type RetryRule } from '../api/retry.js';

import { TimeUp } from '../time/limit.js';
import type { Collaborators } from './collaborators.js';
import { keysNamed, Revocation } from './keys/revocation.js';
import type { Trace } from './keys/trace.js';

/** The pauses between tries, and between looks for what a create that was given up may still bring. */
const shortestPause = 250;
const longestPause = 2_000;
/** What is kept of the time to revoke the minted key, and the least of it. */
const forTheMinted = 6_000;
const leastForTheMinted = 2_500;
const forTheLastLook = 500;

export interface Credentials {
  /** With the minted key, and with the parent key: each where it is at hand. */
  readonly minted: ControlApi | undefined;
  readonly parent: ControlApi | undefined;
}

export interface RevokedKey {
  readonly id: string;
  /** It was gone before. */
  readonly before: boolean;
  /** When it was made, in milliseconds since 1970, where that is known. */
  readonly since: number | undefined;
}

export interface CleanedUp {
  readonly revoked: readonly RevokedKey[];
  /** Why it is not known that all is gone. */
  readonly failures: readonly unknown[];
}

/** No key can do it. */
export class NoCredential extends Error {}

/** Revokes what main has left. Ends with a value: a failure here must be told, and is no crash. */
export function cleanUp(
  trace: Trace,
  credentials: Credentials,
  collaborators: Omit<Collaborators, 'api'>,
): Promise<CleanedUp> {
  return new CleanUp(trace, credentials, collaborators).run();
}

class CleanUp {
  readonly #trace: Trace;
  readonly #credentials: Credentials;
  readonly #collaborators: Omit<Collaborators, 'api'>;
  readonly #manner: Manner;
  readonly #revoked: RevokedKey[] = [];

  constructor(trace: Trace, credentials: Credentials, collaborators: Omit<Collaborators, 'api'>) {
    this.#trace = trace;
    this.#credentials = credentials;
    this.#collaborators = collaborators;
    this.#manner = { limit: collaborators.limit, retry: untilTheEnd(collaborators) };
  }

  async run(): Promise<CleanedUp> {
    const { unclear, revoke, minted, since } = this.#trace;
    const failures: unknown[] = [];
    // The key that is in use for the looking goes last.
    if (unclear) await this.#revokeUnheardOf().catch((error: unknown) => failures.push(error));
    const hasPatience = !failures.some((error) => error instanceof AskedToWaitTooLong);
    if (minted !== undefined && revoke && hasPatience) {
      try {
        const gone = await this.#revokeMinted(minted.id);
        this.#revoked.push({ id: minted.id, before: gone === 'gone', since });
      } catch (error) {
        failures.push(error);
      }
    }
    return { revoked: this.#revoked, failures };
  }

  /** By itself; by the parent key where it is refused. */
  async #revokeMinted(id: string): Promise<'revoked' | 'gone'> {
    const { minted, parent } = this.#credentials;
    if (minted === undefined) throw new NoCredential();
    try {
      return await new Revocation(minted, this.#manner).revoke(id);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.refused || error.isPage) throw error;
      // A key that is not accepted any more is a key that is gone; the list of the parent knows better, if there is one.
      if (!error.says(401)) return await this.#revokeByParent(id, error);
      if (parent === undefined) return 'gone';
      try {
        const isListed = (await parent.keys(this.#manner)).some((key) => key.id === id);
        return isListed ? await this.#revokeByParent(id, error) : 'gone';
      } catch (ofParent) {
        if (ofParent instanceof ApiError && ofParent.says(401)) return 'gone';
        throw ofParent;
      }
    }
  }

  #revokeByParent(id: string, refusal: ApiError): Promise<'revoked' | 'gone'> {
    const { parent } = this.#credentials;
    if (parent === undefined) throw refusal;
    return new Revocation(parent, this.#manner).revoke(id);
  }

  /** Looks for all keys of the name until the time is nearly over: an answer that was given up can still be carried out. */
  async #revokeUnheardOf(): Promise<void> {
    const { limit, random } = this.#collaborators;
    const { minted, revoke } = this.#trace;
    const reserved = minted !== undefined && revoke ? forTheMinted : forTheLastLook;
    const least = minted !== undefined && revoke ? leastForTheMinted : 0;
    let pause = shortestPause;
    let failure: unknown = new NoCredential();
    let isSeen = false;
    let candidates = [this.#credentials.minted, this.#credentials.parent].filter((api) => api !== undefined);
    for (let [api] = candidates; api !== undefined; [api] = candidates) {
      let asked = 0;
      try {
        await this.#lookWith(api);
        failure = undefined;
        isSeen = true;
      } catch (error) {
        // The last look may be cut short: the one before it has seen that nothing is left.
        if (error instanceof TimeUp && isSeen && failure === undefined) return;
        if (!(error instanceof ApiError)) throw error;
        failure = error;
        asked = error.retryAfter ?? 0;
        if (asked > limit.left) throw new AskedToWaitTooLong(error, limit.left);
        if (error.refused && !error.isPage) {
          candidates = candidates.slice(1);
          continue;
        }
      }
      if (limit.left <= (isSeen ? reserved : least)) break;
      const left = limit.left - (isSeen ? reserved : least);
      await limit.sleep(Math.max(asked, Math.min(left, pause * (0.5 + random() / 2))));
      pause = Math.min(longestPause, pause * 2);
    }
    if (failure !== undefined) throw failure;
  }

  async #lookWith(api: ControlApi): Promise<void> {
    const { limit, log } = this.#collaborators;
    const keys = await keysNamed(this.#trace.name, api, { limit, retry: once });
    const revocation = new Revocation(api, { limit, retry: once });
    for (const key of keys.filter(({ id }) => id !== this.#trace.minted?.id)) {
      const gone = await revocation.revoke(key.id);
      this.#revoked.push({ id: key.id, before: gone === 'gone', since: timeOf(key, 'created_at') });
      log.info(`Key ${key.id} was left by a create that ended unclear, and is revoked.`);
    }
  }
}

/** Whatever fails is tried again, but for a refusal by the service itself; and `Retry-After` is kept, or ends it. */
function untilTheEnd({ limit, random }: Pick<Collaborators, 'limit' | 'random'>): RetryRule {
  return (error, times) => {
    if (error.refused && !error.isPage) return undefined;
    const asked = error.retryAfter ?? 0;
    if (asked > limit.left) return error.asksForPatience ? asked : undefined;
    return Math.max(asked, Math.min(longestPause, shortestPause * 2 ** (times - 1)) * (0.5 + random() / 2));
  };
}
