import { minSecretLength, secretEncodings } from '../text/encodings.js';

/** The runner masks secrets in the log, but not in outputs and summaries. */
export class Secrets {
  readonly #known: string[] = [];

  constructor(private readonly mask: (secret: string) => void) {}

  /** After this call, the runner masks the secret in the log, and `redact` replaces the secret in other text. */
  add(secret: string): void {
    if (secret === '') return;
    this.mask(secret);
    this.#known.push(...secretEncodings(secret));
  }

  /** Also masks the hex and base64url forms. A later step may print these forms, and the runner does not derive them. */
  addForLaterSteps(secret: string): void {
    this.add(secret);
    for (const encoding of ['hex', 'base64url'] as const) this.mask(Buffer.from(secret).toString(encoding));
  }

  /** True if the text contains a secret. Short secrets are ignored, because ordinary text contains them too. */
  appearIn(text: string): boolean {
    return this.#known.some((secret) => secret.length >= minSecretLength && text.includes(secret));
  }

  redact(text: string): string {
    return this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  }
}
