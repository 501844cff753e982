import { escapeHtml } from '../../text/escape-html.js';

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

const mostRows = 50;
/** With what stands above and below it, less than 64 KiB: a summary is read by people. */
const mostBytes = 44 * 1024;

/** As many rows as a reader can bear, and how many more there are. */
export function tableOfFirst<T>(
  headings: readonly string[],
  all: readonly T[],
  cells: (one: T) => readonly string[],
  sayOf: (rest: readonly T[]) => string = (rest) => `And ${rest.length} more.`,
): string {
  if (all.length === 0) return '';
  const rows: (readonly string[])[] = [];
  let bytes = 0;
  for (const one of all.slice(0, mostRows)) {
    const row = cells(one);
    bytes += Buffer.byteLength(table([], [row]));
    if (bytes > mostBytes) break;
    rows.push(row);
  }
  const rest = all.slice(rows.length);
  return table(headings, rows) + (rest.length > 0 ? `<p>${sayOf(rest)}</p>\n` : '');
}
