/** A token bucket: so many requests a second, and so many at once after a pause. The others get a 429. */
export interface Limit {
  readonly perSecond: number;
  readonly bucket: number;
  /** Seconds in the `Retry-After` of a 429. Default: the header is absent. */
  readonly retryAfter?: number | undefined;
}

export class Limiter {
  readonly #limit: Limit;
  #tokens: number;
  #countedAt: number;

  constructor(limit: Limit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.bucket;
    this.#countedAt = now;
  }

  /** A request that is not admitted takes no token. */
  admits(now: number): boolean {
    const { perSecond, bucket } = this.#limit;
    this.#tokens = Math.min(bucket, this.#tokens + ((now - this.#countedAt) / 1000) * perSecond);
    this.#countedAt = now;
    // Without a tolerance, sums of tenths would refuse a client that keeps exactly to the rate.
    if (this.#tokens < 1 - 1e-6) return false;
    this.#tokens--;
    return true;
  }

  get headers(): Readonly<Record<string, string>> {
    const { retryAfter } = this.#limit;
    return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  }
}
