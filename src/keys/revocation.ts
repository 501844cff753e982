import type { ControlApi } from '../api/control-api.js';
import type { KeyList } from '../api/keys.js';
import { RequestError } from '../http/errors.js';
import type { Rate } from '../http/rate.js';
import type { Send } from '../http/retry.js';
import { CancelledError, type Deadline, DeadlineExceeded } from '../time/deadline.js';
import { doublingPauses } from '../time/pauses.js';

// Times are in milliseconds, on the step's clock.

/** A list of a replica that lags may lack a key, or still show it. */
const leastAbsence = 10_000;
/** If the DELETE of a key is not confirmed, lists are read for this long. */
const readingTime = 30_000;
/** Between two lists. */
const pauses = { first: 500, most: 2_000 };

export type Fate = 'revoked' | 'not-found' | 'unknown';

/** What the service has said about one key. */
class Evidence {
  /** Undefined until a list shows the key. */
  id: string | undefined;
  saysRevoked = false;
  /** Why the latest DELETE failed. */
  failure: RequestError | undefined;
  /** When the first of the latest lists arrived that all lack the key. */
  #missingSince: number | undefined;

  /** A whole list has arrived, with this id or without the key. */
  noteList(id: string | undefined, now: number): void {
    this.id ??= id;
    this.#missingSince = id === undefined ? (this.#missingSince ?? now) : undefined;
    // Its DELETE seems to have been carried out, so it is not repeated.
    if (id === undefined) this.failure = undefined;
  }

  /** `askedAt`: when the latest list was asked for. */
  fate(askedAt: number): Fate {
    if (this.saysRevoked) return 'revoked';
    if (this.#missingSince === undefined || askedAt - this.#missingSince < leastAbsence) return 'unknown';
    return this.id === undefined ? 'not-found' : 'revoked';
  }
}

/** `label`: the id, or the name by which the key is meant. `failure`: why the fate is unknown. */
export interface Revocation {
  readonly label: string;
  readonly id: string | undefined;
  readonly fate: Fate;
  readonly failure: Error | undefined;
}

interface Task {
  /** The labels of the keys that are meant from the start. */
  readonly given: readonly string[];
  /** The ids of the keys to revoke that this list shows, by label. */
  readonly meant: (list: KeyList) => ReadonlyMap<string, string>;
  /** Lists are read until they have shown so many keys. */
  readonly count: number;
}

export interface Means {
  readonly api: ControlApi;
  readonly rate: Rate;
  readonly deadline: Deadline;
  readonly random: () => number;
  /** Sends the requests for lists. */
  readonly send: Send;
  /** How long one DELETE may take. */
  readonly patience: number;
}

/** Revokes the keys with these ids. */
export async function revokeByIds(ids: readonly string[], means: Means) {
  if (ids.length === 0) return { keys: [], end: undefined };
  const meant = (list: KeyList) => new Map(ids.filter((id) => list.get(id)?.isRevoked === false).map((id) => [id, id]));
  const { keys, end } = await revokeKeys({ given: ids, meant, count: 0 }, means);
  return { keys: keys.map((key) => ({ ...key, id: key.label })), end };
}

/**
 * Revokes keys and proves it, in rounds: each key that a whole list shows gets a DELETE. One failed revocation does not stop
 * the others. `end`: what ended the rounds early.
 */
export async function revokeKeys({ given, meant, count }: Task, means: Means) {
  const { api, rate, deadline, random, send, patience } = means;
  const { clock } = deadline;
  const keys = new Map(given.map((label) => [label, new Evidence()]));
  let askedAt = 0;
  let end: Error | undefined;

  async function revoke(key: Evidence, id: string): Promise<void> {
    try {
      key.saysRevoked = await api.revokeKey(id, { deadline, patience });
      key.failure = undefined;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      key.failure = error;
    }
  }

  async function round(): Promise<void> {
    askedAt = clock.now();
    const listed = meant(await api.keys(send));
    for (const label of listed.keys()) if (!keys.has(label)) keys.set(label, new Evidence());
    const requests = [...keys].map(([label, key]) => {
      const id = listed.get(label);
      key.noteList(id, clock.now());
      return id === undefined || key.saysRevoked ? undefined : revoke(key, id);
    });
    await Promise.all(requests);
  }

  async function repeatRounds(): Promise<void> {
    await round();
    const endsAt = clock.now() + readingTime;
    for (const usual of doublingPauses(pauses, random)) {
      const open = [...keys.values()].filter((key) => key.fate(askedAt) === 'unknown');
      if (open.length === 0 && keys.size >= count) return;
      // After a 429, `Rate` holds all requests.
      const asked = open.map(({ failure }) => (failure?.status === 429 ? 0 : (failure?.retryAfterMs ?? 0)));
      const retryAfter = Math.min(rate.longestHold, Math.max(0, ...asked));
      const pause = Math.max(usual, retryAfter);
      // A throttled DELETE is repeated until the deadline.
      const isOver = clock.now() + pause >= endsAt && !open.some(({ failure }) => failure?.isThrottled);
      if (isOver || retryAfter > deadline.remaining) return;
      await deadline.sleep(pause);
      await round();
    }
  }

  try {
    await repeatRounds();
  } catch (error) {
    const isExpected = [RequestError, DeadlineExceeded, CancelledError].some((Kind) => error instanceof Kind);
    if (!isExpected) throw error;
    end = error as Error;
  }
  const results = [...keys].map(([label, key]): Revocation => {
    const fate = key.fate(askedAt);
    // What the service said of the key tells more than that the time was over.
    const doubt = new Error('no response said revoked: true, and lists do not confirm it');
    return { label, id: key.id, fate, failure: fate === 'unknown' ? (key.failure ?? end ?? doubt) : undefined };
  });
  return { keys: results, end };
}
