/** In milliseconds. A list of the service is at most this late. */
export const maxListLag = 5_000;

/**
 * Whether a project is idle: two reads of its list say so. When the first ends, all that counts was seen to end. The second
 * begins when every list shows what the first could lack. If anything speaks against it meanwhile, both begin anew. Times
 * are on the step's clock.
 */
export class Quiet {
  static readonly none = new Quiet();

  /** `since`: the end of the first of the two reads. */
  private constructor(
    private readonly since?: number,
    readonly isProved = false,
  ) {}

  /** No second read begins before this. */
  get restsUntil(): number {
    return this.since === undefined ? 0 : this.since + maxListLag;
  }

  /** `allEnded`: when this whole read ended, all that counts had been seen to end. */
  afterRead({ beganAt, endedAt, allEnded }: { beganAt: number; endedAt: number; allEnded: boolean }): Quiet {
    if (this.since === undefined) return allEnded ? new Quiet(endedAt) : this;
    return beganAt >= this.restsUntil ? new Quiet(this.since, true) : this;
  }

  /** An answer has shown an operation that counts: it is unfinished, or no answer has shown it before. */
  disturbed(): Quiet {
    return this.isProved ? this : Quiet.none;
  }
}
