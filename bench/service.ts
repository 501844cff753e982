import type { Exchange, HttpResponse } from '../src/http/exchange.js';
import type { VirtualClock } from '../test/virtual/clock.js';

/** A token bucket: `rate` requests per second, and `burst` requests at once. */
export interface Bucket {
  readonly rate: number;
  readonly burst: number;
}

/** The part of the service that a wait needs, in memory. So the figures measure only the waiter. */
export class Service {
  readonly exchange: Exchange;
  requests = 0;
  refused = 0;
  /** The end of each operation, in milliseconds of the clock. */
  readonly #ends: ReadonlyMap<string, number>;
  readonly #clock: VirtualClock;
  readonly #bucket: Bucket | undefined;
  #tokens: number;
  #filledAt = 0;
  /** The number of the request that gets one extra 429. The first one is 1. */
  refuseNth: number | undefined;

  constructor(clock: VirtualClock, ends: ReadonlyMap<string, number>, bucket?: Bucket) {
    this.#clock = clock;
    this.#ends = ends;
    this.#bucket = bucket;
    this.#tokens = bucket?.burst ?? 0;
    this.exchange = async ({ url }) => this.#answer(url);
  }

  #answer(url: URL): HttpResponse {
    this.requests++;
    if (this.requests === this.refuseNth || !this.#admits()) {
      this.refused++;
      return { status: 429, headers: {}, body: '{"message":"too many requests"}' };
    }
    const last = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
    if (last !== 'operations') return { status: 200, headers: {}, body: `{"operation":${this.#record(last)}}` };
    const records = [...this.#ends.keys()].map((id) => this.#record(id));
    return { status: 200, headers: {}, body: `{"operations":[${records}],"pagination":{}}` };
  }

  #record(id: string): string {
    const ended = this.#clock.now() >= (this.#ends.get(id) ?? Number.POSITIVE_INFINITY);
    const status = ended ? 'finished' : 'running';
    return `{"id":"${id}","status":"${status}","action":"create_branch","created_at":"2024-01-01T00:00:00Z"}`;
  }

  #admits(): boolean {
    if (this.#bucket === undefined) return true;
    const now = this.#clock.now();
    this.#tokens = Math.min(this.#bucket.burst, this.#tokens + ((now - this.#filledAt) / 1_000) * this.#bucket.rate);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
