import type { VirtualClock } from '../virtual/clock.js';

/** A limiter in front of the service. `retryAfter`: seconds, or none. */
export interface Limiter {
  readonly perSecond: number;
  readonly bucket: number;
  readonly retryAfter: number | undefined;
}

export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(
    private readonly limiter: Limiter,
    private readonly clock: Pick<VirtualClock, 'now'>,
  ) {
    this.#tokens = limiter.bucket;
    this.#at = clock.now();
  }

  /** Takes a token, or returns the headers of the 429. */
  take(): Readonly<Record<string, string>> | undefined {
    const { perSecond, bucket, retryAfter } = this.limiter;
    const now = this.clock.now();
    this.#tokens = Math.min(bucket, this.#tokens + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    this.#tokens--;
    return undefined;
  }
}
