/** Some texts end with a question, or with a mark below a line. */
export function sentence(text: string): string {
  return /[.?!^]$/.test(text) ? text : `${text}.`;
}

/** Those that there are, one after the other. */
export function sentences(...texts: (string | false)[]): string {
  return texts.flatMap((text) => (text ? [sentence(text)] : [])).join(' ');
}
