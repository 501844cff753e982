import type { ControlApi } from '../api/control-api.js';
import type { Key, KeyList } from '../api/keys.js';
import type { Log } from '../api/request.js';
import { RequestError } from '../http/errors.js';
import type { Send } from '../http/retry.js';
import { includesKey, isLaterOwner, type ListCheck, Revocation } from '../keys/revocation.js';
import type { Clock } from '../time/clock.js';
import { Cooldown } from './cooldown.js';
import { minAbsence } from './schedule.js';

/** A key that the main step created. */
export interface CreatedKey {
  readonly id: string;
  readonly revocation: Revocation;
  /** True if the key is so new that a replica may not know it yet. */
  readonly isYoung: boolean;
  /** The time since which the service does not find the key, on the step's clock. */
  missingSince?: number | undefined;
  /** The time at which the key was confirmed to be gone, in milliseconds since 1970. */
  goneAt?: number | undefined;
  /** A 423 for a DELETE delays only this key. */
  readonly lock: Cooldown;
}

const youngKeyMissing = 'the service does not find the key, but it is so new that a replica may not know it yet';

/** Limits the log lines, because a hostile service could list thousands of keys with this name. */
const maxLogged = 20;

/**
 * The keys with the name that the main step chose. After a lost or wrong response, several keys can have this name. A key is
 * listed, then missing, then gone. A list that shows it again makes it listed, unless its revocation is confirmed.
 */
export class KeyRegister {
  readonly #keys = new Map<string, CreatedKey>();
  /** The newest key with each id, from all lists so far. So a replica that lags cannot hide it. */
  readonly #owners = new Map<string, Key>();
  #latest: KeyList | undefined;
  /** True if the latest list of a search was complete. */
  isComplete = false;
  /** Searches skip this key, because it is the minted key, which sends the requests of a search. */
  skipped: string | undefined;

  constructor(
    private readonly name: string,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  get pending(): readonly CreatedKey[] {
    return [...this.#keys.values()].filter(({ goneAt }) => goneAt === undefined);
  }

  /** The keys that a search revokes: none before the first list, because each id may belong to a different key by now. */
  get revocable(): readonly CreatedKey[] {
    return this.pending.filter(({ id }) => this.#latest && id !== this.skipped && !this.mayBelongToOther(id));
  }

  get gone(): readonly CreatedKey[] {
    return [...this.#keys.values()].filter(({ goneAt }) => goneAt !== undefined);
  }

  add(id: string, isYoung: boolean): CreatedKey {
    const revocation = new Revocation({ id, name: this.name });
    const lock = new Cooldown(this.clock);
    const key: CreatedKey = { id, revocation, isYoung, lock };
    this.#keys.set(id, key);
    return key;
  }

  /**
   * Call this each time the service says that the key is gone. Returns a failure until that is proved.
   * `askedAt`: when the first request for this answer began. The answer may be as old as this.
   */
  noteGone(key: CreatedKey, askedAt: number): RequestError | undefined {
    key.missingSince ??= this.clock.now();
    if (!key.revocation.isConfirmed && key.isYoung && askedAt - key.missingSince < minAbsence)
      return new RequestError(youngKeyMissing, { transient: true });
    key.goneAt ??= this.clock.epochMs();
    return undefined;
  }

  update(list: KeyList, askedAt: number): void {
    this.isComplete = true;
    this.#note(list);
    for (const key of this.pending) {
      if (key.id === this.skipped) continue;
      const wasMissing = key.missingSince !== undefined || this.#belongsToOther(key.id);
      if (key.revocation.isConfirmed || (wasMissing && !this.#includes(list, key))) this.noteGone(key, askedAt);
    }
  }

  /** Each check reads a new list: it can show a stray key, or that an id now belongs to another key. */
  listCheck(key: CreatedKey, api: ControlApi, send: Send): ListCheck {
    return async () => {
      const list = await api.keys(send);
      this.#note(list);
      return this.#includes(list, key);
    };
  }

  /** True if the newest key with this id, or the key in the latest list, has another name. Then no DELETE may be sent. */
  mayBelongToOther(id: string): boolean {
    return this.#belongsToOther(id) || (this.#latest?.get(id)?.name ?? this.name) !== this.name;
  }

  #belongsToOther(id: string): boolean {
    return (this.#owners.get(id)?.name ?? this.name) !== this.name;
  }

  #includes(list: KeyList, key: CreatedKey): boolean {
    return this.#belongsToOther(key.id) ? false : includesKey(list, key.revocation.key);
  }

  #note(list: KeyList): void {
    this.#latest = list;
    for (const listed of list.values()) {
      const { id, name } = listed;
      const owner = this.#owners.get(id);
      if (owner !== undefined && !isLaterOwner(listed, owner)) continue;
      this.#owners.set(id, listed);
      const key = this.#keys.get(id);
      if (key !== undefined && !this.#belongsToOther(id)) key.missingSince = undefined;
      // Another key now has this id, so the key that had the id before is gone.
      else if (key !== undefined && owner?.name === this.name) key.revocation.isConfirmed = true;
      // A late create can get the id of a key that this step has revoked.
      const isNew = (listed.createdAt ?? 0) > (owner?.createdAt ?? Number.POSITIVE_INFINITY);
      if (name === this.name) this.#addStray(id, isNew);
    }
  }

  #addStray(id: string, isNew: boolean): void {
    const known = this.#keys.get(id);
    if (id === this.skipped || (known?.revocation.isConfirmed && !isNew)) return;
    if (known === undefined && this.#keys.size < maxLogged)
      this.log.info(`Found key ${id}: it has the name that this step chose, but no response to a create named its id.`);
    // The list proves that the key still exists, even if an earlier response suggested otherwise.
    // A create can be carried out late, and the clock of the service may be wrong, so a found key counts as young.
    if (known === undefined || known.goneAt !== undefined) this.add(id, true);
  }
}
