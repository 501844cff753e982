import { escapeHtml } from '../text/encodings.js';

/**
 * Renders text of the service so that it can never act as Markdown or HTML. An HTML block without an empty line is not
 * parsed as Markdown, and GitHub makes no links or mentions inside `<code>`.
 */
export function codeHtml(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

/** Headings and cells are HTML. */
export function tableHtml(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row(headings, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>\n`;
}

const maxRows = 50;
/** The table and the text around it stay under 64 KiB, which is much for a reader. A test holds that. */
const maxBytes = 44 * 1024;

/** A table of the first rows, and a line that says what was left out. */
export function truncatedTable<T>(
  headings: readonly string[],
  all: readonly T[],
  cells: (one: T) => readonly string[],
  describeRest: (rest: readonly T[]) => string = (rest) => `And ${rest.length} more.`,
): string {
  if (all.length === 0) return '';
  const rows: (readonly string[])[] = [];
  let bytes = 0;
  for (const one of all.slice(0, maxRows)) {
    const row = cells(one);
    bytes += Buffer.byteLength(tableHtml([], [row]));
    if (bytes > maxBytes) break;
    rows.push(row);
  }
  const rest = all.slice(rows.length);
  return tableHtml(headings, rows) + (rest.length > 0 ? `<p>${describeRest(rest)}</p>\n` : '');
}
