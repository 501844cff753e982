const quick = 500;
/** Who is refused once hears of the end within this all the same. */
const lone = 9_999;
/** A third of it: the look that was refused comes one interval late, and the next one two intervals after that. */
const slow = lone / 3;
/** Who is refused again is not alone: about twice the interval at which 500 waiters share 40 looks a second. */
const crowd = 24_000;
const longest = 60_000;
const jitter = 0.015;
/** The n-th look in a row that succeeds eases by a 200th of n: it holds while the crowd is there, and hurries when it has gone. */
const easing = 200;

/**
 * How long to wait until the next look, from nothing but the answers of this waiter. A refused one draws its pause at random
 * between twice the last one and what it can bear: so a crowd that was refused at once does not come back at once.
 */
export class Pace {
  readonly #random: () => number;
  readonly #fixed: number | undefined;
  #last = 0;
  /** The interval that refusals ask for; 0: none. */
  #asked = 0;
  #acceptedSince = 0;
  #refusedBefore = false;

  constructor(random: () => number, interval: number | 'auto') {
    this.#random = random;
    this.#fixed = interval === 'auto' ? undefined : interval;
  }

  /** Whether responses that throttle have slowed it down. */
  get isSlowed(): boolean {
    return this.#asked > 0;
  }

  /** `waited`: since the first poll. All in milliseconds. */
  next(waited: number): number {
    const usual = this.#fixed ?? Math.min(slow, Math.max(quick, waited / 4));
    if (this.#acceptedSince > 0 && this.#asked <= usual) {
      this.#asked = 0;
      this.#acceptedSince = 0;
      this.#refusedBefore = false;
    }
    // What a refusal drew is random already, and is not to be shortened: it is the least that was asked for.
    const drawn = this.#asked > 0 && this.#acceptedSince === 0;
    const interval = Math.max(usual, this.#asked) * (drawn ? 1 : 1 - jitter * this.#random());
    this.#last = Math.max(this.#fixed ?? 0, interval);
    return this.#last;
  }

  refused(retryAfter = 0): void {
    const before = this.#last || (this.#fixed ?? quick);
    const least = Math.max(Math.min(longest, 2 * before), retryAfter);
    // All who were told the same Retry-After would return together.
    const most = Math.max(this.#refusedBefore ? crowd : lone - before, 1.25 * retryAfter);
    const drawn = least + Math.max(0, most - least) * this.#random();
    this.#asked = retryAfter < longest ? Math.min(longest, drawn) : drawn;
    this.#refusedBefore = true;
    this.#acceptedSince = 0;
  }

  accepted(): void {
    if (this.#asked === 0) return;
    this.#acceptedSince += 1;
    this.#asked = Math.min(this.#asked, crowd) * (1 - this.#acceptedSince / easing);
  }
}
