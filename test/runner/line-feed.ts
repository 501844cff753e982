import type { Line } from './child.js';

export type LinePattern = string | RegExp | ((line: Line) => boolean);

interface Waiter {
  readonly pattern: LinePattern;
  readonly resolve: (line: Line) => void;
  readonly fail: () => void;
}

/** The lines of a process, for tests that act when one comes. */
export class LineFeed {
  readonly lines: Line[] = [];
  readonly #waiters = new Set<Waiter>();
  #ended = false;

  push(line: Line): void {
    this.lines.push(line);
    for (const waiter of this.#waiters) {
      if (!fits(line, waiter.pattern)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
    }
  }

  end(): void {
    this.#ended = true;
    for (const { fail } of this.#waiters) fail();
  }

  /** The first line that fits, past or to come. Rejects when the process ends without one. */
  find(pattern: LinePattern): Promise<Line> {
    const past = this.lines.find((line) => fits(line, pattern));
    if (past) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const fail = () => {
        const lines = this.lines.map((line) => line.text).join('\n');
        reject(new Error(`the process ended without a line that fits ${pattern}; it printed:\n${lines}`));
      };
      if (this.#ended) fail();
      else this.#waiters.add({ pattern, resolve, fail });
    });
  }
}

function fits(line: Line, pattern: LinePattern): boolean {
  if (typeof pattern === 'function') return pattern(line);
  return typeof pattern === 'string' ? line.text.includes(pattern) : line.text.search(pattern) >= 0;
}
