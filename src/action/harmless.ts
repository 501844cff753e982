/** The runner takes a line that begins with `::`, or holds `##[`, for a command. */
export function harmless(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}

/** The same for JSON, where only a text can hold `##[`; its parsed value stays as it is. */
export function harmlessJson(json: string): string {
  return json.replaceAll('##[', '#\\u0023[');
}
