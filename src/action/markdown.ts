import { escapeHtml } from '../text/escape-html.js';

/**
 * Text in HTML. Blocks of HTML without an empty line are no Markdown; and in `<code>` nothing becomes a link or a mention, so
 * that text of the service stays text.
 */
export function code(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

/** `cells` are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row(headings, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>\n`;
}
