import ansiRegex from 'ansi-regex';

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu;

/** What cannot be seen is a blank, and all else keeps its place. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, ' ');
}

/**
 * Text of the service for people to read: one line, nothing that steers a terminal or hides, at most `most` characters.
 * What is removed leaves a blank, so that a secret with something invisible inside is not put together again.
 */
export function plain(text: string, most = 300): string {
  if (text.length <= most && /^[!-~]*$/.test(text)) return text;
  // What is read is bounded too: a body of megabytes is no message.
  const line = text
    .slice(0, most * 8)
    .replace(ansiRegex(), ' ')
    .replace(invisible, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
