import ansiRegex from 'ansi-regex';

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu;

/** Replaces each invisible character with a space. All other characters keep their position. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ');
}

/**
 * Text of the service for people: one line, no terminal escapes, no invisible characters, at most `max` characters. A
 * space replaces what is removed. Otherwise a secret with an invisible character inside would become whole again.
 */
export function plain(text: string, most = 300): string {
  if (text.length <= most && /^[!-~]*$/.test(text)) return text;
  // The input is cut first, because a body can have megabytes.
  const line = text
    .slice(0, most * 8)
    .replace(ansiRegex(), ' ')
    .replace(invisible, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
