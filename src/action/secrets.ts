import { formsOfSecret } from '../text/forms-of-secret.js';

const shortestKept = 8;

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
    this.#known.push(...formsOfSecret(secret));
  }

  /** One that later steps get, and may show in a form that the runner does not derive from what it masks. */
  addForOthers(secret: string): void {
    this.add(secret);
    for (const form of [Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64url')])
      this.#mask(form);
  }

  /** Whether the text holds one; one so short that common words hold it is no secret that could be kept. */
  standIn(text: string): boolean {
    return this.#known.some((secret) => secret.length >= shortestKept && text.includes(secret));
  }

  redact(text: string): string {
    return this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }
}
