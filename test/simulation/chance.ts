import { type Random, seededRandom } from '../../control-plane/random.js';

/** Everything random in one run, from its seed. */
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

  from(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  pick<const T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  sometimes<T>(chance: number, make: () => T): T[] {
    return this.odds(chance) ? [make()] : [];
  }

  /** Small numbers are more frequent than large ones. */
  upTo(max: number): number {
    return Math.floor(max * this.random() ** 3);
  }

  times<T>(number: number, make: (index: number) => T): T[] {
    return Array.from({ length: number }, (_, index) => make(index));
  }
}
