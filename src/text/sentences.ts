/** Adds a full stop. Some texts already end with a question mark, or with `^` below a line that they quote. */
export function sentence(text: string): string {
  return /[.?!^]$/.test(text) ? text : `${text}.`;
}

/** Joins the texts as sentences, and skips empty ones. */
export function sentences(...texts: (string | false)[]): string {
  return texts.flatMap((text) => (text ? [sentence(text)] : [])).join(' ');
}
