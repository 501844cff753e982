/** A shorter secret is not masked, because that would hide ordinary text: a mask for `o` hides every `o`. */
export const minSecretLength = 8;

/** Makes text from the service safe to print: one line, at most `max` characters, without control characters. */
export function sanitizeLine(text: string, max = 300): string {
  if (text.length <= max && /^[!-~]*$/.test(text)) return text;
  // A body can be megabytes long, so only its start is processed. If invisible characters were removed, a secret that they
  // split would become whole again.
  const start = text.slice(0, max * 8);
  const line = start.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim();
  if (line.length <= max && text.length <= max * 8) return line;
  return line.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '') + cut;
}

/** Ends a text that was shortened. `Secrets` finds the beginning of a secret before it. */
export const cut = '…';

/** The limit is far above any documented id. */
export function sanitizeId(id: string): string {
  return sanitizeLine(id, 80);
}
