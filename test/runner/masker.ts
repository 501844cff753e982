/**
 * Replaces secrets, and their encoded forms that the runner knows, but for pieces of them in messages of PowerShell. Hex and
 * base64url are not among these.
 */
export class Masker {
  readonly #forms = new Set<string>();

  /** Also each line, without the white space around it: a log is masked line by line. */
  add(value: string): void {
    for (const text of [value, ...value.split(/[\r\n]+/).map((line) => line.trim())])
      for (const form of [text, ...derivedForms(text)]) if (form !== '') this.#forms.add(form);
  }

  mask(text: string): string {
    const isSecret = new Uint8Array(text.length);
    for (const form of this.#forms)
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
        isSecret.fill(1, at, at + form.length);
    if (!isSecret.includes(1)) return text;
    let masked = '';
    for (let at = 0; at < text.length; at++) {
      if (!isSecret[at]) masked += text.charAt(at);
      // What overlaps or touches becomes one run of stars.
      else if (!isSecret[at - 1]) masked += '***';
    }
    return masked;
  }
}

function derivedForms(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const json = JSON.stringify(value).slice(1, -1);
  const hexOf = (c: string) => c.charCodeAt(0).toString(16);
  const quoted = value.length > 8 && value.startsWith('"') && value.endsWith('"');
  return [
    // Inside a longer text a value starts at any of base64's three alignments.
    ...[0, 1, 2].map((skipped) => bytes.subarray(bytes.length > skipped ? skipped : 0).toString('base64')),
    value.replaceAll('"', '\\"'),
    value.replaceAll("'", "''"),
    json.replaceAll(/[\u0085\u2028\u2029]/g, (c) => `\\u${hexOf(c).padStart(4, '0')}`),
    encodeURIComponent(bytes.toString('utf8')).replaceAll(/[!'()*]/g, (c) => `%${hexOf(c).toUpperCase()}`),
    escapeXml(value),
    quoted ? value.slice(1, -1) : '',
  ];
}

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

export const escapeXml = (value: string): string => value.replaceAll(/[&<>"']/g, (c) => XML[c] ?? c);
