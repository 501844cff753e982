/** The runner takes a line that begins with `::`, or holds `##[`, for a command. */
export function harmless(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/^(\s*):(?=:)/gm, '$1: ');
}
