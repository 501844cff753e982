/** The runner takes a line that begins with `::`, or holds `##[`, for a command. */
export function harmless(text: string): string {
  return text.replaceAll('##[', '# #[').replace(/^([\s\u0085]*):(?=:)/gm, '$1: ');
}
