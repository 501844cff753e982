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

/** A listed key that is meant. `label`: its id, or the name by which it is meant. */
export interface MeantKey {
  readonly label: string;
  readonly id: string;
}

/** What the service has said about one key. */
export class Evidence {
  /** Why the latest DELETE failed. */
  failure: Error | undefined;
  saysRevoked = false;
  #wasListed = false;
  /** When the first of the latest lists arrived that all lack the key. */
  #missingSince: number | undefined;

  /** `id`: undefined if only its name is known so far. */
  constructor(
    readonly label: string,
    public id?: string,
  ) {}

  /** A whole list has arrived. Returns an id if the key needs a DELETE. */
  noteList(id: string | undefined, now: number): string | undefined {
    this.id ??= id;
    // Another key of the same name is not meant.
    const isListed = id !== undefined && id === this.id;
    this.#wasListed ||= isListed;
    this.#missingSince = isListed ? undefined : (this.#missingSince ?? now);
    // Its DELETE seems to have been carried out, so it is not repeated.
    if (!isListed) this.failure = undefined;
    return isListed && !this.saysRevoked ? id : undefined;
  }

  /** `askedAt`: when the latest list was asked for. */
  fate(askedAt: number): Fate {
    if (this.saysRevoked) return 'revoked';
    if (this.#missingSince === undefined || askedAt - this.#missingSince < leastAbsence) return 'unknown';
    return this.#wasListed ? 'revoked' : 'not-found';
  }
}

/** `failure`: why the fate is unknown. */
export type Revocation = Pick<Evidence, 'label' | 'id' | 'failure'> & { readonly fate: Fate };

export interface Task {
  /** The keys that are meant from the start. */
  readonly given?: readonly Evidence[];
  /** The keys to revoke, by the latest list. */
  readonly meant: (list: KeyList) => readonly MeantKey[];
  readonly api: ControlApi;
  readonly rate: Rate;
  readonly deadline: Deadline;
  readonly random: () => number;
  /** Sends the requests for lists. */
  readonly send: Send;
  /** How long one DELETE may take. */
  readonly patience: number;
  /** Lists are read for so long after the first DELETEs. */
  readonly reading?: number;
  /** Default: true. `count`: the number of keys so far. */
  readonly isEnough?: (count: number) => boolean;
}

/** Revokes the keys with these ids. */
export async function revokeByIds(ids: readonly string[], task: Omit<Task, 'meant'>): ReturnType<typeof revokeKeys> {
  if (ids.length === 0) return { keys: [], end: undefined };
  const isMeant = new Set(ids);
  const meant = (list: KeyList) =>
    [...list.values()].flatMap(({ id, isRevoked }) => (isMeant.has(id) && !isRevoked ? { label: id, id } : []));
  return revokeKeys({ ...task, given: ids.map((id) => new Evidence(id, id)), meant });
}

/**
 * Revokes keys and proves it, in rounds: each key that a whole list shows gets a DELETE. One failed revocation does not stop
 * the others. `end`: what ended the rounds early.
 */
export async function revokeKeys(task: Task) {
  const {
    given = [],
    meant,
    api,
    rate,
    deadline,
    random,
    send,
    patience,
    reading = readingTime,
    isEnough = () => true,
  } = task;
  const { clock } = deadline;
  const keys = new Map(given.map((key) => [key.label, key]));
  let askedAt = 0;

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
    const listed = new Map(meant(await api.keys(send)).map(({ label, id }) => [label, id]));
    for (const label of listed.keys()) if (!keys.has(label)) keys.set(label, new Evidence(label));
    const requests = [...keys.values()].map((key) => {
      const id = key.noteList(listed.get(key.label), clock.now());
      return id === undefined ? undefined : revoke(key, id);
    });
    await Promise.all(requests);
  }

  async function repeatRounds(): Promise<void> {
    await round();
    const endsAt = clock.now() + reading;
    for (const usual of doublingPauses(pauses, random)) {
      const open = [...keys.values()].filter((key) => key.fate(askedAt) === 'unknown');
      if (open.length === 0 && isEnough(keys.size)) return;
      const failures = open.flatMap(({ failure }) => (failure instanceof RequestError ? failure : []));
      // After a 429, `Rate` holds all requests.
      const asked = failures.map(({ status, retryAfterMs = 0 }) => (status === 429 ? 0 : retryAfterMs));
      const retryAfter = Math.min(rate.longestHold, Math.max(0, ...asked));
      const pause = Math.max(usual, retryAfter);
      // A throttled DELETE is repeated until the deadline.
      const isOver = clock.now() + pause >= endsAt && !failures.some(({ isThrottled }) => isThrottled);
      if (isOver || retryAfter > deadline.remaining) return;
      await deadline.sleep(pause);
      await round();
    }
  }

  let end: Error | undefined;
  await repeatRounds().catch((error: unknown) => {
    const isExpected = [RequestError, DeadlineExceeded, CancelledError].some((Kind) => error instanceof Kind);
    if (!isExpected) throw error;
    end = error as Error;
  });
  const results = [...keys.values()].map((key): Revocation => {
    const fate = key.fate(askedAt);
    // What the service said of the key tells more than that the time was over.
    const doubt = new Error('no response said revoked: true, and lists do not confirm it');
    const failure = key.failure ?? end ?? doubt;
    return { label: key.label, id: key.id, fate, failure: fate === 'unknown' ? failure : undefined };
  });
  return { keys: results, end };
}
