import type { Buffer } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';

/** Cuts a stream of UTF-8 into lines as the runner's reader does: a lone carriage return ends one, a first BOM is dropped. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onLine: (line: string) => void;
  #rest = '';
  #afterReturn = false;
  #isAtStart = true;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Gives back the text of the chunk, without a character that is not complete yet. */
  write(chunk: Buffer): string {
    const text = this.#decoder.write(chunk);
    this.#take(text);
    return text;
  }

  end(): string {
    const text = this.#decoder.end();
    this.#take(text);
    if (this.#rest !== '') this.#onLine(this.#rest);
    this.#rest = '';
    return text;
  }

  #take(text: string): void {
    if (text === '') return;
    const isSecondHalf = this.#afterReturn && text.startsWith('\n');
    const fresh = isSecondHalf || (this.#isAtStart && text.startsWith('\uFEFF')) ? text.slice(1) : text;
    this.#isAtStart = false;
    this.#afterReturn = text.endsWith('\r');
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
  }
}
