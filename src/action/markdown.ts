const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text in HTML. Blocks of HTML without an empty line are no Markdown; and in `<code>` nothing becomes a link or a mention, so
 * that text of the service stays text.
 */
export function code(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** `cells` are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row(headings, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>\n`;
}
