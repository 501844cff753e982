/** The secrets of the step. The runner masks its log; outputs and summaries it does not. */
export class Secrets {
  readonly #mask: (secret: string) => void;
  readonly #known: string[] = [];

  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  /** From now on nothing prints it. */
  add(secret: string): void {
    if (secret === '') return;
    this.#mask(secret);
    this.#known.push(secret);
    const written = JSON.stringify(secret).slice(1, -1);
    if (written !== secret) this.#known.push(written);
  }

  redact(text: string): string {
    return this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }
}
