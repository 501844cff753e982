import { closestMatch } from 'leven';

/** Adds a full stop. Some texts already end with a question mark, or with `^` below a line that they quote. */
export function sentence(text: string): string {
  return /[.?!^]$/.test(text) ? text : `${text}.`;
}

/** Joins the texts as sentences, and skips empty ones. */
export function sentences(...texts: (string | false)[]): string {
  return texts.flatMap((text) => (text ? [sentence(text)] : [])).join(' ');
}

/** For example `1 key`, `2 keys`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `cause` of a `DeadlineExceeded`: undefined if nothing failed before the deadline. */
export function withLastError(what: string, cause: unknown): string {
  return cause instanceof Error ? `${what}. Last error: ${cause.message}` : what;
}

/** The message of whatever was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const messageBounds = { max: 5, separator: '; ' };

/** Names the first items and counts the rest. The length of such a list is up to the service or the user. */
export function joinFirst(items: readonly string[], { max = 20, separator = ', ' } = {}): string {
  const shown = items.slice(0, max).join(separator);
  return items.length > max ? `${shown}${separator}and ${items.length - max} more` : shown;
}

/** The word that the user probably meant, if one is similar enough. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const typed = word.toLowerCase().slice(0, 100);
  const begun = words.find((candidate) => typed.length > 1 && candidate.startsWith(typed));
  return (
    begun ??
    closestMatch(typed, [...words], {
      maxDistance: Math.min(typed.length - 1, Math.max(2, Math.floor(typed.length / 3))),
    })
  );
}

/** Suggests that word in a message; empty if none is similar, or if the message names no other word. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = words.length > 1 ? nearest(word, words) : undefined;
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}
