import type { Line } from './child.js';

export type LinePattern = string | RegExp | ((line: Line) => boolean);

/** The lines so far and those to come, for tests that act when the process says something. */
export class LineFeed {
  readonly lines: Line[] = [];
  readonly #listeners = new Set<(line: Line) => void>();
  readonly #atEnd = new Set<() => void>();
  #ended = false;

  push(line: Line): void {
    this.lines.push(line);
    for (const listener of [...this.#listeners]) listener(line);
  }

  end(): void {
    this.#ended = true;
    for (const act of this.#atEnd) act();
  }

  subscribe(listener: (line: Line) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  find(pattern: LinePattern): Promise<Line> {
    const seen = this.lines.find((line) => fits(line, pattern));
    if (seen) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        const said = this.lines.map((line) => line.text).join('\n');
        reject(new Error(`the process ended without a line that fits ${pattern}; it said:\n${said}`));
      };
      if (this.#ended) {
        giveUp();
        return;
      }
      this.#atEnd.add(giveUp);
      const stop = this.subscribe((line) => {
        if (!fits(line, pattern)) return;
        stop();
        this.#atEnd.delete(giveUp);
        resolve(line);
      });
    });
  }
}

function fits(line: Line, pattern: LinePattern): boolean {
  if (typeof pattern === 'function') return pattern(line);
  return typeof pattern === 'string' ? line.text.includes(pattern) : line.text.search(pattern) >= 0;
}
