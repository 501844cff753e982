/** Cuts a stream of UTF-8 into lines as the runner's reader does: a lone carriage return ends one, a first BOM is dropped. */
export class LineSplitter {
  readonly #chunks: Buffer[] = [];
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(private readonly onLine: (line: string) => void) {}

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): string {
    this.#take(this.#decoder.decode());
    if (this.#rest !== '') this.onLine(this.#rest.replace(/\r$/, ''));
    return Buffer.concat(this.#chunks).toString();
  }

  #take(text: string): void {
    // A carriage return at the end may be half of a line break.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.onLine(line);
  }
}
