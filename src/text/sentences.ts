/** Skips `false` and empty texts. */
export function sentences(...texts: (string | false)[]): string {
  return texts.flatMap((text) => (text ? [/[.?!]$/.test(text) ? text : `${text}.`] : [])).join(' ');
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
