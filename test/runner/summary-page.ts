import { escapeXml } from './masker.js';

/**
 * A job summary as a page that a browser opens without a network. It knows the Markdown that the action writes:
 * headings, paragraphs, bullet lists, blocks of HTML, fences. A Mermaid picture shows as its source.
 */
export function summaryPage(markdown: string, title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeXml(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2328; }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em; }
table { border-collapse: collapse; }
th, td { border: 1px solid #d1d9e0; padding: .35em .8em; text-align: left; }
tr:nth-child(even) { background: #f6f8fa; }
code, pre { font: .875em ui-monospace, monospace; background: #f6f8fa; border-radius: 6px; }
code { padding: .15em .35em; }
pre { padding: 1em; overflow: auto; }
pre code { padding: 0; font-size: 1em; }
</style>
</head>
<body>
${renderMarkdown(markdown)}
</body>
</html>
`;
}

export function renderMarkdown(markdown: string): string {
  const lines = markdown.split(/\r?\n/);
  const html: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const taken = block(lines, i);
    if (taken.html !== '') html.push(taken.html);
    i = taken.next;
  }
  return html.join('\n');
}

interface Block {
  readonly html: string;
  readonly next: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const BULLET = /^ {0,3}[-*+]\s+(.*)$/;
// The tags that open a block in CommonMark, as far as a summary has use for them. It lasts to the next empty line.
const HTML =
  /^ {0,3}<(?:!--|\/?(?:table|thead|tbody|tr|td|th|details|summary|p|div|ul|ol|li|h[1-6]|hr|pre|blockquote)\b)/i;
const BLANK = /^\s*$/;

function block(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? '';
  if (BLANK.test(line)) return { html: '', next: at + 1 };
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence[1] ?? '', fence[2] ?? '');
  const heading = HEADING.exec(line);
  if (heading) {
    const level = heading[1]?.length ?? 1;
    return { html: `<h${level}>${inline(heading[2] ?? '')}</h${level}>`, next: at + 1 };
  }
  if (HTML.test(line)) {
    const next = run(lines, at, (text) => !BLANK.test(text));
    return { html: lines.slice(at, next).join('\n'), next };
  }
  if (BULLET.test(line)) return list(lines, at);
  const next = run(lines, at + 1, (text) => !BLANK.test(text) && !interrupts(text));
  const text = lines.slice(at, next).map((part) => part.trimStart());
  return { html: `<p>${inline(text.join('\n'))}</p>`, next };
}

function fenced(lines: readonly string[], at: number, marks: string, language: string): Block {
  const end = run(lines, at + 1, (text) => !(text.trim().startsWith(marks) && /^(`+|~+)$/.test(text.trim())));
  const code = escapeXml(lines.slice(at + 1, end).join('\n'));
  const name = language === '' ? '' : ` class="${escapeXml(language)}"`;
  return { html: `<pre${name}>${code}</pre>`, next: end + 1 };
}

/** One level; a line that is indented goes on with its item. */
function list(lines: readonly string[], at: number): Block {
  const next = run(lines, at, (text) => BULLET.test(text) || /^\s{2,}\S/.test(text));
  const items: string[] = [];
  for (const line of lines.slice(at, next)) {
    const bullet = BULLET.exec(line);
    if (bullet) items.push(bullet[1] ?? '');
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`);
  }
  return { html: `<ul>\n${items.map((item) => `<li>${inline(item)}</li>`).join('\n')}\n</ul>`, next };
}

function interrupts(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || HTML.test(line) || BULLET.test(line);
}

function run(lines: readonly string[], from: number, goesOn: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && goesOn(lines[at] ?? '')) at++;
  return at;
}

const INLINE = new RegExp(
  [
    '\\\\(?<escaped>[!-/:-@[-`{-~])',
    '(?<ticks>`+)(?<code>.+?)(?<!`)\\k<ticks>(?!`)',
    '(?<raw><!--.*?-->|</?[a-zA-Z][^<>]*>|&(?:#\\d+|#[xX][0-9a-fA-F]+|[a-zA-Z]\\w*);)',
    '\\[(?<label>[^\\]]*)\\]\\((?<target>[^()\\s]+)\\)',
    '\\*\\*(?<strong>\\S(?:.*?\\S)?)\\*\\*',
    '\\*(?<em>[^\\s*](?:[^*]*[^\\s*])?)\\*',
    '(?<special>[&<>"])',
  ].join('|'),
  'gs',
);

function inline(text: string): string {
  return text.replaceAll(INLINE, (...args) => {
    const found: Record<string, string | undefined> = args.at(-1);
    if (found['escaped'] !== undefined) return escapeXml(found['escaped']);
    if (found['code'] !== undefined) return `<code>${escapeXml(trimCode(found['code']))}</code>`;
    if (found['raw'] !== undefined) return found['raw'];
    if (found['target'] !== undefined) {
      return `<a href="${escapeXml(found['target'])}">${inline(found['label'] ?? '')}</a>`;
    }
    if (found['strong'] !== undefined) return `<strong>${inline(found['strong'])}</strong>`;
    if (found['em'] !== undefined) return `<em>${inline(found['em'])}</em>`;
    return escapeXml(found['special'] ?? '');
  });
}

/** One space on each side lets code begin or end with a backtick. */
function trimCode(code: string): string {
  return /^ .*\S.* $/s.test(code) ? code.slice(1, -1) : code;
}
