import { characters, type Random } from './random.js';

export interface ApiKey {
  /** Digits, not a number: ids may be beyond 2^53. */
  readonly id: string;
  readonly name: string;
  /** The secret. */
  readonly key: string;
  readonly createdAt: number;
  revokedAt: number | undefined;
  lastUsedAt: number | undefined;
  lastUsedFrom: string | undefined;
}

export class KeyRing {
  readonly #random: Random;
  readonly #byId = new Map<string, ApiKey>();
  readonly #bySecret = new Map<string, ApiKey>();
  #nextId: bigint;

  constructor(random: Random, firstId: bigint) {
    this.#random = random;
    this.#nextId = firstId;
  }

  create(name: string, now: number, secret: string = this.#newSecret()): ApiKey {
    return this.#add(String(this.#nextId++), name, now, secret);
  }

  /** A key with the id of a revoked one, as from a service that reuses ids. */
  reuse(id: string, name: string, now: number): ApiKey {
    return this.#add(id, name, now, this.#newSecret());
  }

  #add(id: string, name: string, now: number, secret: string): ApiKey {
    const key = {
      id,
      name,
      key: secret,
      createdAt: now,
      revokedAt: undefined,
      lastUsedAt: undefined,
      lastUsedFrom: undefined,
    };
    this.#byId.set(id, key);
    this.#bySecret.set(secret, key);
    return key;
  }

  find(id: string): ApiKey | undefined {
    return this.#byId.get(id);
  }

  /** Revoked ones too. */
  ofSecret(secret: string): ApiKey | undefined {
    return this.#bySecret.get(secret);
  }

  alive(): ApiKey[] {
    return [...this.#byId.values()].filter((key) => key.revokedAt === undefined);
  }

  #newSecret(): string {
    return characters(this.#random, 'abcdefghijklmnopqrstuvwxyz0123456789', 64);
  }
}
