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

interface Bounds {
  readonly max: number;
  readonly separator: string;
}

export const messageBounds: Bounds = { max: 5, separator: '; ' };

/** Names the first items and counts the rest. The length of such a list is up to the service or the user. */
export function joinFirst(items: readonly string[], { max = 20, separator = ', ' }: Partial<Bounds> = {}): string {
  const shown = items.slice(0, max).join(separator);
  return items.length > max ? `${shown}${separator}and ${items.length - max} more` : shown;
}
