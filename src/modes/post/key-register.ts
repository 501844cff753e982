import type { Key, KeyList } from '../../api/keys.js';
import type { Log } from '../../api/log.js';
import { fieldTime } from '../../api/records.js';
import type { RequestError } from '../../http/errors.js';
import { Revocation, type RevocationOutcome } from '../../keys/revocation.js';

export interface RevokedKey {
  readonly id: string;
  readonly outcome: RevocationOutcome;
  /** Milliseconds since 1970. Undefined if the time of creation is unknown. */
  readonly since: number | undefined;
}

/** A key that was created and is not yet confirmed as gone. */
export interface PendingKey {
  readonly id: string;
  readonly since: number | undefined;
  readonly revocation: Revocation;
  /** True once a list shows the key under our name. */
  isListed: boolean;
  /** A 423 for this key. `until`: on the step's clock. */
  lock?: { readonly until: number; readonly failure: RequestError };
}

/** The keys that share one name. */
export class KeyRegister {
  readonly #name: string;
  readonly #log: Log;
  readonly #pending = new Map<string, PendingKey>();
  readonly #gone = new Map<string, PendingKey>();
  /** True if the latest response shows the complete list. A search that ran out of time does not change it. */
  isComplete = false;

  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  get pending(): readonly PendingKey[] {
    return [...this.#pending.values()];
  }

  get revoked(): RevokedKey[] {
    return [...this.#gone.values()].map(({ id, since, revocation: { outcome } }) => ({ id, outcome, since }));
  }

  add(id: string, since: number | undefined): PendingKey {
    const key = { id, since, revocation: new Revocation({ id, name: this.#name }), isListed: false };
    this.#pending.set(id, key);
    return key;
  }

  setGone(key: PendingKey): void {
    this.#pending.delete(key.id);
    this.#gone.set(key.id, key);
  }

  /** Adds the keys of the name. `except`: the id of a key whose state the list does not change. */
  update({ keys, isComplete }: KeyList, except: string | undefined): void {
    this.isComplete = isComplete;
    for (const key of keys) {
      if (key.id === except || key.name === undefined) continue;
      const pending = this.#pending.get(key.id);
      if (key.name === this.#name) this.#addListed(key);
      // The service uses the id for another key, which is not touched. Ours is gone.
      else if (pending !== undefined) this.setGone(pending);
    }
  }

  #addListed(key: Key): void {
    const gone = this.#gone.get(key.id);
    if (gone?.revocation.isConfirmed) return;
    // Earlier responses only suggested that the key was gone. The list shows that it is not.
    this.#gone.delete(key.id);
    if (gone === undefined && !this.#pending.has(key.id))
      this.#log.info(`Key ${key.id} was created by a request that got no usable response: nobody has its secret.`);
    const pending = this.#pending.get(key.id) ?? this.add(key.id, gone?.since ?? fieldTime(key, 'created_at'));
    pending.isListed = true;
  }
}
