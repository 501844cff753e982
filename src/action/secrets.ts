import { cut, minSecretLength, sanitizeLine } from '../text/sanitize-line.js';
import { escapeHtml } from './markdown.js';

/** The runner masks secrets in the log, but not in outputs and summaries. */
export class Secrets {
  /** Each secret in all its forms, the longest first. */
  #known: readonly string[] = [];

  constructor(private readonly mask: (secret: string) => void) {}

  /** After this call, the runner masks the secrets in the log, and `redact` replaces them in other text. Ignores short ones. */
  add(...secrets: readonly string[]): void {
    // Text of the service is printed on one line.
    const written = secrets.flatMap((secret) => [secret, sanitizeLine(secret, Number.POSITIVE_INFINITY)]);
    const masked = [...new Set(written)].filter(({ length }) => length >= minSecretLength);
    for (const secret of masked) this.mask(secret);
    // One secret can be the start of another. If the shorter one were replaced first, the rest of the longer one would stay.
    const forms = new Set([...this.#known, ...masked.flatMap(encodings)]);
    this.#known = [...forms].sort((one, other) => other.length - one.length);
  }

  redact(text: string): string {
    const whole = this.#known.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
    const parts = whole.split(cut);
    return parts.map((part, n) => (n < parts.length - 1 ? this.#withoutBeginning(part) : part)).join(cut);
  }

  /** A text that was shortened may end with the beginning of a secret. */
  #withoutBeginning(text: string): string {
    for (const secret of this.#known)
      for (let length = Math.min(secret.length, text.length); length >= minSecretLength; length--)
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
    return text;
  }
}

/** The secret as text, in JSON, HTML, a URL and base64. Services also log the base64 of `Bearer <secret>`. */
function encodings(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  // A lone surrogate has no form in a URL.
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, escapeHtml(secret), inUrl, base64(secret), base64(`Bearer ${secret}`)];
}
