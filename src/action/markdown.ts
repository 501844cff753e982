import { escapeHtml } from '../text/encodings.js';

/** GitHub parses no Markdown in an HTML block without empty lines, and creates no links or mentions inside `<code>`. */
export function codeHtml(text: string): string {
  return text === '' ? '' : `<code>${escapeHtml(text)}</code>`;
}

/** Plain words stay text. Quoted text becomes code, and so does each word that GitHub could turn into a link. */
export function textHtml(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) =>
      line
        .replace(/“([^”]*)”|`([^`]*)`|\S[^\s“`]*/g, (word, value?: string, name = value) =>
          name === undefined ? wordHtml(word) : codeHtml(name) || '“”',
        )
        .replaceAll('</code> <code>', ' '),
    )
    .join('<br>');
}

const plainWord = /^(?:[A-Za-z]+(?:[-'][a-z]+)*|\d{1,5}(?:\.\d)?(?:ms|[dhms])?|\d{1,3}(?:,\d{3})+|-)$/;

function wordHtml(word: string): string {
  const [, before = '', core = '', after = ''] = /^(\(?)(.*?)([.,:;?)]*)$/.exec(word) ?? [];
  return `${before}${plainWord.test(core) ? core : codeHtml(core)}${after}`;
}

/** Headings and cells must be HTML, because they are not escaped. */
function tableHtml(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row(headings, 'th'), ...rows.map((cells) => row(cells, 'td'))].join('\n')}\n</table>\n`;
}

export const maxRows = 50;

export function truncatedTable<T>(
  headings: readonly string[],
  all: readonly T[],
  cells: (one: T) => readonly string[],
): string {
  if (all.length === 0) return '';
  const rest = all.length - maxRows;
  return tableHtml(headings, all.slice(0, maxRows).map(cells)) + (rest > 0 ? `<p>And ${rest} more.</p>\n` : '');
}
