import { type Random, seededRandom } from '../control-plane/random.js';

/** All that is left to chance in one run, from its seed alone. */
export class Chance {
  readonly random: Random;

  constructor(seed: number) {
    // Seeds that follow each other must not begin alike.
    const mixed = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b) ^ 0x2545f491;
    this.random = seededRandom(Math.imul(mixed ^ (mixed >>> 13), 0x45d9f3b));
  }

  odds(chance: number): boolean {
    return this.random() < chance;
  }

  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  from(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  /** Small numbers often, large ones sometimes: what happens early and what happens late are both of interest. */
  upTo(most: number): number {
    return Math.floor(most * this.random() ** 3);
  }

  times<T>(number: number, make: (index: number) => T): T[] {
    return Array.from({ length: number }, (_, index) => make(index));
  }

  /** A chance of its own, so that what is drawn here later does not change what is drawn there. */
  apart(): Chance {
    return new Chance(this.below(2 ** 31));
  }
}
