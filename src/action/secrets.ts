import { minSecretLength, secretEncodings } from '../text/encodings.js';
import { cut, sanitizeLine } from '../text/sanitize-line.js';

/** The runner masks secrets in the log, but not in outputs and summaries. */
export class Secrets {
  readonly #known: string[] = [];

  constructor(private readonly mask: (secret: string) => void) {}

  /** After this call, the runner masks the secret in the log, and `redact` replaces the secret in other text. */
  add(...secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (secret === '') continue;
      // Text of the service is printed on one line.
      const onOneLine = sanitizeLine(secret, Number.POSITIVE_INFINITY);
      const forms = onOneLine.length < minSecretLength ? [secret] : [...new Set([secret, onOneLine])];
      for (const form of forms) {
        this.mask(form);
        this.#known.push(...secretEncodings(form));
      }
    }
    // One secret can be the start of another. If the shorter one were replaced first, the rest of the longer one would stay.
    this.#known.sort((one, other) => other.length - one.length);
  }

  /** Also masks encoded forms of the secret. A later step may print them, and the runner does not mask them by itself. */
  addForLaterSteps(secret: string): void {
    this.add(secret);
    const hex = Buffer.from(secret).toString('hex');
    const inBase64 = [secret, `Bearer ${secret}`].map((text) => Buffer.from(text).toString('base64url'));
    for (const form of [hex, hex.toUpperCase(), ...inBase64]) this.mask(form);
  }

  /** True if the text contains a secret. Short secrets are ignored, because ordinary text contains them too. */
  appearIn(text: string): boolean {
    return this.#known.some((secret) => secret.length >= minSecretLength && text.includes(secret));
  }

  redact(text: string): string {
    const whole = this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
    const parts = whole.split(cut);
    return parts.map((part, n) => (n < parts.length - 1 ? this.#withoutBeginning(part) : part)).join(cut);
  }

  /** A text that was shortened may end with the beginning of a secret. */
  #withoutBeginning(text: string): string {
    for (const secret of this.#known) {
      const beginning = secret.slice(0, minSecretLength);
      let at = text.indexOf(beginning, text.length - secret.length);
      while (at !== -1 && !secret.startsWith(text.slice(at))) at = text.indexOf(beginning, at + 1);
      if (at !== -1) return `${text.slice(0, at)}***`;
    }
    return text;
  }
}
