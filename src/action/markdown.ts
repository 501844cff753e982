const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** GitHub creates no links or mentions inside `<code>`. In an HTML block without empty lines, it parses no Markdown. */
export function codeHtml(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

export function paragraph(text: string): string {
  const lines = text.split(/[\r\n]+/).map(codeHtml);
  return `<p>${lines.join('<br>')}</p>\n`;
}

export const maxRows = 50;

/** Headings and cells must be HTML, because they are not escaped. */
export function truncatedTable<T>(headings: readonly string[], all: readonly T[], cells: (one: T) => string[]): string {
  if (all.length === 0) return '';
  const row = (texts: readonly string[], tag: string) =>
    `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>\n`;
  const rows = all.slice(0, maxRows).map((one) => row(cells(one), 'td'));
  const rest = all.length - maxRows;
  return `<table>\n${row(headings, 'th')}${rows.join('')}</table>\n${rest > 0 ? `<p>And ${rest} more.</p>\n` : ''}`;
}
