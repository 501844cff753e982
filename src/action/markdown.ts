import { escapeHtml } from '../text/encodings.js';

/** GitHub creates no links or mentions inside `<code>`. In an HTML block without empty lines, it parses no Markdown. */
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
