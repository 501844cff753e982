/** Lets so many pass at once; the others wait in line. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** What comes back lets the next one pass; a second call does nothing. */
  async enter(): Promise<() => void> {
    if (this.#free === 0) await new Promise<void>((pass) => this.#waiting.push(pass));
    else this.#free--;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
