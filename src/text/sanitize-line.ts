import ansiRegex from 'ansi-regex';

/** Replaces each invisible character with a space. All other characters keep their position. */
export function blankInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ');
}

/**
 * Text of the service for people: one line, no terminal escapes, no invisible characters, at most `max` characters. A
 * space replaces what is removed. Otherwise a secret with an invisible character inside would become whole again.
 */
export function sanitizeLine(text: string, max = 300): string {
  if (text.length <= max && /^[!-~]*$/.test(text)) return text;
  // The input is cut first, because a body can have megabytes.
  const start = text.slice(0, max * 8).replace(ansiRegex(), ' ');
  const line = blankInvisible(start).replace(/\s+/g, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** An id of the service for people. Documented ids are far shorter. */
export function sanitizeId(id: string): string {
  return sanitizeLine(id, 80);
}
