/**
 * Calls each listener once, on cancellation. A long wait adds thousands of listeners. With an AbortController in its place,
 * a simulated wait took twice the time (`npm run bench`).
 */
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

  /** The returned function removes the listener. */
  on(call: () => void): () => void {
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }
}
