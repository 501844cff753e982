/** The runner executes a line that begins with `::` or contains `##[` as a command. */
export function harmless(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** The same for JSON. There `##[` occurs only inside strings, so an escape keeps the parsed value the same. */
export function harmlessJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
