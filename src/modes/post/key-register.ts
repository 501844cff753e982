import type { Key, KeyList } from '../../api/keys.js';
import type { Log } from '../../api/log.js';
import { fieldTime } from '../../api/records.js';
import type { RequestError } from '../../http/errors.js';
import { Revocation } from '../../keys/revocation.js';

/** A key that the main step created. */
export interface CreatedKey {
  readonly id: string;
  /** The creation time in milliseconds since 1970, if known. */
  readonly since: number | undefined;
  readonly revocation: Revocation;
  /** True once a list contains a key with this id and the expected name. */
  isListed: boolean;
  /** A 423 for a DELETE delays only this key. `until`: when the lock ends, on the step's clock. */
  lock?: { readonly until: number; readonly failure: RequestError };
}

/** The keys with the name that the main step chose. After an ambiguous create, several keys can have this name. */
export class KeyRegister {
  readonly #pending = new Map<string, CreatedKey>();
  readonly #gone = new Map<string, CreatedKey>();
  /** True if the latest list was complete. */
  isComplete = false;

  constructor(
    private readonly name: string,
    private readonly log: Log,
  ) {}

  get pending(): readonly CreatedKey[] {
    return [...this.#pending.values()];
  }

  get gone(): readonly CreatedKey[] {
    return [...this.#gone.values()];
  }

  add(id: string, since: number | undefined): CreatedKey {
    const key = { id, since, revocation: new Revocation({ id, name: this.name }), isListed: false };
    this.#pending.set(id, key);
    return key;
  }

  setGone(key: CreatedKey): void {
    this.#pending.delete(key.id);
    this.#gone.set(key.id, key);
  }

  /** `except`: the id of a key to skip. */
  update({ keys, missing }: KeyList, except: string | undefined): void {
    this.isComplete = missing === undefined;
    for (const key of keys) {
      if (key.id === except || key.name === undefined) continue;
      const pending = this.#pending.get(key.id);
      if (key.name === this.name) this.#addListed(key);
      // Another key now has this id, so the key that had the id before is gone.
      else if (pending !== undefined) this.setGone(pending);
    }
  }

  #addListed(key: Key): void {
    const gone = this.#gone.get(key.id);
    if (gone?.revocation.isConfirmed) return;
    // The list proves that the key still exists, even if an earlier response suggested otherwise.
    this.#gone.delete(key.id);
    if (gone === undefined && !this.#pending.has(key.id))
      this.log.info(
        `Found key ${key.id}. The request that created this key got no usable response, so nobody has its secret.`,
      );
    const pending = this.#pending.get(key.id) ?? this.add(key.id, gone?.since ?? fieldTime(key, 'created_at'));
    pending.isListed = true;
  }
}
