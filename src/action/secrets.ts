import { minSecretLength, secretEncodings } from '../text/encodings.js';

/** The secrets of the step. The runner masks them in the log, but not in outputs and summaries. */
export class Secrets {
  readonly #mask: (secret: string) => void;
  readonly #known: string[] = [];

  constructor(mask: (secret: string) => void) {
    this.#mask = mask;
  }

  /** From now on the log masks the secret, and `redact` removes it. */
  add(secret: string): void {
    if (secret === '') return;
    this.#mask(secret);
    this.#known.push(...secretEncodings(secret));
  }

  /** Later steps get this secret and may print it encoded. The runner derives no masks for hex and base64url. */
  addForLaterSteps(secret: string): void {
    this.add(secret);
    for (const encoding of ['hex', 'base64url'] as const) this.#mask(Buffer.from(secret).toString(encoding));
  }

  /** Whether a secret occurs in the text. Short secrets are skipped. */
  appearIn(text: string): boolean {
    return this.#known.some((secret) => secret.length >= minSecretLength && text.includes(secret));
  }

  redact(text: string): string {
    return this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }
}
