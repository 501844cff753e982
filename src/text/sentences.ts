import { closestMatch } from 'leven';

/** Adds a full stop, unless the text ends with `.`, `?`, `!`, or with a `^` that points into a quoted line. */
export function sentence(text: string): string {
  return /[.?!^]$/.test(text) ? text : `${text}.`;
}

/** Joins the texts as sentences. Skips `false` and empty texts. */
export function sentences(...texts: (string | false)[]): string {
  return texts.flatMap((text) => (text ? [sentence(text)] : [])).join(' ');
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Appends the last error before a deadline to `what`. `cause` is undefined if nothing failed before the deadline. */
export function withLastError(what: string, cause: unknown): string {
  return cause instanceof Error ? `${what}. Last error: ${cause.message}` : what;
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const messageBounds = { max: 5, separator: '; ' };

/** Names the first items and counts the rest, because a list from the service or the user can have any length. */
export function joinFirst(items: readonly string[], { max = 20, separator = ', ' } = {}): string {
  const shown = items.slice(0, max).join(separator);
  return items.length > max ? `${shown}${separator}and ${items.length - max} more` : shown;
}

/** Returns the word that the user probably meant, or undefined if no word is similar enough. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const typed = word.toLowerCase().slice(0, 100);
  const begun = words.find((candidate) => typed.length > 1 && candidate.startsWith(typed));
  const maxDistance = Math.min(typed.length - 1, Math.max(2, Math.floor(typed.length / 3)));
  return begun ?? closestMatch(typed, [...words], { maxDistance });
}

/** Returns ` (did you mean x?)`, or an empty string if no word is similar or `words` has only one word. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = words.length > 1 ? nearest(word, words) : undefined;
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}
