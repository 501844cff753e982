/** Tells all who listen, once, that it is over. Lighter than an AbortController: a long wait needs thousands of listeners. */
export class Stop {
  readonly #calls = new Set<() => void>();
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    this.#stopped = true;
    for (const call of this.#calls) call();
    this.#calls.clear();
  }

  /** The answer calls it off. */
  on(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }
}
