import type { ControlApi } from '../api/control-api.js';
import type { Key } from '../api/records.js';
import { RequestError } from '../http/errors.js';
import type { Rate } from '../http/rate.js';
import type { Send } from '../http/retry.js';
import { type Deadline, doublingPauses } from '../time/deadline.js';

// Times are in milliseconds, on the step's clock.

/** A list of a replica that lags may lack a key, or still show it. */
const leastAbsence = 10_000;
/** If the DELETE of a key is not confirmed, lists are read for this long. */
const readingTime = 30_000;
const pauses = { first: 500, most: 2_000 };

export type Fate = 'revoked' | 'not-found' | 'unknown';

/** What the service has said about one key. */
class Evidence {
  wasListed = false;
  saysRevoked = false;
  /** Why the latest DELETE failed. */
  failure: RequestError | undefined;
  /** When the first of the latest lists arrived that all lack the key. */
  #missingSince: number | undefined;

  noteList(isListed: boolean, now: number): void {
    this.wasListed ||= isListed;
    this.#missingSince = isListed ? undefined : (this.#missingSince ?? now);
    // Its DELETE seems to have been carried out, so it is not repeated.
    if (!isListed) this.failure = undefined;
  }

  /** `askedAt`: when the latest list was asked for. */
  fate(askedAt: number): Fate {
    if (this.saysRevoked) return 'revoked';
    if (this.#missingSince === undefined || askedAt - this.#missingSince < leastAbsence) return 'unknown';
    return this.wasListed ? 'revoked' : 'not-found';
  }
}

export type Revocations = Awaited<ReturnType<typeof revokeKeys>>;
export type Revocation = Revocations['keys'][number];

export interface RevocationTask {
  readonly api: ControlApi;
  readonly rate: Rate;
  readonly deadline: Deadline;
  readonly random: () => number;
  /** For lists. */
  readonly send: Send;
  /** For one DELETE. */
  readonly patience: number;
  /** The ids of the keys that are meant. Called before the first list, and after each one. */
  readonly find: (listed: readonly Key[]) => readonly string[];
  /** Lists are read until so many keys are found. */
  readonly count: number;
}

/**
 * Revokes keys and proves it, in rounds: each key that a whole list shows gets a DELETE. One failed revocation does not stop
 * the others. `end`: what ended the rounds early.
 */
export async function revokeKeys({ api, rate, deadline, random, send, patience, find, count }: RevocationTask) {
  const { clock } = deadline;
  const keys = new Map(find([]).map((id) => [id, new Evidence()]));
  let askedAt = 0;

  async function round(): Promise<void> {
    askedAt = clock.now();
    const listed = await api.keys(send);
    for (const id of find(listed)) if (!keys.has(id)) keys.set(id, new Evidence());
    const listedIds = new Set(listed.map(({ id }) => id));
    await Promise.all([...keys].map(([id, key]) => revokeListed(id, key, listedIds.has(id))));
  }

  async function revokeListed(id: string, key: Evidence, isListed: boolean): Promise<void> {
    key.noteList(isListed, clock.now());
    if (!isListed || key.saysRevoked) return;
    try {
      key.saysRevoked = await api.revokeKey(id, { deadline, patience });
      key.failure = undefined;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      key.failure = error;
    }
  }

  async function repeatRounds(): Promise<undefined> {
    let beganAt: number | undefined;
    for (const usual of doublingPauses(pauses, random)) {
      await round();
      beganAt ??= clock.now();
      const open = [...keys.values()].filter((key) => key.fate(askedAt) === 'unknown');
      const isSought = keys.size < count || (keys.size === 0 && askedAt - beganAt < leastAbsence);
      if (open.length === 0 && !isSought) return;
      const asked = open.map(({ failure }) => failure?.retryAfterMs ?? 0);
      const retryAfter = Math.min(rate.longestHold, Math.max(0, ...asked));
      const pause = Math.max(usual, retryAfter);
      // A throttled DELETE is repeated until the deadline.
      const goesOn = isSought || open.some(({ failure }) => failure?.isThrottled);
      const isOver = clock.now() + pause >= beganAt + readingTime && !goesOn;
      if (isOver || retryAfter > deadline.remaining) return;
      await deadline.sleep(pause);
    }
  }

  const end = await repeatRounds().catch((error: Error) => error);
  // The service's own error for a key tells more than a timeout.
  const doubt = end ?? new Error('no response said revoked: true, and lists do not confirm it');
  const results = [...keys].map(([id, key]) => {
    const fate = key.fate(askedAt);
    return { id, fate, failure: fate === 'unknown' ? (key.failure ?? doubt) : undefined };
  });
  return { keys: results, end };
}
