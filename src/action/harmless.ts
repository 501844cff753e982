/** The runner takes a line that begins with `::`, or holds `##[`, for a command. */
export function harmless(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/(?:^|[\r\n])(?:[^\S\r\n]|\u0085)*:(?=:)/g, '$& ');
}
