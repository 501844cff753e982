import ansiRegex from 'ansi-regex';

/** Makes text from the service safe to print: one line, at most `max` characters, without terminal escapes. */
export function sanitizeLine(text: string, max = 300): string {
  if (text.length <= max && /^[!-~]*$/.test(text)) return text;
  // A body can be megabytes long, so only its start is processed.
  const start = text.slice(0, max * 8).replace(ansiRegex(), ' ');
  // If invisible characters were removed, a secret that they split would become whole again.
  const line = start
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Makes an id from the service safe to print. The limit of 80 characters is far above any documented id. */
export function sanitizeId(id: string): string {
  return sanitizeLine(id, 80);
}
