import { escapeHtml } from '../../text/escape-html.js';

/**
 * Renders text of the service so that it can never act as Markdown or HTML. An HTML block without an empty line is not
 * parsed as Markdown, and GitHub makes no links or mentions inside `<code>`.
 */
export function code(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

/** Headings and cells are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row(headings, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>\n`;
}

const mostRows = 50;
/** The table and the text around it stay under 64 KiB, which is much for a reader. A test holds that. */
const mostBytes = 44 * 1024;

/** A table of the first rows, and a line on the rest. */
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
