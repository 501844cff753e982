import type { Buffer } from 'node:buffer';

/** Cuts a stream of UTF-8 into lines as the runner's reader does: a lone carriage return ends one, a first BOM is dropped. */
export class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Gives back the text of the chunk, without a character that is not complete yet. */
  write(chunk: Buffer): string {
    return this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): string {
    const text = this.#take(this.#decoder.decode());
    if (this.#rest !== '') this.#onLine(this.#rest.replace(/\r$/, ''));
    return text;
  }

  #take(text: string): string {
    // A carriage return at the end may be half of a line break.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
    return text;
  }
}
