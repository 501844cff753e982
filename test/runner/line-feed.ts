import type { Line } from './child.js';

/** The lines of a process, for tests that act when one comes. */
export class LineFeed {
  readonly lines: Line[] = [];
  readonly #waiters = new Set<() => void>();
  #ended = false;

  push(line: Line): void {
    this.lines.push(line);
    for (const look of this.#waiters) look();
  }

  end(): void {
    this.#ended = true;
    for (const look of this.#waiters) look();
  }

  /** The first line that fits, past or to come. Rejects when the process ends without one. */
  find(pattern: string | RegExp): Promise<Line> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.find(({ text }) =>
          typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text),
        );
        if (found) resolve(found);
        else if (this.#ended) {
          const lines = this.lines.map(({ text }) => text).join('\n');
          reject(new Error(`the process ended without a line that fits ${pattern}; it printed:\n${lines}`));
        } else this.#waiters.add(look);
      };
      look();
    });
  }
}
